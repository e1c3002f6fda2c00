/* SPDX-License-Identifier: MIT */
/*
 * source.h - from what a person typed to a window that can be read.
 *
 * A window is named by itself (`inode_cache`), with its object in front where
 * two objects have one of that name (`inode_cache/inode_cache`), by the path of
 * its pin, or by the id of its map (`id:17238`). Names are looked up below the
 * folder of pins first, then among all windows in the kernel. All is opened for
 * reading only; nothing is created.
 */
#ifndef BPF_WINDOW_SOURCE_H
#define BPF_WINDOW_SOURCE_H

#include "history.h"
#include "source_options.h"
#include "window/failure.h"

struct source;

/* Whether a name (or NULL) can be one. Returns CLI_OK, or CLI_USAGE after saying so. */
int source_check_name(const char *name, const char *verb);

/* Finds the window and opens it. Errors: -ENOENT, -EPERM, -ENOTUNIQ if there
 * are several of that name, -EINVAL if it cannot be read, -ESRCH if it lacks
 * a counter of the options, -ENOMEM. */
int source_open(struct source **source, const char *name,
                const struct source_options *options, struct failure *failure);

void source_close(struct source **source);

/* Copies the window as it is now. */
int source_take(struct source *source, struct failure *failure);

/* The history of the last copy, of one CPU or of HISTORY_ALL_CPUS. The caller
 * frees it; NULL if memory is short. */
struct history *source_history(const struct source *source, uint32_t cpu);

/* Whether anything counts in it still. */
enum source_life {
  SOURCE_LIVES,     /* or cannot be told with the privileges at hand */
  SOURCE_REPLACED,  /* another map is pinned in its place */
  SOURCE_ABANDONED, /* no program has it any more */
};
enum source_life source_life(const struct source *source);

/* The id of the map of its buckets. */
uint32_t source_ring_id(const struct source *source);

/* Both at once, for all CPUs. */
int source_read(struct source *source, struct history **history,
                struct failure *failure);

/* Reads a file that `report` or `show --json` wrote; `-` is standard input. From
 * here on local time is that of the machine which wrote it, so that times mean
 * what they meant there. */
int source_read_file(const char *path, const struct source_options *options,
                     struct history **history, struct failure *failure);

#endif
