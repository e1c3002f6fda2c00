/* SPDX-License-Identifier: MIT */
#include "series.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "histogram.h"

struct list {
  struct series *series;
  size_t count;
};

/* For the next one. Returns the name to be filled in. */
static char *add(struct list *list, const char *type) {
  struct series *series = &list->series[list->count++];
  series->type = type;
  return series->type_instance;
}

/* ---- Totals ---- */

static bool has_role(const struct bpf_window_epoch *epoch, uint32_t role) {
  for (uint32_t c = 0; c < epoch->counters; c++)
    if (epoch->counter[c].role == role)
      return true;
  return false;
}

static const char *type_of(uint32_t role, bool is_cache) {
  if (!is_cache || role == BPF_WINDOW_ROLE_LOG2)
    return "derive";
  return role == BPF_WINDOW_ROLE_HIT || role == BPF_WINDOW_ROLE_MISS
             ? "cache_result"
             : "cache_operation";
}

/* The names of fields have no hyphen, so what stands behind one is ours. */
void series_name_value(const struct bpf_window_counter *counter, uint32_t i,
                       char name[SERIES_NAME_SIZE]) {
  if (counter->role == BPF_WINDOW_ROLE_LOG2)
    snprintf(name, SERIES_NAME_SIZE, "%s-%02u_ge_%" PRIu64, counter->name, i,
             histogram_from(i));
  else if (counter->values == 1)
    snprintf(name, SERIES_NAME_SIZE, "%s", counter->name);
  else
    snprintf(name, SERIES_NAME_SIZE, "%s_%u", counter->name, i);
}

static void add_totals(struct list *list,
                       const struct bpf_window_epoch *epoch) {
  bool is_cache = has_role(epoch, BPF_WINDOW_ROLE_HIT) &&
                  has_role(epoch, BPF_WINDOW_ROLE_MISS);
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    for (uint32_t i = 0; i < counter->values; i++)
      series_name_value(counter, i,
                        add(list, type_of(counter->role, is_cache)));
  }
}

/* ---- Ratios, percentiles ---- */

static void add_rolling(struct list *list, const struct bpf_window_epoch *epoch,
                        const struct series_rolling *rolling) {
  struct histogram histogram;
  for (size_t i = 0; i < rolling->ratios; i++)
    snprintf(add(list, "cache_ratio"), SERIES_NAME_SIZE, "%s",
             rolling->ratio[i].name);
  for (uint32_t c = 0; histogram_next(epoch, &c, &histogram);)
    for (size_t i = 0; i < rolling->percentiles; i++)
      snprintf(add(list, "gauge"), SERIES_NAME_SIZE, "%s-p%g", histogram.name,
               rolling->percentile[i]);
}

/* ---- Names that cannot be ---- */

/* Two values in one series, which writers would refuse or mix: ratios of one name, a
 * percentile twice, an array beside a counter named like one of its values. */
static int check_twice(const struct list *list, const struct series *series,
                       struct failure *failure) {
  for (const struct series *other = list->series; other < series; other++)
    if (strcmp(series->type, other->type) == 0 &&
        strcmp(series->type_instance, other->type_instance) == 0)
      return failure_set(failure, -EINVAL,
                         "two of its values would be %s-%s: give one of them "
                         "another name, or leave it out",
                         series->type, series->type_instance);
  return 0;
}

static int check(const struct list *list, struct failure *failure) {
  int status = 0;
  for (size_t i = 0; status == 0 && i < list->count; i++) {
    const struct series *series = &list->series[i];
    if (strncmp(series->type_instance, SERIES_SELF, strlen(SERIES_SELF)) == 0)
      return failure_set(failure, -EINVAL,
                         "%s-%s: names in \"" SERIES_SELF
                         "\" are the plugin's own; give it another",
                         series->type, series->type_instance);
    status = check_twice(list, series, failure);
  }
  return status;
}

int series_of(const struct bpf_window_epoch *epoch,
              const struct series_rolling *rolling, struct series **series,
              size_t *count, struct failure *failure) {
  size_t most = epoch->values + rolling->ratios +
                (size_t)epoch->counters * rolling->percentiles;
  struct list list = {calloc(most, sizeof(*list.series)), 0};
  if (!list.series)
    return failure_set(failure, -ENOMEM, "out of memory");
  add_totals(&list, epoch);
  add_rolling(&list, epoch, rolling);
  int status = check(&list, failure);
  if (status != 0) {
    free(list.series);
    return status;
  }
  *series = list.series;
  *count = list.count;
  return 0;
}
