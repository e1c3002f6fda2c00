/* SPDX-License-Identifier: MIT */
/*
 * race_load.h - race.bpf.c loaded and under load: on every CPU a loop that
 * counts, and a perf event that interrupts it.
 */
#ifndef TESTS_RACE_LOAD_H
#define TESTS_RACE_LOAD_H

#include <stdbool.h>
#include <stdint.h>

#define RACE_MAX_CPUS 256

/* Counters of struct race_stats, as indexes of its values. */
enum {
  RACE_LABEL_SUM,
  RACE_EVENTS,
  RACE_LOOPED,
  RACE_INTERRUPTING,
  RACE_VALUES
};

struct race; /* owns the object, its links and its threads */

/* fast: buckets of width_ns, rolled by the nanosecond clock; else of one
 * second, as in earnest. NULL if it cannot be loaded. */
struct race *race_open(bool fast, uint64_t width_ns);
void race_close(struct race **race);

int race_map(const struct race *race, const char *name);

/* Begins to count with bpf_window_add (atomic) or _add_plain, interrupted once
 * in each period; -errno. */
int race_start(struct race *race, bool atomic, uint64_t period_ns);

/* Stops both kinds of counting. */
void race_stop(struct race *race);

/* What was counted, told by those who called: calls of the loop, and of the
 * interrupting program. */
uint64_t race_looped(const struct race *race);
uint64_t race_interruptions(const struct race *race);
uint64_t race_rolls(const struct race *race);

uint64_t race_now_ns(void);

#endif
