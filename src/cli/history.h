/* SPDX-License-Identifier: MIT */
/*
 * history.h - the last five minutes of a window, second by second, as the verbs
 * print them: taken from a live window or read back from a file.
 *
 * Words as in window.h: bucket n lies between edge n and edge n + 1; a span
 * [from, to) of edges holds the buckets from .. to-1. Buckets are usually a
 * second wide, and only then called seconds where people read it.
 */
#ifndef BPF_WINDOW_HISTORY_H
#define BPF_WINDOW_HISTORY_H

#include "window/clock.h"
#include "window/series.h"
#include "window/window.h"

#define HISTORY_NAME_SIZE 64

struct history {
  char window[HISTORY_NAME_SIZE];
  char object[HISTORY_NAME_SIZE]; /* empty if it is not known */
  struct bpf_window_epoch epoch; /* names, roles, width; epoch.values columns */
  uint32_t cpus;                 /* possible CPUs */
  uint64_t from, to;             /* the span that is known */
  int64_t to_real_ns;            /* wall clock at edge `to` */
  int32_t utc_offset_s;          /* of the local time there, at that time */
  uint64_t *rows;                /* [to - from][values] */
  bool *counted; /* [to - from]: whether anything was counted in the bucket */
  uint64_t
      *totals; /* [values] since load, up to edge `to`; NULL if not known */
};

struct span {
  uint64_t from, to;
};

#define HISTORY_ALL_CPUS UINT32_MAX

/*
 * Makes the history of one CPU, or of all, from a snapshot that was taken right
 * behind `now`. NULL if memory is short. The names are empty; the caller fills
 * them in.
 */
struct history *history_from_snapshot(const struct window_snapshot *snapshot,
                                      const struct bpf_window_epoch *epoch,
                                      uint32_t cpu,
                                      const struct clock_pair *now);

/* An empty history of a known size, to be filled by a file's reader. */
struct history *history_new(const struct bpf_window_epoch *epoch, uint64_t from,
                            uint64_t to, bool with_totals);

void history_free(struct history **history);

struct span history_whole(const struct history *history);

/* The buckets between two wall-clock times, cut to what is known. */
struct span history_between(const struct history *history, int64_t from_real_ns,
                            int64_t to_real_ns);

/* How many buckets cover a length of time: at least one, and no more than a ring
 * has. */
uint64_t history_buckets_in(const struct bpf_window_epoch *epoch,
                            uint64_t length_ns);

/* Forgets what is outside of a span of the history. */
void history_cut(struct history *history, struct span span);

int64_t history_edge_real_ns(const struct history *history, uint64_t edge);

double history_span_seconds(const struct history *history, struct span span);

const uint64_t *history_row(const struct history *history, uint64_t bucket);
bool history_counted(const struct history *history, uint64_t bucket);

/* Buckets of the span in which anything was counted. */
uint64_t history_counted_buckets(const struct history *history,
                                 struct span span);

void history_sum(const struct history *history, struct span span,
                 uint64_t *sums);

/* Counts since load up to an edge; false if they are not known. */
bool history_total_at(const struct history *history, uint64_t edge,
                      uint64_t *totals);

/* Sum of the values whose counter has the role. */
uint64_t history_role_sum(const struct history *history,
                          enum bpf_window_role role, const uint64_t *values);

/*
 * How many events the values are of: what the totals count; in a window without
 * totals the hits and misses; without those what the histograms count, as other
 * counters beside them may count bytes; else all that is counted.
 */
uint64_t history_events(const struct bpf_window_epoch *epoch,
                        const uint64_t *values);

/* The buckets that an operator wants to look at first. */
struct history_worst {
  bool has_ratio; /* a bucket with a ratio exists */
  uint64_t lowest_ratio_bucket;
  double lowest_ratio_percent;
  uint64_t lowest_ratio_events; /* of so many events in that bucket */
  bool has_misses;              /* a bucket with misses exists */
  uint64_t most_misses_bucket;
  uint64_t most_misses;
};

struct history_worst history_worst(const struct history *history,
                                   struct span span);

/* A histogram's slots are columns too; where people read one after the other they
 * are left out, for a summary of the histogram. */
bool history_is_slot(const struct history *history, uint32_t column);

/* The column's name, as collectd has it. */
void history_column_name(const struct history *history, uint32_t column,
                         char name[SERIES_NAME_SIZE]);

#endif
