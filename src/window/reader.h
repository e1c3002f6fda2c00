/* SPDX-License-Identifier: MIT */
/*
 * reader.h - from a window's maps to a snapshot.
 *
 * A snapshot is consistent per CPU: no roll happened on that CPU while it was
 * copied, so no count is in it twice or missing (I2). A copy during which a
 * cursor moved is taken again, at most READER_ATTEMPTS times.
 */
#ifndef BPF_WINDOW_READER_H
#define BPF_WINDOW_READER_H

#include "failure.h"
#include "window.h"

#define READER_ATTEMPTS 16

struct reader; /* owns its three descriptors and the snapshot's memory */

/* What reading has cost since the reader was opened. */
struct reader_statistics {
  uint64_t snapshots; /* taken */
  uint64_t retries;   /* copies thrown away because a CPU rolled meanwhile */
};

/*
 * Opens a reader on descriptors of the three maps, which it duplicates: the caller
 * keeps its own. Checks that the maps are a window: types, sizes, entries, a sane
 * epoch. cursor_fd -1 is a window without cursor. Errors: -EINVAL with the
 * reason, -EPERM, -ENOMEM.
 */
int reader_open(struct reader **reader, int ring_fd, int epoch_fd,
                int cursor_fd, struct failure *failure);

/* The same for a window whose record was come by otherwise: the ring need not have an
 * epoch map of this project's kind. */
int reader_open_described(struct reader **reader, int ring_fd, int cursor_fd,
                          const struct bpf_window_epoch *record,
                          struct failure *failure);

/* The same from pins: PATH, PATH_epoch, PATH_cursor, opened read-only. */
int reader_open_pinned(struct reader **reader, const char *path,
                       struct failure *failure);

void reader_close(struct reader **reader);

/* The record of the window, valid while the reader is open. */
const struct bpf_window_epoch *reader_epoch(const struct reader *reader);

/*
 * Takes a snapshot. *snapshot points into the reader and stays valid until the next
 * one. Errors: -EAGAIN if a CPU rolled during every attempt (try at the next
 * interval; nothing is lost), else -errno of the map call.
 */
int reader_snapshot(struct reader *reader,
                    const struct window_snapshot **snapshot,
                    struct failure *failure);

/* The kernel's id of the ring's map. */
uint32_t reader_ring_id(const struct reader *reader);

const struct reader_statistics *reader_statistics(const struct reader *reader);

#endif
