/* SPDX-License-Identifier: MIT */
#ifndef BPF_WINDOW_FILE_TEXT_H
#define BPF_WINDOW_FILE_TEXT_H

#include <stddef.h>

#include "window/failure.h"

/* The whole file (`-`: standard input) with a NUL behind it, which the caller
 * frees; NULL with errno, and the text, if it cannot be read or has over 64
 * MiB. */
char *file_text_read(const char *path, size_t *length, struct failure *failure);

#endif
