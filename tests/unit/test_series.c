/* SPDX-License-Identifier: MIT */
/* series.h: the names under which collectd has a window's values. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "window/series.h"

static void add(struct bpf_window_epoch *epoch, const char *name, uint32_t role,
                uint32_t values) {
  struct bpf_window_counter *counter = &epoch->counter[epoch->counters++];
  snprintf(counter->name, sizeof(counter->name), "%s", name);
  counter->role = role;
  counter->values = values;
  epoch->values += values;
}

static const struct series_rolling none = {NULL, 0, NULL, 0};

static void expect(const struct bpf_window_epoch *epoch,
                   const struct series_rolling *rolling, const char *wanted) {
  struct series *series = NULL;
  size_t count = 0;
  char names[500] = "";
  assert_int_equal(series_of(epoch, rolling, &series, &count, NULL), 0);
  for (size_t i = 0; i < count; i++)
    snprintf(names + strlen(names), sizeof(names) - strlen(names), "%s-%s ",
             series[i].type, series[i].type_instance);
  assert_string_equal(names, wanted);
  free(series);
}

static void expect_refusal(const struct bpf_window_epoch *epoch,
                           const struct series_rolling *rolling,
                           const char *wanted) {
  struct series *series = NULL;
  size_t count = 0;
  struct failure failure = {""};
  assert_int_equal(series_of(epoch, rolling, &series, &count, &failure),
                   -EINVAL);
  assert_null(series);
  assert_non_null(strstr(failure.text, wanted));
}

static void each_value_has_a_type_and_a_name(void **state) {
  (void)state;
  const struct window_ratio ratios[] = {{.name = "hit"}, {.name = "slow"}};
  const double percentiles[] = {50, 99.9};
  const struct series_rolling rolling = {ratios, 2, percentiles, 2};
  struct bpf_window_epoch cache = {0}, plain = {0};
  add(&cache, "all", BPF_WINDOW_ROLE_TOTAL, 1);
  add(&cache, "hits", BPF_WINDOW_ROLE_HIT, 2);
  add(&cache, "misses", BPF_WINDOW_ROLE_MISS, 1);
  add(&cache, "ns", BPF_WINDOW_ROLE_LOG2, 2);
  expect(&cache, &rolling,
         "cache_operation-all cache_result-hits_0 cache_result-hits_1 "
         "cache_result-misses derive-ns-00_ge_0 derive-ns-01_ge_2 "
         "cache_ratio-hit cache_ratio-slow gauge-ns-p50 gauge-ns-p99.9 ");
  add(&plain, "hits", BPF_WINDOW_ROLE_HIT, 1);
  expect(&plain, &none, "derive-hits ");
}

static void two_of_one_name_are_refused(void **state) {
  (void)state;
  const struct window_ratio ratios[] = {{.name = "x"}, {.name = "x"}};
  const double percentiles[] = {50, 50.0000001};
  const struct series_rolling rolling = {ratios, 2, NULL, 0},
                              percents = {NULL, 0, percentiles, 2};
  struct bpf_window_epoch epoch = {0};
  add(&epoch, "b", BPF_WINDOW_ROLE_PLAIN, 2);
  expect_refusal(&epoch, &rolling, "cache_ratio-x");
  expect(&epoch, &percents, "derive-b_0 derive-b_1 ");
  add(&epoch, "ns", BPF_WINDOW_ROLE_LOG2, 2);
  expect_refusal(&epoch, &percents, "gauge-ns-p50");
  add(&epoch, "b_1", BPF_WINDOW_ROLE_PLAIN, 1);
  expect_refusal(&epoch, &none, "two of its values would be derive-b_1");
}

static void the_plugins_own_names_are_refused(void **state) {
  (void)state;
  const struct window_ratio ratio = {.name = "self_x"};
  const struct series_rolling rolling = {&ratio, 1, NULL, 0};
  struct bpf_window_epoch epoch = {0};
  add(&epoch, "selfless", BPF_WINDOW_ROLE_PLAIN, 1);
  expect(&epoch, &none, "derive-selfless ");
  expect_refusal(&epoch, &rolling, "cache_ratio-self_x: names in \"self_\"");
  add(&epoch, "self_a", BPF_WINDOW_ROLE_PLAIN, 1);
  expect_refusal(&epoch, &none, "derive-self_a: names in \"self_\"");
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(each_value_has_a_type_and_a_name),
      cmocka_unit_test(two_of_one_name_are_refused),
      cmocka_unit_test(the_plugins_own_names_are_refused),
  };
  return cmocka_run_group_tests_name("series", tests, NULL, NULL);
}
