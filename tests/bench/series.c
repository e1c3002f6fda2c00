/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

void series_add(struct series *series, double value) {
  if (series->count < SERIES_ROOM)
    series->value[series->count++] = value;
}

static int compare(const void *a, const void *b) {
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

double series_quantile(const struct series *series, double quantile) {
  static double sorted[SERIES_ROOM];
  if (series->count == 0)
    return NAN;
  memcpy(sorted, series->value, (size_t)series->count * sizeof(*sorted));
  qsort(sorted, (size_t)series->count, sizeof(*sorted), compare);
  return sorted[(int)(quantile * (series->count - 1) + 0.5)];
}

double series_paired_ratio(const struct series *a, const struct series *b) {
  static struct series ratios;
  ratios.count = 0;
  for (int i = 0; i < a->count && i < b->count; i++)
    series_add(&ratios, a->value[i] / b->value[i]);
  return series_quantile(&ratios, 0.5);
}
