/* SPDX-License-Identifier: MIT */
/*
 * discover.h - every window in this kernel, whoever made it.
 *
 * A window is a per-CPU array of BPF_WINDOW_SLOTS entries whose BTF value is a
 * struct that begins with abs_bucket. Its epoch and cursor are found among the
 * maps that the programs which use it also use, by their names and shapes:
 *
 *   epoch    an array of one entry: `<ring>_epoch`, else one with "epoch" in
 *            its name, else one of 8 or 16 bytes. A full record
 *            describes the window; from a lone time (and width) and the
 *            ring's BTF one is made. Where two fit alike it is a problem.
 *   cursor   a per-CPU array of one entry of the right size: `<ring>_cursor`.
 *            A window of another design has none.
 *
 * All is opened for reading only.
 */
#ifndef BPF_WINDOW_DISCOVER_H
#define BPF_WINDOW_DISCOVER_H

#include <bpf_window/layout.h>

#include "census.h"
#include "window/reader.h"

struct discover_window {
  char name[64];
  uint32_t ring_id, epoch_id, cursor_id; /* of maps; 0: there is none */
  struct bpf_window_epoch record;        /* valid unless there is a problem */
  char problem[320]; /* why it cannot be read; empty if it can */
  uint64_t bytes;    /* kernel memory of its maps */
};

/*
 * Finds all windows; *windows is an array that the caller frees. width_ns is
 * taken for those whose epoch does not tell a width; 0: one second. Errors:
 * -EPERM, -ENOMEM.
 */
int discover_windows(const struct census *census, uint64_t width_ns,
                     struct discover_window **windows, size_t *count,
                     struct failure *failure);

/* What the kernel has set aside for the maps of a window; 0 without CAP_SYS_ADMIN. */
uint64_t discover_bytes(const struct discover_window *window);

/* The window of one map of buckets. Errors: -EINVAL if it is none; others if it cannot be
 * looked at. */
int discover_window(const struct census *census, uint32_t ring_id,
                    uint64_t width_ns, struct discover_window *window);

/* Opens a reader on a window found. Errors: -EINVAL with its problem, and those
 * of reader_open_described. */
int discover_open(const struct discover_window *window, struct reader **reader,
                  struct failure *failure);

/* The id of the map pinned at a path. Errors: -EINVAL if something else is. */
int discover_pinned_id(const char *path, uint32_t *map_id,
                       struct failure *failure);

/* Whether the map pinned there could be a window's, but has no BTF to tell what it
 * counts. */
bool discover_pinned_untold(const char *path);

#endif
