/* SPDX-License-Identifier: MIT */
/* series.h - one number per round, and what is said about them. */
#ifndef BENCH_SERIES_H
#define BENCH_SERIES_H

#define SERIES_ROOM 4096 /* rounds; what comes later is dropped */

struct series {
  int count;
  double value[SERIES_ROOM];
};

void series_add(struct series *series, double value);

/* 0.5 is the median. NAN for an empty series. */
double series_quantile(const struct series *series, double quantile);

/* Median of the ratios a/b of the same round: what slows a whole round down
 * does not show in it. */
double series_paired_ratio(const struct series *a, const struct series *b);

#endif
