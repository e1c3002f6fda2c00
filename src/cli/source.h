/* SPDX-License-Identifier: MIT */
/*
 * source.h - from what a person typed to a window that can be read.
 *
 * A window is named by itself (`inode_cache`), with its object in front where
 * two objects have one of that name (`inode_cache/inode_cache`), or by the path
 * of its pin. All is opened for reading only; nothing is created.
 */
#ifndef BPF_WINDOW_SOURCE_H
#define BPF_WINDOW_SOURCE_H

#include "history.h"
#include "object/pins.h"
#include "window/failure.h"

struct source;

/* Finds the window below pin_dir and opens it. Errors: -ENOENT, -EPERM,
 * -ENOTUNIQ if several objects have a window of that name, and reader_open's.
 */
int source_open(struct source **source, const char *name, const char *pin_dir,
                struct failure *failure);

void source_close(struct source **source);

/* Reads the window as it is now. The caller frees the history. */
int source_read(struct source *source, struct history **history,
                struct failure *failure);

/* Reads a file that `report` or `show --json` wrote; `-` is standard input. */
int source_read_file(const char *path, struct history **history,
                     struct failure *failure);

#endif
