/* SPDX-License-Identifier: MIT */
/*
 * counting.h - what one event's counting costs, three ways.
 *
 *   loop   ns per call, counted in a loop inside one run of a program. Compares
 *          code with code; everything is in the first-level cache and
 * predicted, so it is never what an event costs. all    the same on all CPUs at
 * once: what grows here is contended. event  ns that a system call takes longer
 * with the counting program attached than with an empty one.
 */
#ifndef BENCH_COUNTING_H
#define BENCH_COUNTING_H

#include "series.h"
#include "stream.h"

struct losses {
  double dropped, sent;
};

/* A row of variants.h with its measurements. */
struct variant {
  const char *name, *family, *title;
  int counters;
  enum stream_kind stream;
  struct series loop, alone, all, event; /* alone: one CPU, next to all */
  struct losses loop_losses, all_losses, event_losses;
};

extern struct variant variants[];
extern const int variant_count;

struct variant *variant_named(const char *name);

struct bench_bpf;

/* One round of each kind adds one value to the series of every variant, or none
 * if the row cannot be measured that way. */
void counting_loop_round(struct bench_bpf *bpf);
void counting_all_round(struct bench_bpf *bpf);
void counting_event_round(struct bench_bpf *bpf, int round);

#endif
