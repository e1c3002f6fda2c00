/* SPDX-License-Identifier: MIT */
/* The clauses of window.h, one by one; test_ring_model.c holds them together. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "window/window.h"

#define SECOND BPF_WINDOW_WIDTH_NS
#define EPOCH_NS (1000 * SECOND)

static struct bpf_window_epoch cache_epoch(void) {
  struct bpf_window_epoch epoch = {
      .epoch_ns = EPOCH_NS,
      .width_ns = SECOND,
      .tick_ns = 1,
      .format = BPF_WINDOW_FORMAT,
      .slots = BPF_WINDOW_SLOTS,
      .counters = 4,
      .values = 4,
      .counter = {{"lookups", BPF_WINDOW_ROLE_TOTAL, 1},
                  {"hits", BPF_WINDOW_ROLE_HIT, 1},
                  {"misses", BPF_WINDOW_ROLE_MISS, 1},
                  {"fills", BPF_WINDOW_ROLE_PLAIN, 1}}};
  return epoch;
}

static void edges_are_nearest_so_that_slewing_moves_none(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  assert_int_equal(window_edge_near(&epoch, EPOCH_NS + 7 * SECOND), 7);
  assert_int_equal(window_edge_near(&epoch, EPOCH_NS + 7 * SECOND - 3000), 7);
  assert_int_equal(window_edge_near(&epoch, EPOCH_NS + 7 * SECOND + 3000), 7);
  assert_int_equal(window_edge_near(&epoch, EPOCH_NS - SECOND), 0);
  assert_int_equal(window_edge_ns(&epoch, 7), EPOCH_NS + 7 * SECOND);
}

/* A wide bucket, begun before the machine was. */
static void an_epoch_may_lie_before_the_boot(void **state) {
  (void)state;
  const struct bpf_window_epoch epoch = {.epoch_ns = 25 * SECOND - 97 * SECOND,
                                         .width_ns = 60 * SECOND};
  assert_int_equal(window_age_ns(&epoch, 25 * SECOND), 97 * SECOND);
  assert_int_equal(window_open_bucket(&epoch, 25 * SECOND), 1);
  assert_int_equal(window_edge_near(&epoch, 48 * SECOND), 2);
  assert_int_equal(window_edge_ns(&epoch, 2), 48 * SECOND);
  assert_int_equal(window_age_ns(&epoch, 0), 72 * SECOND);
}

static void w4_history_is_298_buckets(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  assert_int_equal(window_history_start(&epoch, EPOCH_NS + 298 * SECOND), 0);
  assert_int_equal(window_history_start(&epoch, EPOCH_NS + 299 * SECOND), 1);
}

static void an_edge_is_settled_100_ms_after_it(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  uint64_t edge_ns = EPOCH_NS + 5 * SECOND;
  assert_int_equal(window_settled_edge(&epoch, edge_ns + WINDOW_SETTLE_NS), 5);
  assert_int_equal(window_settled_edge(&epoch, edge_ns + WINDOW_SETTLE_NS - 1),
                   4);
}

static uint64_t buckets[BPF_WINDOW_SLOTS][2][2]; /* two CPUs, one counter */
static uint64_t cursors[2][3];

static struct window_snapshot two_cpus(void) {
  memset(buckets, 0, sizeof(buckets));
  memset(cursors, 0, sizeof(cursors));
  return (struct window_snapshot){.slots = BPF_WINDOW_SLOTS,
                                  .cpus = 2,
                                  .values = 1,
                                  .buckets = (uint64_t *)buckets,
                                  .cursors = (uint64_t *)cursors};
}

static void put(int cpu, uint64_t label, uint64_t count) {
  buckets[label % BPF_WINDOW_SLOTS][cpu][0] = label;
  buckets[label % BPF_WINDOW_SLOTS][cpu][1] = count;
}

static void
w1_totals_count_retired_and_every_label_before_the_edge(void **state) {
  (void)state;
  struct window_snapshot snapshot = two_cpus();
  uint64_t total;
  put(0, 400, 5);
  put(0, 401, 7);
  put(1, 90, 11); /* idle since an earlier lap */
  cursors[0][2] = 100;
  cursors[1][2] = 1000;
  window_total_at(&snapshot, 401, &total);
  assert_int_equal(total, 1000 + 100 + 11 + 5);
  window_total_at(&snapshot, 402, &total);
  assert_int_equal(total, 1000 + 100 + 11 + 5 + 7);
}

static void w3_sums_leave_out_an_earlier_lap(void **state) {
  (void)state;
  struct window_snapshot snapshot = two_cpus();
  uint64_t sum, rows[298];
  bool counted[298];
  put(0, 347, 5);
  put(1, 47, 11); /* the same slot, a lap ago */
  window_sum(&snapshot, 300, 348, &sum);
  assert_int_equal(sum, 5);
  window_series(&snapshot, 300, 348, rows, counted);
  assert_int_equal(rows[47], 5);
  assert_true(counted[47]);
  assert_int_equal(rows[46], 0);
  assert_false(counted[46]);
  window_series_of_cpu(&snapshot, 1, 300, 348, rows, counted);
  assert_int_equal(rows[47], 0);
}

static void a_window_without_cursor_has_no_retired_counts(void **state) {
  (void)state;
  struct window_snapshot snapshot = two_cpus();
  uint64_t total;
  put(0, 400, 5);
  snapshot.cursors = NULL;
  window_total_at(&snapshot, 401, &total);
  assert_int_equal(total, 5);
}

static void the_ratio_from_roles_is_hits_over_totals(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  struct window_ratio ratio;
  uint64_t sums[] = {200, 150, 50, 9};
  assert_true(window_ratio_from_roles(&ratio, &epoch));
  assert_string_equal(ratio.name, "hit");
  assert_true(window_ratio_percent(&ratio, 4, sums) == 75.0);
  uint64_t none[] = {0, 0, 0, 0};
  assert_true(isnan(window_ratio_percent(&ratio, 4, none)));
  uint64_t torn[] = {10, 11, 0, 0};
  assert_true(window_ratio_percent(&ratio, 4, torn) == 100.0);
}

static void without_a_total_the_base_is_hits_and_misses(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  struct window_ratio ratio;
  uint64_t sums[] = {0, 30, 10, 0};
  epoch.counter[0].role = BPF_WINDOW_ROLE_PLAIN;
  assert_true(window_ratio_from_roles(&ratio, &epoch));
  assert_true(window_ratio_percent(&ratio, 4, sums) == 75.0);
  epoch.counter[1].role = BPF_WINDOW_ROLE_PLAIN;
  assert_false(window_ratio_from_roles(&ratio, &epoch));
}

static void
the_ledger_balances_when_hits_and_misses_are_the_total(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  int64_t drift;
  uint64_t balanced[] = {200, 150, 50, 0}, short_of_one[] = {200, 150, 49, 0};
  assert_true(window_ledger_drift(&epoch, balanced, &drift));
  assert_int_equal(drift, 0);
  assert_true(window_ledger_drift(&epoch, short_of_one, &drift));
  assert_int_equal(drift, -1);
  epoch.counter[2].role = BPF_WINDOW_ROLE_PLAIN;
  assert_false(window_ledger_drift(&epoch, balanced, &drift));
}

static void values_are_found_by_the_counters_name(void **state) {
  (void)state;
  struct bpf_window_epoch epoch = cache_epoch();
  epoch.counter[1].values = 16;
  epoch.values = 19;
  const struct {
    const char *name;
    uint32_t first, values;
  } known[] = {{"lookups", 0, 1},  {"hits", 1, 16},   {"hits_0", 1, 1},
               {"hits_15", 16, 1}, {"misses", 17, 1}, {"fills", 18, 1}};
  const char *const unknown[] = {"nonsense", "hits_16",  "hits_",
                                 "hits_01",  "misses_0", ""};
  uint32_t first;
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
    assert_int_equal(window_values_of(&epoch, known[i].name, &first),
                     known[i].values);
    assert_int_equal(first, known[i].first);
  }
  for (size_t i = 0; i < sizeof(unknown) / sizeof(*unknown); i++)
    assert_int_equal(window_values_of(&epoch, unknown[i], &first), 0);
  strcpy(epoch.counter[3].name, "hits_3"); /* rather than one of an array */
  assert_int_equal(window_values_of(&epoch, "hits_3", &first), 1);
  assert_int_equal(first, 18);
}

static void names_that_do_not_fit_are_cut(void **state) {
  (void)state;
  const struct bpf_window_epoch epoch = cache_epoch();
  char all[] = "lookups, hits, misses, fills", names[sizeof(all)];
  window_counter_names(&epoch, names, sizeof(names));
  assert_string_equal(names, all);
  window_counter_names(&epoch, names, sizeof(all) - 1);
  assert_string_equal(names, "lookups, hits, misses, f...");
  window_counter_names(&epoch, names, 5);
  assert_string_equal(names, "l...");
}

static void a_record_is_checked_before_it_is_believed(void **state) {
  (void)state;
  struct bpf_window_epoch good = cache_epoch(), bad;
  assert_null(window_epoch_problem(&good));
#define REFUSED(change)                                                        \
  do {                                                                         \
    bad = good;                                                                \
    change;                                                                    \
    assert_non_null(window_epoch_problem(&bad));                               \
  } while (0)
  REFUSED(bad.format = 2);
  REFUSED(bad.width_ns = 0);
  REFUSED(bad.slots = 299);
  REFUSED(bad.counters = 0);
  REFUSED(bad.counters = BPF_WINDOW_MAX_COUNTERS + 1);
  REFUSED(bad.values = 5);
  REFUSED(bad.counter[0].values = 0);
  REFUSED(bad.counter[0].values = UINT32_MAX);
  REFUSED(bad.counter[0].role = 4);
  REFUSED(bad.counter[0].name[0] = '\0');
  REFUSED(memset(bad.counter[0].name, 'x', sizeof(bad.counter[0].name)));
#undef REFUSED
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(edges_are_nearest_so_that_slewing_moves_none),
      cmocka_unit_test(an_epoch_may_lie_before_the_boot),
      cmocka_unit_test(w4_history_is_298_buckets),
      cmocka_unit_test(an_edge_is_settled_100_ms_after_it),
      cmocka_unit_test(w1_totals_count_retired_and_every_label_before_the_edge),
      cmocka_unit_test(w3_sums_leave_out_an_earlier_lap),
      cmocka_unit_test(a_window_without_cursor_has_no_retired_counts),
      cmocka_unit_test(the_ratio_from_roles_is_hits_over_totals),
      cmocka_unit_test(without_a_total_the_base_is_hits_and_misses),
      cmocka_unit_test(the_ledger_balances_when_hits_and_misses_are_the_total),
      cmocka_unit_test(values_are_found_by_the_counters_name),
      cmocka_unit_test(names_that_do_not_fit_are_cut),
      cmocka_unit_test(a_record_is_checked_before_it_is_believed),
  };
  return cmocka_run_group_tests_name("window", tests, NULL, NULL);
}
