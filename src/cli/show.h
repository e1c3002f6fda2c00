/* SPDX-License-Identifier: MIT */
/*
 * show.h - a span of a history as text: for people or as CSV.
 *
 * Seconds in which nothing was counted at all have no data: `-` or an empty
 * field, where a counter that stayed at zero beside others has 0.
 */
#ifndef BPF_WINDOW_SHOW_H
#define BPF_WINDOW_SHOW_H

#include "history.h"

void show_text(const struct history *history, struct span span);
void show_csv(const struct history *history, struct span span);

/* Columns for the names of counters and histograms, and a name that fills them. */
int show_name_columns(const struct history *history);
void show_name(const char *name, int columns);

/* Of how many characters a name is; and a name at the right of so many columns, or as
 * much of it as they take. */
int show_length(const char *name);
void show_cut(const char *name, int columns);

/* The percentiles that all verbs tell of a histogram. */
#define SHOW_PERCENTILES 3
extern const double show_percentiles[SHOW_PERCENTILES]; /* 50, 90, 99 */

/* A line for each histogram, and one with its slots as bars. */
void show_histograms(const struct history *history, const uint64_t *sums);

/* The same, a line for each bucket. */
void show_text_per_second(const struct history *history, struct span span);
void show_csv_per_second(const struct history *history, struct span span);

#endif
