/* SPDX-License-Identifier: MIT */
/*
 * report.h - the page that `bpf-window report` writes: HTML without a reference
 * to anything outside of it, readable in light and dark, on a phone and on a
 * desk.
 */
#ifndef BPF_WINDOW_REPORT_H
#define BPF_WINDOW_REPORT_H

#include <stdio.h>

#include <jansson.h>

#include "history.h"
#include "units.h"
#include "window/histogram.h"

/* The whole page. environment: see environment.h; it may be empty. */
void report_page(FILE *page, const struct history *history,
                 const json_t *environment);

/* "in each second", or whatever its buckets are. */
const char *report_in_each(const struct history *history,
                           char text[UNITS_TEXT]);

/* Events by result, stacked, with the buckets that have no data. */
void report_chart_of_results(FILE *page, const struct history *history);

/* The hit rate in percent. Both need a window with a ratio. */
void report_chart_of_ratio(FILE *page, const struct history *history,
                           const struct window_ratio *ratio);

/* One column by itself. */
void report_chart_of_column(FILE *page, const struct history *history,
                            uint32_t column);

/* Each histogram: percentiles bucket by bucket, and its slots with bars. */
void report_histograms(FILE *page, const struct history *history,
                       const uint64_t *sums);

/* The percentile of a histogram in each bucket. */
void report_chart_of_percentile(FILE *page, const struct history *history,
                                const struct histogram *histogram,
                                double percent);

extern const char report_style[];

#endif
