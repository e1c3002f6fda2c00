/* SPDX-License-Identifier: MIT */
/*
 * metrics.h - how a window's values are named, and handed to collectd.
 *
 *   plugin bpf_window, plugin instance: the window
 *     <type>-<counter>               DERIVE  total, at every edge
 *     <type>-<counter>_<i>           DERIVE  the same of an array
 *     derive-<counter>-<ii>_ge_<v>   DERIVE  the same of a histogram: slot ii, which
 *                                            counts values from v upwards
 *     cache_ratio-<ratio>            GAUGE   percent over the last RatioSeconds
 *     gauge-<counter>-p<percent>     GAUGE   percentile of a histogram, likewise
 *
 * The type of a counter follows from its role: hits and misses of a window that
 * has both are cache_result, everything else in such a window cache_operation;
 * histograms, and counters of a window without both, are derive.
 */
#ifndef BPF_WINDOW_METRICS_H
#define BPF_WINDOW_METRICS_H

#include "collectd.h"

#include "plugin.h"

#include "config.h"
#include "window/window.h"

struct metrics; /* has copies of all that it needs */

/* Errors: -EINVAL for a ratio with an unknown counter, and for two values of one
 * name; -ENOMEM. */
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
