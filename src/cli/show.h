/* SPDX-License-Identifier: MIT */
/*
 * show.h - a span of a history as text for people. 80 columns.
 */
#ifndef BPF_WINDOW_SHOW_H
#define BPF_WINDOW_SHOW_H

#include "history.h"

void show_text(const struct history *history, struct span span);

#endif
