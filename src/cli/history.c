/* SPDX-License-Identifier: MIT */
#include "history.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "window/histogram.h"

struct history *history_new(const struct bpf_window_epoch *epoch, uint64_t from,
                            uint64_t to, bool with_totals) {
  struct history *history = calloc(1, sizeof(*history));
  if (!history)
    return NULL;
  history->epoch = *epoch;
  history->from = from;
  history->to = to;
  /* One more than needed: calloc(0) may be NULL. */
  history->rows =
      calloc((to - from + 1) * epoch->values, sizeof(*history->rows));
  history->counted = calloc(to - from + 1, sizeof(*history->counted));
  if (with_totals)
    history->totals = calloc(epoch->values, sizeof(*history->totals));
  if (!history->rows || !history->counted || (with_totals && !history->totals))
    history_free(&history);
  return history;
}

struct history *history_from_snapshot(const struct window_snapshot *snapshot,
                                      const struct bpf_window_epoch *epoch,
                                      uint32_t cpu,
                                      const struct clock_pair *now) {
  uint64_t from = window_history_start(epoch, now->mono_ns);
  uint64_t to = window_settled_edge(epoch, now->mono_ns);
  if (to < from)
    to = from;
  bool all = cpu == HISTORY_ALL_CPUS;
  struct history *history =
      history_new(epoch, from, to, all && snapshot->cursors);
  if (!history)
    return NULL;
  history->cpus = snapshot->cpus;
  history->to_real_ns =
      (int64_t)(now->wall_ns - (now->mono_ns - window_edge_ns(epoch, to)));
  if (all)
    window_series(snapshot, from, to, history->rows, history->counted);
  else
    window_series_of_cpu(snapshot, cpu, from, to, history->rows,
                         history->counted);
  if (history->totals)
    window_total_at(snapshot, to, history->totals);
  return history;
}

void history_free(struct history **history) {
  if (!*history)
    return;
  free((*history)->rows);
  free((*history)->counted);
  free((*history)->totals);
  free(*history);
  *history = NULL;
}

/* ---- Time ---- */

struct span history_whole(const struct history *history) {
  return (struct span){history->from, history->to};
}

int64_t history_edge_real_ns(const struct history *history, uint64_t edge) {
  return history->to_real_ns -
         (int64_t)((history->to - edge) * history->epoch.width_ns);
}

/* The edge nearest to an instant: a slewed wall clock moves edges a little. */
static uint64_t edge_at(const struct history *history, int64_t real_ns) {
  if (real_ns >= history->to_real_ns)
    return history->to;
  if (real_ns <= history_edge_real_ns(history, history->from))
    return history->from;
  uint64_t width_ns = history->epoch.width_ns;
  uint64_t back_ns = (uint64_t)(history->to_real_ns - real_ns);
  return history->to - (back_ns + width_ns / 2) / width_ns;
}

struct span history_between(const struct history *history, int64_t from_real_ns,
                            int64_t to_real_ns) {
  struct span span = {edge_at(history, from_real_ns),
                      edge_at(history, to_real_ns)};
  if (span.to < span.from)
    span.to = span.from;
  return span;
}

double history_span_seconds(const struct history *history, struct span span) {
  return (double)(span.to - span.from) * (double)history->epoch.width_ns / 1e9;
}

uint64_t history_buckets_in(const struct bpf_window_epoch *epoch,
                            uint64_t length_ns) {
  uint64_t count = length_ns / epoch->width_ns;
  if (count == 0 || length_ns % epoch->width_ns != 0)
    count++;
  return count < BPF_WINDOW_SLOTS ? count : BPF_WINDOW_SLOTS;
}

/* ---- Counts ---- */

const uint64_t *history_row(const struct history *history, uint64_t bucket) {
  return history->rows + (bucket - history->from) * history->epoch.values;
}

bool history_counted(const struct history *history, uint64_t bucket) {
  return history->counted[bucket - history->from];
}

uint64_t history_counted_buckets(const struct history *history,
                                 struct span span) {
  uint64_t counted = 0;
  for (uint64_t bucket = span.from; bucket < span.to; bucket++)
    counted += history_counted(history, bucket);
  return counted;
}

void history_sum(const struct history *history, struct span span,
                 uint64_t *sums) {
  memset(sums, 0, history->epoch.values * sizeof(*sums));
  for (uint64_t bucket = span.from; bucket < span.to; bucket++)
    for (uint32_t i = 0; i < history->epoch.values; i++)
      sums[i] += history_row(history, bucket)[i];
}

bool history_total_at(const struct history *history, uint64_t edge,
                      uint64_t *totals) {
  if (!history->totals)
    return false;
  history_sum(history, (struct span){edge, history->to}, totals);
  for (uint32_t i = 0; i < history->epoch.values; i++)
    totals[i] = history->totals[i] - totals[i];
  return true;
}

void history_cut(struct history *history, struct span span) {
  uint64_t first = span.from - history->from, count = span.to - span.from;
  uint64_t totals[BPF_WINDOW_MAX_VALUES], values = history->epoch.values;
  if (history_total_at(history, span.to, totals))
    memcpy(history->totals, totals, values * sizeof(*totals));
  history->to_real_ns = history_edge_real_ns(history, span.to);
  memmove(history->rows, history->rows + first * values,
          count * values * sizeof(*history->rows));
  memmove(history->counted, history->counted + first,
          count * sizeof(*history->counted));
  history->from = span.from;
  history->to = span.to;
}

uint64_t history_role_sum(const struct history *history,
                          enum bpf_window_role role, const uint64_t *values) {
  uint64_t sum = 0;
  uint32_t value = 0;
  for (uint32_t c = 0; c < history->epoch.counters; c++)
    for (uint32_t i = 0; i < history->epoch.counter[c].values; i++, value++)
      if (history->epoch.counter[c].role == role)
        sum += values[value];
  return sum;
}

uint64_t history_events(const struct bpf_window_epoch *epoch,
                        const uint64_t *values) {
  uint64_t sum[BPF_WINDOW_ROLES] = {0}, all = 0;
  bool has[BPF_WINDOW_ROLES] = {false};
  for (uint32_t c = 0; c < epoch->counters; c++) {
    uint32_t role = epoch->counter[c].role;
    has[role] = true;
    for (uint32_t i = 0; i < epoch->counter[c].values; i++, values++) {
      sum[role] += *values;
      all += *values;
    }
  }
  if (has[BPF_WINDOW_ROLE_TOTAL])
    return sum[BPF_WINDOW_ROLE_TOTAL];
  if (has[BPF_WINDOW_ROLE_HIT])
    return sum[BPF_WINDOW_ROLE_HIT] + sum[BPF_WINDOW_ROLE_MISS];
  return has[BPF_WINDOW_ROLE_LOG2] ? sum[BPF_WINDOW_ROLE_LOG2] : all;
}

struct history_worst history_worst(const struct history *history,
                                   struct span span) {
  struct history_worst worst = {0};
  struct window_ratio ratio;
  bool has_ratio = window_ratio_from_roles(&ratio, &history->epoch);
  for (uint64_t bucket = span.from; bucket < span.to; bucket++) {
    const uint64_t *row = history_row(history, bucket);
    uint64_t misses = history_role_sum(history, BPF_WINDOW_ROLE_MISS, row);
    if (misses > worst.most_misses) {
      worst.has_misses = true;
      worst.most_misses_bucket = bucket;
      worst.most_misses = misses;
    }
    double percent =
        has_ratio ? window_ratio_percent(&ratio, history->epoch.values, row)
                  : NAN;
    if (!isnan(percent) &&
        (!worst.has_ratio || percent < worst.lowest_ratio_percent)) {
      worst.has_ratio = true;
      worst.lowest_ratio_bucket = bucket;
      worst.lowest_ratio_percent = percent;
      worst.lowest_ratio_events =
          window_ratio_base(&ratio, history->epoch.values, row);
    }
  }
  return worst;
}

bool history_is_slot(const struct history *history, uint32_t column) {
  struct histogram histogram;
  for (uint32_t c = 0; histogram_next(&history->epoch, &c, &histogram);)
    if (column >= histogram.first && column < histogram.first + histogram.slots)
      return true;
  return false;
}

void history_column_name(const struct history *history, uint32_t column,
                         char name[SERIES_NAME_SIZE]) {
  uint32_t first = 0;
  for (uint32_t c = 0; c < history->epoch.counters; c++) {
    const struct bpf_window_counter *counter = &history->epoch.counter[c];
    if (column < first + counter->values) {
      series_name_value(counter, column - first, name);
      return;
    }
    first += counter->values;
  }
  name[0] = '\0';
}
