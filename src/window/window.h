/* SPDX-License-Identifier: MIT */
/*
 * window.h - from a snapshot of a window to numbers.
 *
 * Pure arithmetic: no system call, no clock, no allocation. Time is an
 * argument.
 *
 * Words. Bucket n spans [n, n+1) widths after the epoch. Edge n is the instant
 * at which bucket n begins, so "up to edge n" is buckets 0 .. n-1. At the usual
 * width of a second, edges are whole seconds of the wall clock as it was at
 * load time.
 *
 * W1  total_at(edge) is exact: every count whose bucket ended by then, once, since the
 *     window was loaded; also after any number of laps that nobody watched.
 * W2  total_at never falls: not for later edges of one snapshot, and not for the same
 *     edge in later snapshots.
 * W3  sum(from, to) has the counts of those buckets only. What an idle CPU still holds
 *     from an earlier lap is never in it.
 * W4  W1 to W3 hold for edges from history_start() to open_bucket(): older buckets may
 *     have been recycled, and the open one is still counting.
 */
#ifndef BPF_WINDOW_WINDOW_H
#define BPF_WINDOW_WINDOW_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf_window/layout.h>

#include "failure.h"

/* One slot is open and one is about to be recycled: this many are history. */
#define WINDOW_HISTORY_BUCKETS (BPF_WINDOW_SLOTS - 2)

/* A bucket is complete when it ended this long ago; late stores of up to a tick
 * were measured. What comes later still is never lost: the next total has it. */
#define WINDOW_SETTLE_NS 100000000ULL

/*
 * A copy of a window's maps as the kernel lays per-CPU values out. The memory
 * is the owner's (see reader.h); this is a view of it.
 */
struct window_snapshot {
  uint32_t slots;  /* BPF_WINDOW_SLOTS */
  uint32_t cpus;   /* possible CPUs */
  uint32_t values; /* counters behind the label */
  /* [slot][cpu][1 + values]: label, counters */
  const uint64_t *buckets;
  /* [cpu][2 + values]: struct bpf_window_cursor, retired counts; NULL for a
   * window without cursor, whose recycled counts are gone */
  const uint64_t *cursors;
};

/* The edge nearest to a CLOCK_MONOTONIC time; 0 if that is before the epoch.
 * Nearest, since a slewed wall clock moves edges by microseconds. */
uint64_t window_edge_near(const struct bpf_window_epoch *epoch,
                          uint64_t mono_ns);

/* Nanoseconds from the epoch to a CLOCK_MONOTONIC time; 0 for a time before it. */
uint64_t window_age_ns(const struct bpf_window_epoch *epoch, uint64_t mono_ns);

/* The bucket open at a CLOCK_MONOTONIC time. */
uint64_t window_open_bucket(const struct bpf_window_epoch *epoch,
                            uint64_t mono_ns);

/* CLOCK_MONOTONIC time of an edge. */
uint64_t window_edge_ns(const struct bpf_window_epoch *epoch, uint64_t edge);

/* The oldest edge that can still be told at mono_ns (W4). */
uint64_t window_history_start(const struct bpf_window_epoch *epoch,
                              uint64_t mono_ns);

/* Whether a window can be read every interval_ns: edges must fall on the bounds
 * of buckets, and two of them into the ring. 0, or -EINVAL with what would do. */
int window_check_interval(const struct bpf_window_epoch *epoch,
                          uint64_t interval_ns, struct failure *failure);

/* The newest edge that is settled at mono_ns: WINDOW_SETTLE_NS or more ago. */
uint64_t window_settled_edge(const struct bpf_window_epoch *epoch,
                             uint64_t mono_ns);

/* W1. Writes totals[0 .. values-1]: events since load, up to the edge. */
void window_total_at(const struct window_snapshot *snapshot, uint64_t edge,
                     uint64_t *totals);

/* W3. Writes sums[0 .. values-1]: events of buckets from .. to-1. */
void window_sum(const struct window_snapshot *snapshot, uint64_t from,
                uint64_t to, uint64_t *sums);

/* W3 for each bucket by itself: rows[(n - from) * values + value], to - from
 * rows, and counted[n - from] (if not NULL): whether any CPU counted in bucket
 * n. */
void window_series(const struct window_snapshot *snapshot, uint64_t from,
                   uint64_t to, uint64_t *rows, bool *counted);

/* As window_series, for the buckets of one CPU. */
void window_series_of_cpu(const struct window_snapshot *snapshot, uint32_t cpu,
                          uint64_t from, uint64_t to, uint64_t *rows,
                          bool *counted);

/*
 * A ratio of counters: sum of the members over sum of the base. Bits are
 * indexes into the values of a bucket.
 */
struct window_ratio {
  char name[BPF_WINDOW_NAME_SIZE];
  uint64_t member[BPF_WINDOW_MAX_VALUES / 64];
  uint64_t base[BPF_WINDOW_MAX_VALUES / 64];
};

void window_ratio_add_member(struct window_ratio *ratio, uint32_t value);
void window_ratio_add_base(struct window_ratio *ratio, uint32_t value);

/* Sum of the base: the events that the percentage is of. */
uint64_t window_ratio_base(const struct window_ratio *ratio, uint32_t values,
                           const uint64_t *sums);

/* Percent, 0 to 100; NAN while the base is 0. Counts of one event that fall
 * into two snapshots can push it past 100: it is clamped. */
double window_ratio_percent(const struct window_ratio *ratio, uint32_t values,
                            const uint64_t *sums);

/*
 * The ratio that follows from the roles: `hit` = hits / totals, without a total
 * hits / (hits + misses). Returns false if the window has no hits or no base.
 */
bool window_ratio_from_roles(struct window_ratio *ratio,
                             const struct bpf_window_epoch *epoch);

/* Hits + misses - totals by role; 0 when the ledger balances. Returns false if
 * the window does not have all three roles. */
bool window_ledger_drift(const struct bpf_window_epoch *epoch,
                         const uint64_t *sums, int64_t *drift);

/*
 * The values of a bucket that a name stands for: that of a counter for all it has,
 * `name_3` for one of an array, as collectd names it. Returns how many there are
 * from *first on; 0 if the window has no such counter.
 */
uint32_t window_values_of(const struct bpf_window_epoch *epoch,
                          const char *name, uint32_t *first);

/* Writes the names of the counters, `a, b, c`; what does not fit ends in `...`. */
void window_counter_names(const struct bpf_window_epoch *epoch, char *names,
                          size_t size);

/* Checks a record that came from a map (not from us): sizes, names, sums.
 * Returns NULL, or what is wrong in a few words. */
const char *window_epoch_problem(const struct bpf_window_epoch *epoch);

#endif
