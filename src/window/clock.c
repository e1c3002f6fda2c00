/* SPDX-License-Identifier: MIT */
#include "clock.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>

#define OFFSETS "/proc/self/timens_offsets"

#define TRIES 10
#define CLOSE_NS 20000

int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return timespec_ns(now);
}

struct clock_pair clock_pair(void) {
  struct clock_pair pair = {0};
  int64_t apart_ns = INT64_MAX;
  for (int i = 0; i < TRIES && apart_ns > CLOSE_NS; i++) {
    int64_t before_ns = clock_ns(CLOCK_MONOTONIC);
    int64_t wall_ns = clock_ns(CLOCK_REALTIME);
    int64_t after_ns = clock_ns(CLOCK_MONOTONIC);
    if (after_ns - before_ns >= apart_ns)
      continue;
    apart_ns = after_ns - before_ns;
    pair = (struct clock_pair){.wall_ns = (uint64_t)wall_ns,
                               .mono_ns = (uint64_t)(before_ns + apart_ns / 2)};
  }
  return pair;
}

int clock_check(struct failure *failure) {
  static atomic_bool checked; /* a process stays in its namespace */
  long seconds = 0, ns = 0;
  FILE *offsets = checked ? NULL : fopen(OFFSETS, "re");
  if (!offsets)
    return 0; /* a kernel without time namespaces */
  int found = fscanf(offsets, "monotonic %ld %ld", &seconds, &ns);
  fclose(offsets);
  checked = found != 2 || (seconds == 0 && ns == 0);
  if (checked)
    return 0;
  return failure_set(failure, -ENOTSUP,
                     "this is a time namespace whose CLOCK_MONOTONIC is %ld s "
                     "from that of the kernel, by which windows count: it must "
                     "run outside of it (" OFFSETS ")",
                     seconds);
}
