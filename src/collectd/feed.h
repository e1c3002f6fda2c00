/* SPDX-License-Identifier: MIT */
/*
 * feed.h - one window, read at every interval and dispatched to collectd.
 *
 * What it dispatches is in metrics.h, and of the reading itself:
 *
 *     derive-self_lost_seconds      seconds of which the record knows nothing
 *                                   (a kill right behind an edge can lose one
 *                                   more)
 *     derive-self_late_events       counts that came after their edge was sent
 *     derive-self_snapshot_retries  copies that a CPU's roll spoilt
 *     duration-self_read            seconds that a read took
 */
#ifndef BPF_WINDOW_FEED_H
#define BPF_WINDOW_FEED_H

#include "collectd.h"

#include "config.h"
#include "object/object.h"

/*
 * Begins to read a window: registers a read callback with collectd, which owns
 * the feed from then on. The window's descriptors are duplicated;
 * config must outlive it. Errors: -EINVAL for a ratio with an unknown counter, or
 * an interval that the window cannot serve; -EEXIST if another window has its
 * plugin instance.
 */
int feed_start(const struct object_window *window,
               const struct config_window *config, bool backfill,
               struct failure *failure);

/*
 * The same for a window that others own, pinned at config->name, be it there now
 * or later; see account.h. What is known of it is kept in the folder of pins (NULL:
 * nowhere), which outlives the feed.
 */
int feed_watch(const struct config_window *config, const struct pins_root *pins,
               bool backfill, struct failure *failure);

#endif
