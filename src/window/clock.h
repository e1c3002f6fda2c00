/* SPDX-License-Identifier: MIT */
/*
 * clock.h - the two clocks of a window: CLOCK_MONOTONIC, by which its buckets are
 * cut, and the wall clock, by which people and collectd tell time. Both in ns.
 */
#ifndef BPF_WINDOW_CLOCK_H
#define BPF_WINDOW_CLOCK_H

#include <stdint.h>
#include <time.h>

#include "failure.h"

#define NS_PER_SECOND INT64_C(1000000000)

static inline int64_t timespec_ns(struct timespec time) {
  return time.tv_sec * NS_PER_SECOND + time.tv_nsec;
}

int64_t clock_ns(clockid_t clock);

/* What both clocks show at one instant. */
struct clock_pair {
  uint64_t wall_ns, mono_ns;
};

/*
 * Reads both. The clocks are read one after the other; where the thread was
 * preempted in between it tries again, a few times, and takes the closest: a pair
 * that is apart by half a bucket would put an edge into the wrong one.
 */
struct clock_pair clock_pair(void);

/* Whether CLOCK_MONOTONIC is the one by which programs in the kernel count: -ENOTSUP in
 * a time namespace that has moved it. */
int clock_check(struct failure *failure);

#endif
