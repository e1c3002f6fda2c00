/* SPDX-License-Identifier: MIT */
#ifndef BPF_WINDOW_HTML_H
#define BPF_WINDOW_HTML_H

#include <stdio.h>

/* Writes a text so that HTML shows it as it is, also in attributes. */
void html_text(FILE *page, const char *text);

#endif
