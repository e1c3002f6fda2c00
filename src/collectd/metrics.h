/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - a window's values, handed to collectd: totals as DERIVE, ratios and
 * percentiles as GAUGE. The plugin instance is the window; for types and type instances
 * see window/series.h.
 */
#ifndef BPF_WINDOW_METRICS_H
#define BPF_WINDOW_METRICS_H

#include "collectd.h"

#include "plugin.h"

#include "config.h"
#include "window/window.h"

struct metrics; /* has copies of all that it needs */

/* Errors: -EINVAL for a ratio with an unknown counter; those of series_of. */
int metrics_new(struct metrics **metrics, const char *plugin_instance,
                const struct bpf_window_epoch *epoch,
                const struct config_window *config, struct failure *failure);
void metrics_free(struct metrics **metrics);

/* Buckets that the rolling values look back. */
uint64_t metrics_rolling_buckets(const struct metrics *metrics);

/* How many values the two functions below dispatch. */
unsigned metrics_count_totals(const struct metrics *metrics);
unsigned metrics_count_rolling(const struct metrics *metrics);

void metrics_dispatch_totals(const struct metrics *metrics,
                             const uint64_t *totals, cdtime_t time);

/* Zeroes for the values that are fresh. */
void metrics_dispatch_zeroes(const struct metrics *metrics, const bool *fresh,
                             cdtime_t time);

/* Ratios and percentiles of sums. */
void metrics_dispatch_rolling(const struct metrics *metrics,
                              const uint64_t *sums, cdtime_t time);

#endif
