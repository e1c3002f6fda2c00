/* SPDX-License-Identifier: MIT */
/*
 * series.h - under which names collectd has the values of a window. Pure.
 *
 *     <type>-<counter>               total, at every edge
 *     <type>-<counter>_<i>           the same of an array
 *     derive-<counter>-<ii>_ge_<v>   the same of a histogram: slot ii, which counts
 *                                    values from v upwards
 *     cache_ratio-<ratio>            percent over the last RatioSeconds
 *     gauge-<counter>-p<percent>     percentile of a histogram, likewise
 *
 * The type of a counter follows from its role: hits and misses of a window that
 * has both are cache_result, everything else in such a window cache_operation;
 * histograms, and counters of a window without both, are derive.
 */
#ifndef BPF_WINDOW_SERIES_H
#define BPF_WINDOW_SERIES_H

#include <stddef.h>

#include "failure.h"
#include "window.h"

/* Begins the type instances of what the plugin tells about itself; none of a window's
 * does. */
#define SERIES_SELF "self_"

#define SERIES_NAME_SIZE 128 /* collectd's DATA_MAX_NAME_LEN */

struct series {
  const char *type;
  char type_instance[SERIES_NAME_SIZE];
};

/* What is told besides the totals. */
struct series_rolling {
  const struct window_ratio *ratio; /* their names are used */
  size_t ratios;
  const double *percentile; /* of each histogram */
  size_t percentiles;
};

/* The type instance of a counter's value i. */
void series_name_value(const struct bpf_window_counter *counter, uint32_t i,
                       char name[SERIES_NAME_SIZE]);

/*
 * All of a window: a total for each of its values, in their order, then the ratios,
 * then for each histogram its percentiles. *series is an array that the caller frees.
 * Errors: -EINVAL if two are of one name or one is of the plugin's own, -ENOMEM.
 */
int series_of(const struct bpf_window_epoch *epoch,
              const struct series_rolling *rolling, struct series **series,
              size_t *count, struct failure *failure);

#endif
