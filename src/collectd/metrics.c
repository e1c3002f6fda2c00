/* SPDX-License-Identifier: MIT */
#include "metrics.h"

#include "utils/common/common.h"

#include "value.h"
#include "window/clock.h"
#include "window/histogram.h"

struct metric {
  const char *type;
  char type_instance[DATA_MAX_NAME_LEN];
};

struct percentile {
  char type_instance[DATA_MAX_NAME_LEN];
  uint32_t first, slots;
  double percent;
};

struct metrics {
  char plugin_instance[DATA_MAX_NAME_LEN];
  uint32_t values;
  struct metric *total; /* one per value of the bucket */
  struct window_ratio *ratio;
  size_t ratios;
  struct percentile *percentile;
  size_t percentiles;
  uint64_t rolling_buckets;
};

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
static void name_value(const struct bpf_window_counter *counter, uint32_t i,
                       char name[DATA_MAX_NAME_LEN]) {
  if (counter->role == BPF_WINDOW_ROLE_LOG2)
    ssnprintf(name, DATA_MAX_NAME_LEN, "%s-%02u_ge_%" PRIu64, counter->name, i,
              histogram_from(i));
  else if (counter->values == 1)
    sstrncpy(name, counter->name, DATA_MAX_NAME_LEN);
  else
    ssnprintf(name, DATA_MAX_NAME_LEN, "%s_%u", counter->name, i);
}

static int set_totals(struct metrics *metrics,
                      const struct bpf_window_epoch *epoch) {
  bool is_cache = has_role(epoch, BPF_WINDOW_ROLE_HIT) &&
                  has_role(epoch, BPF_WINDOW_ROLE_MISS);
  metrics->values = epoch->values;
  metrics->total = calloc(epoch->values, sizeof(*metrics->total));
  struct metric *total = metrics->total;
  for (uint32_t c = 0; total && c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    for (uint32_t i = 0; i < counter->values; i++, total++) {
      total->type = type_of(counter->role, is_cache);
      name_value(counter, i, total->type_instance);
    }
  }
  return metrics->total ? 0 : -ENOMEM;
}

/* ---- Ratios ---- */

static int add_names(const struct bpf_window_epoch *epoch,
                     const struct config_ratio *config, char **names,
                     size_t count, struct window_ratio *ratio,
                     void (*add)(struct window_ratio *, uint32_t),
                     struct failure *failure) {
  for (size_t i = 0; i < count; i++) {
    int value = window_value_of(epoch, names[i]);
    if (value < 0) {
      char known[256] = "";
      for (uint32_t c = 0; c < epoch->counters; c++) {
        size_t used = strlen(known);
        ssnprintf(known + used, sizeof(known) - used, "%s%s", c ? ", " : "",
                  epoch->counter[c].name);
      }
      return failure_set(
          failure, -EINVAL,
          "<Ratio \"%s\">: unknown counter \"%s\" (there are: %s)",
          config->name, names[i], known);
    }
    add(ratio, (uint32_t)value);
  }
  return 0;
}

static int set_ratios(struct metrics *metrics,
                      const struct bpf_window_epoch *epoch,
                      const struct config_window *config,
                      struct failure *failure) {
  metrics->ratio = calloc(config->ratios + 1, sizeof(*metrics->ratio));
  if (!metrics->ratio)
    return failure_set(failure, -ENOMEM, "out of memory");
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

static int set_percentiles(struct metrics *metrics,
                           const struct bpf_window_epoch *epoch,
                           const struct config_window *config) {
  struct histogram histogram;
  metrics->percentile = calloc(epoch->counters * config->percentiles + 1,
                               sizeof(*metrics->percentile));
  if (!metrics->percentile)
    return -ENOMEM;
  for (uint32_t c = 0; histogram_next(epoch, &c, &histogram);) {
    for (size_t i = 0; i < config->percentiles; i++) {
      struct percentile *percentile =
          &metrics->percentile[metrics->percentiles++];
      percentile->first = histogram.first;
      percentile->slots = histogram.slots;
      percentile->percent = config->percentile[i];
      ssnprintf(percentile->type_instance, sizeof(percentile->type_instance),
                "%s-p%g", histogram.name, percentile->percent);
    }
  }
  return 0;
}

/* ---- All ---- */

static int check_names(const struct bpf_window_epoch *epoch,
                       struct failure *failure) {
  for (uint32_t c = 0; c < epoch->counters; c++)
    if (strncmp(epoch->counter[c].name, VALUE_SELF, strlen(VALUE_SELF)) == 0)
      return failure_set(failure, -EINVAL,
                         "counter %s: names in \"" VALUE_SELF
                         "\" are the plugin's own; give it another",
                         epoch->counter[c].name);
  return 0;
}

int metrics_new(struct metrics **out, const char *plugin_instance,
                const struct bpf_window_epoch *epoch,
                const struct config_window *config, struct failure *failure) {
  int status = check_names(epoch, failure);
  if (status != 0)
    return status;
  struct metrics *metrics = calloc(1, sizeof(*metrics));
  if (!metrics)
    return failure_set(failure, -ENOMEM, "out of memory");
  sstrncpy(metrics->plugin_instance, plugin_instance,
           sizeof(metrics->plugin_instance));
  metrics->rolling_buckets =
      config->ratio_seconds * NS_PER_SECOND / epoch->width_ns;
  if (metrics->rolling_buckets > WINDOW_HISTORY_BUCKETS)
    metrics->rolling_buckets = WINDOW_HISTORY_BUCKETS;
  if (set_totals(metrics, epoch) != 0 ||
      set_percentiles(metrics, epoch, config) != 0)
    status = failure_set(failure, -ENOMEM, "out of memory");
  if (status == 0)
    status = set_ratios(metrics, epoch, config, failure);
  if (status != 0)
    metrics_free(&metrics);
  else
    *out = metrics;
  return status;
}

void metrics_free(struct metrics **metrics) {
  if (!*metrics)
    return;
  free((*metrics)->total);
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
  return (unsigned)(metrics->ratios + metrics->percentiles);
}

void metrics_dispatch_totals(const struct metrics *metrics,
                             const uint64_t *totals, cdtime_t time) {
  for (uint32_t v = 0; v < metrics->values; v++)
    value_dispatch(metrics->plugin_instance, metrics->total[v].type,
                   metrics->total[v].type_instance,
                   (value_t){.derive = (derive_t)totals[v]}, time);
}

void metrics_dispatch_zeroes(const struct metrics *metrics, const bool *fresh,
                             cdtime_t time) {
  for (uint32_t v = 0; v < metrics->values; v++)
    if (fresh[v])
      value_dispatch(metrics->plugin_instance, metrics->total[v].type,
                     metrics->total[v].type_instance, (value_t){.derive = 0},
                     time);
}

void metrics_dispatch_rolling(const struct metrics *metrics,
                              const uint64_t *sums, cdtime_t time) {
  for (size_t i = 0; i < metrics->ratios; i++)
    value_dispatch(metrics->plugin_instance, "cache_ratio",
                   metrics->ratio[i].name,
                   (value_t){.gauge = window_ratio_percent(
                                 &metrics->ratio[i], metrics->values, sums)},
                   time);
  for (size_t i = 0; i < metrics->percentiles; i++) {
    const struct percentile *percentile = &metrics->percentile[i];
    value_dispatch(metrics->plugin_instance, "gauge", percentile->type_instance,
                   (value_t){.gauge = histogram_percentile(
                                 sums + percentile->first, percentile->slots,
                                 percentile->percent)},
                   time);
  }
}
