/* SPDX-License-Identifier: MIT */
#include "window.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define CURSOR_WORDS (sizeof(struct bpf_window_cursor) / sizeof(uint64_t))

/* ---- Time ---- */

/* The epoch may lie before the boot, below 0 modulo 2^64. */
uint64_t window_age_ns(const struct bpf_window_epoch *epoch, uint64_t mono_ns) {
  int64_t age_ns = (int64_t)(mono_ns - epoch->epoch_ns);
  return age_ns > 0 ? (uint64_t)age_ns : 0;
}

uint64_t window_edge_near(const struct bpf_window_epoch *epoch,
                          uint64_t mono_ns) {
  return (window_age_ns(epoch, mono_ns) + epoch->width_ns / 2) /
         epoch->width_ns;
}

uint64_t window_open_bucket(const struct bpf_window_epoch *epoch,
                            uint64_t mono_ns) {
  return window_age_ns(epoch, mono_ns) / epoch->width_ns;
}

uint64_t window_edge_ns(const struct bpf_window_epoch *epoch, uint64_t edge) {
  return epoch->epoch_ns + edge * epoch->width_ns;
}

uint64_t window_history_start(const struct bpf_window_epoch *epoch,
                              uint64_t mono_ns) {
  uint64_t open = window_open_bucket(epoch, mono_ns);
  return open > WINDOW_HISTORY_BUCKETS ? open - WINDOW_HISTORY_BUCKETS : 0;
}

int window_check_interval(const struct bpf_window_epoch *epoch,
                          uint64_t interval_ns, struct failure *failure) {
  uint64_t most_ns = WINDOW_HISTORY_BUCKETS * epoch->width_ns / 2;
  if (interval_ns % epoch->width_ns == 0 && interval_ns <= most_ns)
    return 0;
  return failure_set(failure, -EINVAL,
                     "an interval of %.6g s does not fit: it must be a whole "
                     "multiple of the bucket width, %.6g s, and at most %.6g s "
                     "(Interval in the LoadPlugin block)",
                     (double)interval_ns / 1e9, (double)epoch->width_ns / 1e9,
                     (double)most_ns / 1e9);
}

uint64_t window_settled_edge(const struct bpf_window_epoch *epoch,
                             uint64_t mono_ns) {
  return mono_ns > WINDOW_SETTLE_NS
             ? window_open_bucket(epoch, mono_ns - WINDOW_SETTLE_NS)
             : 0;
}

/* ---- Sums ---- */

static const uint64_t *bucket_at(const struct window_snapshot *snapshot,
                                 uint32_t slot, uint32_t cpu) {
  return snapshot->buckets +
         ((uint64_t)slot * snapshot->cpus + cpu) * (1 + snapshot->values);
}

static void add_values(uint64_t *restrict sums, const uint64_t *restrict values,
                       uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    sums[i] += values[i];
}

/* Adds the buckets of all CPUs with labels in [from, to), in the order in which
 * they lie in memory: with 256 CPUs they are 4 MiB. */
static void add_buckets(const struct window_snapshot *snapshot, uint64_t from,
                        uint64_t to, uint64_t *sums) {
  const uint32_t values = snapshot->values;
  const uint64_t *bucket = snapshot->buckets;
  for (uint64_t i = (uint64_t)snapshot->slots * snapshot->cpus; i > 0; i--) {
    if (bucket[0] - from < to - from)
      add_values(sums, bucket + 1, values);
    bucket += 1 + values;
  }
}

void window_total_at(const struct window_snapshot *snapshot, uint64_t edge,
                     uint64_t *totals) {
  const uint32_t values = snapshot->values;
  memset(totals, 0, values * sizeof(*totals));
  for (uint32_t cpu = 0; snapshot->cursors && cpu < snapshot->cpus; cpu++)
    add_values(totals,
               snapshot->cursors + cpu * (CURSOR_WORDS + values) + CURSOR_WORDS,
               values);
  add_buckets(snapshot, 0, edge, totals);
}

/* Label 0 is a slot never used, whatever the range; only a window whose epoch
 * is its first event has counts there. */
static bool is_unused(const struct window_snapshot *snapshot,
                      const uint64_t *bucket) {
  for (uint32_t i = 0; i <= snapshot->values; i++)
    if (bucket[i] != 0)
      return false;
  return true;
}

/* Adds one CPU's buckets to the rows. */
static void add_series(const struct window_snapshot *snapshot, uint32_t cpu,
                       uint64_t from, uint64_t to, uint64_t *rows,
                       bool *counted) {
  for (uint32_t slot = 0; slot < snapshot->slots; slot++) {
    const uint64_t *bucket = bucket_at(snapshot, slot, cpu);
    if (bucket[0] < from || bucket[0] >= to || is_unused(snapshot, bucket))
      continue;
    add_values(rows + (bucket[0] - from) * snapshot->values, bucket + 1,
               snapshot->values);
    if (counted)
      counted[bucket[0] - from] = true;
  }
}

static void clear_series(const struct window_snapshot *snapshot, uint64_t from,
                         uint64_t to, uint64_t *rows, bool *counted) {
  memset(rows, 0, (to - from) * snapshot->values * sizeof(*rows));
  if (counted)
    memset(counted, 0, (to - from) * sizeof(*counted));
}

void window_series(const struct window_snapshot *snapshot, uint64_t from,
                   uint64_t to, uint64_t *rows, bool *counted) {
  clear_series(snapshot, from, to, rows, counted);
  for (uint32_t cpu = 0; cpu < snapshot->cpus; cpu++)
    add_series(snapshot, cpu, from, to, rows, counted);
}

void window_series_of_cpu(const struct window_snapshot *snapshot, uint32_t cpu,
                          uint64_t from, uint64_t to, uint64_t *rows,
                          bool *counted) {
  clear_series(snapshot, from, to, rows, counted);
  add_series(snapshot, cpu, from, to, rows, counted);
}

void window_sum(const struct window_snapshot *snapshot, uint64_t from,
                uint64_t to, uint64_t *sums) {
  memset(sums, 0, snapshot->values * sizeof(*sums));
  if (from < to)
    add_buckets(snapshot, from, to, sums);
}

/* ---- Ratios ---- */

static bool has(const uint64_t *bits, uint32_t value) {
  return bits[value / 64] >> (value % 64) & 1;
}

static void set(uint64_t *bits, uint32_t value) {
  bits[value / 64] |= UINT64_C(1) << (value % 64);
}

void window_ratio_add_member(struct window_ratio *ratio, uint32_t value) {
  set(ratio->member, value);
}

void window_ratio_add_base(struct window_ratio *ratio, uint32_t value) {
  set(ratio->base, value);
}

static uint64_t sum_of(const uint64_t *bits, uint32_t values,
                       const uint64_t *sums) {
  uint64_t sum = 0;
  for (uint32_t i = 0; i < values; i++)
    sum += has(bits, i) ? sums[i] : 0;
  return sum;
}

uint64_t window_ratio_base(const struct window_ratio *ratio, uint32_t values,
                           const uint64_t *sums) {
  return sum_of(ratio->base, values, sums);
}

double window_ratio_percent(const struct window_ratio *ratio, uint32_t values,
                            const uint64_t *sums) {
  uint64_t member = sum_of(ratio->member, values, sums);
  uint64_t base = window_ratio_base(ratio, values, sums);
  if (base == 0)
    return NAN;
  return member < base ? 100.0 * (double)member / (double)base : 100.0;
}

/* Calls visit for each value whose field has the role; returns how many. */
static uint32_t for_each_with_role(const struct bpf_window_epoch *epoch,
                                   enum bpf_window_role role,
                                   void (*visit)(struct window_ratio *,
                                                 uint32_t),
                                   struct window_ratio *ratio) {
  uint32_t found = 0, value = 0;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    for (uint32_t i = 0; i < epoch->counter[c].values; i++, value++) {
      if (epoch->counter[c].role != role)
        continue;
      found++;
      if (visit)
        visit(ratio, value);
    }
  }
  return found;
}

bool window_ratio_from_roles(struct window_ratio *ratio,
                             const struct bpf_window_epoch *epoch) {
  memset(ratio, 0, sizeof(*ratio));
  strcpy(ratio->name, "hit");
  if (!for_each_with_role(epoch, BPF_WINDOW_ROLE_HIT, window_ratio_add_member,
                          ratio))
    return false;
  if (for_each_with_role(epoch, BPF_WINDOW_ROLE_TOTAL, window_ratio_add_base,
                         ratio))
    return true;
  for_each_with_role(epoch, BPF_WINDOW_ROLE_HIT, window_ratio_add_base, ratio);
  return for_each_with_role(epoch, BPF_WINDOW_ROLE_MISS, window_ratio_add_base,
                            ratio) > 0;
}

bool window_ledger_drift(const struct bpf_window_epoch *epoch,
                         const uint64_t *sums, int64_t *drift) {
  bool seen[BPF_WINDOW_ROLES] = {false};
  uint32_t value = 0;
  uint64_t difference = 0; /* unsigned: it may wrap and come back */
  for (uint32_t c = 0; c < epoch->counters; c++) {
    uint32_t role = epoch->counter[c].role;
    for (uint32_t i = 0; i < epoch->counter[c].values; i++, value++) {
      if (role == BPF_WINDOW_ROLE_TOTAL)
        difference -= sums[value];
      else if (role == BPF_WINDOW_ROLE_HIT || role == BPF_WINDOW_ROLE_MISS)
        difference += sums[value];
    }
    seen[role] = true;
  }
  *drift = (int64_t)difference;
  return seen[BPF_WINDOW_ROLE_TOTAL] && seen[BPF_WINDOW_ROLE_HIT] &&
         seen[BPF_WINDOW_ROLE_MISS];
}

/* ---- The epoch's record ---- */

/* Whether the name is that of one value of an array, `name_3`. */
static bool is_element(const struct bpf_window_counter *counter,
                       const char *name, uint32_t *element) {
  char text[BPF_WINDOW_NAME_SIZE + 12];
  if (counter->role == BPF_WINDOW_ROLE_LOG2)
    return false;
  for (*element = 0; *element < counter->values; ++*element) {
    snprintf(text, sizeof(text), "%s_%u", counter->name, *element);
    if (counter->values > 1 && strcmp(text, name) == 0)
      return true;
  }
  return false;
}

uint32_t window_values_of(const struct bpf_window_epoch *epoch,
                          const char *name, uint32_t *first) {
  uint32_t value = 0, found = 0, element;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    if (strcmp(counter->name, name) == 0) {
      *first = value;
      return counter->values;
    }
    if (is_element(counter, name, &element)) {
      *first = value + element;
      found = 1; /* unless a counter has that very name */
    }
    value += counter->values;
  }
  return found;
}

void window_counter_names(const struct bpf_window_epoch *epoch, char *names,
                          size_t size) {
  size_t used = 0;
  for (uint32_t c = 0; c < epoch->counters && used < size; c++)
    used += (size_t)snprintf(names + used, size - used, "%s%s", c ? ", " : "",
                             epoch->counter[c].name);
  if (used >= size)
    strcpy(names + size - sizeof("..."), "...");
}

const char *window_epoch_problem(const struct bpf_window_epoch *epoch) {
  if (epoch->format != BPF_WINDOW_FORMAT)
    return "an unknown format (of a newer version?)";
  if (epoch->width_ns == 0)
    return "width of zero: its epoch was never set";
  if (epoch->slots != BPF_WINDOW_SLOTS)
    return "unexpected number of slots";
  if (epoch->counters == 0 || epoch->counters > BPF_WINDOW_MAX_COUNTERS)
    return "impossible number of counters";
  uint64_t values = 0;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    if (counter->name[0] == '\0' ||
        !memchr(counter->name, '\0', sizeof(counter->name)))
      return "a counter without a proper name";
    if (counter->role >= BPF_WINDOW_ROLES)
      return "a counter with an unknown role (of a newer version?)";
    if (counter->values == 0 || counter->values > BPF_WINDOW_MAX_VALUES)
      return "a counter of impossible length";
    if (counter->role == BPF_WINDOW_ROLE_LOG2 &&
        (counter->values < BPF_WINDOW_LOG2_MIN_SLOTS ||
         counter->values > BPF_WINDOW_LOG2_MAX_SLOTS))
      return "a histogram of impossible length";
    values += counter->values;
  }
  if (values != epoch->values || values > BPF_WINDOW_MAX_VALUES)
    return "a wrong sum of counters";
  return NULL;
}
