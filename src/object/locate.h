/* SPDX-License-Identifier: MIT */
/*
 * locate.h - from the path of a pin to a window that can be read, whoever pinned
 * it. Opened for reading only.
 */
#ifndef BPF_WINDOW_LOCATE_H
#define BPF_WINDOW_LOCATE_H

#include "discover.h"

/*
 * Opens the window whose map of buckets is pinned there. Beside a window of this
 * project's header lie `<path>_epoch` and `<path>_cursor`, which say all; for any
 * other the epoch is looked for among the maps of the programs that use it (see
 * discover.h), which needs CAP_SYS_ADMIN. name, if not NULL, becomes the name that
 * the map has in the kernel, and stays empty for one of the first kind.
 *
 * Errors: -ENOENT if there is no such pin, -EINVAL if it is no window, cannot be read
 * (yet) or nothing tells what it counts, -EPERM, -ENOMEM.
 */
int locate_pinned(const char *path, uint64_t width_ns, struct reader **reader,
                  char name[64], struct failure *failure);

#endif
