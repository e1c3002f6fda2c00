/* SPDX-License-Identifier: MIT */
/*
 * statistics.h - what an object costs: programs, memory, runs.
 */
#ifndef BPF_WINDOW_STATISTICS_H
#define BPF_WINDOW_STATISTICS_H

#include "object/object.h"

struct object_statistics {
  unsigned programs;  /* attached */
  uint64_t map_bytes; /* memory of the windows' maps, from /proc/self/fdinfo */
  bool runs_known;    /* the kernel lets us look at programs (CAP_SYS_ADMIN) */
  uint64_t runs;      /* since attached; 0 unless the kernel counts them */
  uint64_t run_ns;    /* likewise */
  uint64_t
      recursion_misses; /* runs that the kernel left out (5.12 and newer) */
};

void object_statistics(const struct object *object,
                       struct object_statistics *statistics);

/* Has the kernel count runs and run time of all programs, as long as the
 * descriptor that is returned is open. That costs every program of the machine
 * some 20 ns a run. */
int object_count_runs(struct failure *failure);

#endif
