/* SPDX-License-Identifier: MIT */
#include "history_json.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "window/histogram.h"

/* ---- To JSON ---- */

/* jansson's integers are signed; a count never gets that far. */
static json_t *count_json(uint64_t count) {
  return json_integer(count < INT64_MAX ? (json_int_t)count : INT64_MAX);
}

/* What slots begin at: 0 and powers of two. The last is beyond jansson's integers;
 * see history_json_text(). */
static json_t *bound_json(uint64_t bound) {
  return bound <= INT64_MAX ? json_integer((json_int_t)bound)
                            : json_real((double)bound);
}

/* Unix seconds, to the nearest millisecond: a slewed clock moves edges by less. */
static json_t *time_json(int64_t real_ns) {
  int64_t milliseconds = (real_ns + 500000) / 1000000;
  return json_real((double)milliseconds / 1000);
}

static json_t *real_json(double value) {
  return isnan(value) ? json_null() : json_real(value);
}

/* Counts by name; those of an array counter are an array. */
static json_t *counts_json(const struct bpf_window_epoch *epoch,
                           const uint64_t *counts) {
  json_t *object = json_object();
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    json_t *value = counter->values == 1 ? count_json(*counts) : json_array();
    if (counter->values > 1)
      for (uint32_t i = 0; i < counter->values; i++)
        json_array_append_new(value, count_json(counts[i]));
    json_object_set_new(object, counter->name, value);
    counts += counter->values;
  }
  return object;
}

static const char *const role_names[] = {
    [BPF_WINDOW_ROLE_PLAIN] = "plain", [BPF_WINDOW_ROLE_TOTAL] = "total",
    [BPF_WINDOW_ROLE_HIT] = "hit",     [BPF_WINDOW_ROLE_MISS] = "miss",
    [BPF_WINDOW_ROLE_LOG2] = "log2",
};

const char *history_role_name(enum bpf_window_role role) {
  return role_names[role];
}

static json_t *fields_json(const struct bpf_window_epoch *epoch) {
  json_t *fields = json_array();
  for (uint32_t c = 0; c < epoch->counters; c++)
    json_array_append_new(
        fields, json_pack("{s:s, s:s, s:i}", "name", epoch->counter[c].name,
                          "role", history_role_name(epoch->counter[c].role),
                          "values", (int)epoch->counter[c].values));
  return fields;
}

static json_t *ratios_json(const struct bpf_window_epoch *epoch,
                           const uint64_t *sums) {
  json_t *ratios = json_object();
  struct window_ratio ratio;
  if (window_ratio_from_roles(&ratio, epoch))
    json_object_set_new(
        ratios, ratio.name,
        real_json(window_ratio_percent(&ratio, epoch->values, sums)));
  return ratios;
}

/* By the counter's name: the slots' counts are in `counters`. */
static json_t *histograms_json(const struct bpf_window_epoch *epoch,
                               const uint64_t *sums) {
  json_t *histograms = json_object();
  struct histogram histogram;
  for (uint32_t c = 0; histogram_next(epoch, &c, &histogram);) {
    const uint64_t *slots = sums + histogram.first;
    json_t *from = json_array();
    for (uint32_t i = 0; i < histogram.slots; i++)
      json_array_append_new(from, bound_json(histogram_from(i)));
    json_t *object = json_object();
    json_object_set_new(object, "from", from);
    json_object_set_new(object, "events",
                        count_json(histogram_events(slots, histogram.slots)));
    static const int percents[] = {50, 90, 99};
    for (int i = 0; i < 3; i++) {
      char key[8];
      snprintf(key, sizeof(key), "p%d", percents[i]);
      json_object_set_new(
          object, key,
          real_json(histogram_percentile(slots, histogram.slots, percents[i])));
    }
    json_object_set_new(histograms, histogram.name, object);
  }
  return histograms;
}

static json_t *ledger_json(const struct history *history,
                           const uint64_t *sums) {
  int64_t drift;
  if (!window_ledger_drift(&history->epoch, sums, &drift))
    return json_null();
  json_t *ledger = json_object();
  json_object_set_new(
      ledger, "total",
      count_json(history_role_sum(history, BPF_WINDOW_ROLE_TOTAL, sums)));
  json_object_set_new(
      ledger, "hits",
      count_json(history_role_sum(history, BPF_WINDOW_ROLE_HIT, sums)));
  json_object_set_new(
      ledger, "misses",
      count_json(history_role_sum(history, BPF_WINDOW_ROLE_MISS, sums)));
  json_object_set_new(ledger, "drift", json_integer(drift));
  return ledger;
}

static json_t *worst_json(const struct history *history, struct span span) {
  struct history_worst worst = history_worst(history, span);
  json_t *object = json_object();
  if (worst.has_ratio)
    json_object_set_new(
        object, "lowest_hit_ratio",
        json_pack(
            "{s:o, s:o, s:o}", "since",
            time_json(history_edge_real_ns(history, worst.lowest_ratio_bucket)),
            "percent", real_json(worst.lowest_ratio_percent), "events",
            count_json(worst.lowest_ratio_events)));
  if (worst.has_misses)
    json_object_set_new(object, "most_misses",
                        json_pack("{s:o, s:o}", "since",
                                  time_json(history_edge_real_ns(
                                      history, worst.most_misses_bucket)),
                                  "misses", count_json(worst.most_misses)));
  return object;
}

/* A row per bucket, values in the fields' order; null: nothing counted. */
static json_t *rows_json(const struct history *history, struct span span) {
  json_t *rows = json_array();
  for (uint64_t bucket = span.from; bucket < span.to; bucket++) {
    if (!history_counted(history, bucket)) {
      json_array_append_new(rows, json_null());
      continue;
    }
    json_t *row = json_array();
    for (uint32_t i = 0; i < history->epoch.values; i++)
      json_array_append_new(row, count_json(history_row(history, bucket)[i]));
    json_array_append_new(rows, row);
  }
  return rows;
}

json_t *history_to_json(const struct history *history, struct span span) {
  const struct bpf_window_epoch *epoch = &history->epoch;
  uint64_t sums[BPF_WINDOW_MAX_VALUES], totals[BPF_WINDOW_MAX_VALUES];
  history_sum(history, span, sums);
  uint64_t counted = history_counted_buckets(history, span);
  bool has_totals = history_total_at(history, span.to, totals);

  json_t *root = json_object();
  json_object_set_new(root, "format", json_integer(HISTORY_JSON_FORMAT));
  json_object_set_new(root, "window", json_string(history->window));
  json_object_set_new(root, "object",
                      history->object[0] ? json_string(history->object)
                                         : json_null());
  json_object_set_new(root, "since",
                      time_json(history_edge_real_ns(history, span.from)));
  json_object_set_new(root, "until",
                      time_json(history_edge_real_ns(history, span.to)));
  json_object_set_new(root, "utc_offset", json_integer(history->utc_offset_s));
  json_object_set_new(root, "seconds",
                      json_real(history_span_seconds(history, span)));
  json_object_set_new(root, "width_ns", count_json(epoch->width_ns));
  json_object_set_new(root, "cpus", count_json(history->cpus));
  json_object_set_new(root, "fields", fields_json(epoch));
  json_object_set_new(root, "counters", counts_json(epoch, sums));
  json_object_set_new(root, "totals",
                      has_totals ? counts_json(epoch, totals) : json_null());
  json_object_set_new(root, "ratios", ratios_json(epoch, sums));
  json_object_set_new(root, "histograms", histograms_json(epoch, sums));
  json_object_set_new(root, "ledger", ledger_json(history, sums));
  json_object_set_new(root, "buckets_with_data", count_json(counted));
  json_object_set_new(root, "buckets_without_data",
                      count_json(span.to - span.from - counted));
  json_object_set_new(root, "worst", worst_json(history, span));
  json_object_set_new(root, "rows", rows_json(history, span));
  return root;
}

/* So few that 98.77 is not 98.769999999999996; they do not tell the bound 2^63. */
#define REALS JSON_REAL_PRECISION(15)
#define BOUND_IN_15_DIGITS "9.22337203685478e18"
#define BOUND "9223372036854775808.0"

char *history_json_text(const json_t *value, size_t flags) {
  char *dump = json_dumps(value, flags | JSON_ENCODE_ANY | REALS);
  char *text = NULL;
  size_t size;
  FILE *file = dump ? open_memstream(&text, &size) : NULL;
  for (const char *rest = dump; file && rest;) {
    const char *at = strstr(rest, BOUND_IN_15_DIGITS);
    fprintf(file, "%.*s%s", at ? (int)(at - rest) : INT_MAX, rest,
            at ? BOUND : "");
    rest = at ? at + strlen(BOUND_IN_15_DIGITS) : NULL;
  }
  if (file)
    fclose(file);
  free(dump);
  return text;
}

void history_json_print(const json_t *root, FILE *file) {
  const char *key, *separator = "{";
  json_t *value;
  json_object_foreach((json_t *)root, key, value) {
    char *text = history_json_text(value, 0);
    fprintf(file, "%s\n\"%s\": %s", separator, key, text ? text : "null");
    free(text);
    separator = ",";
  }
  fputs("\n}\n", file);
}
