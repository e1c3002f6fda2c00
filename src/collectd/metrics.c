/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include "utils/common/common.h"

#include "value.h"
#include "window/clock.h"
#include "window/histogram.h"

struct percentile {
  uint32_t first, slots;
  double percent;
};

struct metrics {
  char plugin_instance[DATA_MAX_NAME_LEN];
  uint32_t values;
  struct series *series; /* see series_of */
  size_t count;
  struct window_ratio *ratio;
  size_t ratios;
  struct percentile *percentile;
  size_t percentiles;
  uint64_t rolling_buckets;
};

static void dispatch(const struct metrics *metrics, size_t i, value_t value,
                     cdtime_t time) {
  value_dispatch(metrics->plugin_instance, metrics->series[i].type,
                 metrics->series[i].type_instance, value, time);
}

/* ---- Ratios ---- */

static int add_names(const struct bpf_window_epoch *epoch,
                     const struct config_ratio *config, char **names,
                     size_t count, struct window_ratio *ratio,
                     void (*add)(struct window_ratio *, uint32_t),
                     struct failure *failure) {
  for (size_t i = 0; i < count; i++) {
    uint32_t first;
    uint32_t values = window_values_of(epoch, names[i], &first);
    if (values == 0) {
      char known[400];
      window_counter_names(epoch, known, sizeof(known));
      return failure_set(
          failure, -EINVAL,
          "<Ratio \"%s\">: unknown counter \"%.60s\" (there are: %s)",
          config->name, names[i], known);
    }
    for (uint32_t v = first; v < first + values; v++)
      add(ratio, v);
  }
  return 0;
}

static int set_ratios(struct metrics *metrics,
                      const struct bpf_window_epoch *epoch,
                      const struct config_window *config,
                      struct failure *failure) {
  if (config->ratio_from_roles &&
      window_ratio_from_roles(&metrics->ratio[0], epoch))
    metrics->ratios = 1;
  for (size_t i = 0; i < config->ratios; i++) {
    const struct config_ratio *wanted = &config->ratio[i];
    struct window_ratio *ratio = &metrics->ratio[metrics->ratios++];
    sstrncpy(ratio->name, wanted->name, sizeof(ratio->name));
    int status = add_names(epoch, wanted, wanted->member, wanted->members,
                           ratio, window_ratio_add_member, failure);
    if (status == 0)
      status = add_names(epoch, wanted, wanted->base, wanted->bases, ratio,
                         window_ratio_add_base, failure);
    if (status != 0)
      return status;
  }
  return 0;
}

/* ---- Percentiles ---- */

static void set_percentiles(struct metrics *metrics,
                            const struct bpf_window_epoch *epoch,
                            const struct config_window *config) {
  struct histogram histogram;
  for (uint32_t c = 0; histogram_next(epoch, &c, &histogram);) {
    for (size_t i = 0; i < config->percentiles; i++)
      metrics->percentile[metrics->percentiles++] = (struct percentile){
          histogram.first, histogram.slots, config->percentile[i]};
  }
}

/* ---- All ---- */

static int name_all(struct metrics *metrics,
                    const struct bpf_window_epoch *epoch,
                    const struct config_window *config,
                    struct failure *failure) {
  const struct series_rolling rolling = {
      metrics->ratio, metrics->ratios, config->percentile, config->percentiles};
  return series_of(epoch, &rolling, &metrics->series, &metrics->count, failure);
}

/* Room for the most that it can have. */
static struct metrics *allocate(const struct bpf_window_epoch *epoch,
                                const struct config_window *config) {
  size_t ratios = config->ratios + 1;
  size_t percentiles = epoch->counters * config->percentiles;
  struct metrics *metrics = calloc(1, sizeof(*metrics));
  if (!metrics)
    return NULL;
  metrics->ratio = calloc(ratios, sizeof(*metrics->ratio));
  metrics->percentile = calloc(percentiles + 1, sizeof(*metrics->percentile));
  if (!metrics->ratio || !metrics->percentile)
    metrics_free(&metrics);
  return metrics;
}

int metrics_new(struct metrics **out, const char *plugin_instance,
                const struct bpf_window_epoch *epoch,
                const struct config_window *config, struct failure *failure) {
  struct metrics *metrics = allocate(epoch, config);
  if (!metrics)
    return failure_set(failure, -ENOMEM, "out of memory");
  sstrncpy(metrics->plugin_instance, plugin_instance,
           sizeof(metrics->plugin_instance));
  metrics->rolling_buckets =
      config->ratio_seconds * NS_PER_SECOND / epoch->width_ns;
  if (metrics->rolling_buckets == 0) /* they are longer */
    metrics->rolling_buckets = 1;
  if (metrics->rolling_buckets > WINDOW_HISTORY_BUCKETS)
    metrics->rolling_buckets = WINDOW_HISTORY_BUCKETS;
  metrics->values = epoch->values;
  int status = set_ratios(metrics, epoch, config, failure);
  set_percentiles(metrics, epoch, config);
  if (status == 0)
    status = name_all(metrics, epoch, config, failure);
  if (status != 0)
    metrics_free(&metrics);
  else
    *out = metrics;
  return status;
}

void metrics_free(struct metrics **metrics) {
  if (!*metrics)
    return;
  free((*metrics)->series);
  free((*metrics)->ratio);
  free((*metrics)->percentile);
  free(*metrics);
  *metrics = NULL;
}

uint64_t metrics_rolling_buckets(const struct metrics *metrics) {
  return metrics->rolling_buckets;
}

unsigned metrics_count_totals(const struct metrics *metrics) {
  return metrics->values;
}

unsigned metrics_count_rolling(const struct metrics *metrics) {
  return (unsigned)(metrics->count - metrics->values);
}

void metrics_dispatch_totals(const struct metrics *metrics,
                             const uint64_t *totals, cdtime_t time) {
  for (uint32_t v = 0; v < metrics->values; v++)
    dispatch(metrics, v, (value_t){.derive = (derive_t)totals[v]}, time);
}

void metrics_dispatch_zeroes(const struct metrics *metrics, const bool *fresh,
                             cdtime_t time) {
  for (uint32_t v = 0; v < metrics->values; v++)
    if (fresh[v])
      dispatch(metrics, v, (value_t){.derive = 0}, time);
}

void metrics_dispatch_rolling(const struct metrics *metrics,
                              const uint64_t *sums, cdtime_t time) {
  size_t series = metrics->values;
  for (size_t i = 0; i < metrics->ratios; i++)
    dispatch(metrics, series++,
             (value_t){.gauge = window_ratio_percent(&metrics->ratio[i],
                                                     metrics->values, sums)},
             time);
  for (size_t i = 0; i < metrics->percentiles; i++) {
    const struct percentile *percentile = &metrics->percentile[i];
    dispatch(metrics, series++,
             (value_t){.gauge = histogram_percentile(sums + percentile->first,
                                                     percentile->slots,
                                                     percentile->percent)},
             time);
  }
}
