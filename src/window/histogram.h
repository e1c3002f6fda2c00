/* SPDX-License-Identifier: MIT */
/*
 * histogram.h - from the slots of a histogram (BPF_WINDOW_LOG2) to percentiles.
 * Pure arithmetic.
 *
 * H1  A percentile lies in the slot in which the event of that rank was counted,
 *     so it is off by less than the slot is wide: at most a factor of two.
 * H2  Within the slot the events are taken to be spread evenly. In slot 0 that is
 *     between 0 and 2.
 * H3  The last slot has no upper end. A percentile that falls into it is told as
 *     the smallest value of that slot: the true one is not below.
 */
#ifndef BPF_WINDOW_HISTOGRAM_H
#define BPF_WINDOW_HISTOGRAM_H

#include <stdbool.h>
#include <stdint.h>

#include <bpf_window/layout.h>

/* The smallest value that a slot counts: 0, 2, 4, 8, ... */
uint64_t histogram_from(uint32_t slot);

/* Events in all slots. */
uint64_t histogram_events(const uint64_t *slots, uint32_t count);

/* The value that `percent` of the events do not exceed, 0 < percent <= 100; in the
 * unit of what was counted. NAN without events. */
double histogram_percentile(const uint64_t *slots, uint32_t count,
                            double percent);

/* A histogram of a window: its first value in a bucket, and how many slots. */
struct histogram {
  const char *name; /* the counter's, in the record */
  uint32_t first, slots;
};

/* The next histogram of a record, from the counter *counter on, which moves behind
 * it; false if there is none. Begin with *counter = 0. */
bool histogram_next(const struct bpf_window_epoch *epoch, uint32_t *counter,
                    struct histogram *histogram);

#endif
