/* SPDX-License-Identifier: MIT */
/* Percentiles of histograms (H1 to H3), held against a reference that knows no ranks:
 * the distribution function, searched by halving. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "window/histogram.h"

/* ---- The reference ---- */

static double lower(uint32_t slot) { return slot ? pow(2, slot) : 0; }

/* Events not above x, each slot's spread evenly. */
static double events_up_to(const uint64_t *slots, uint32_t count, double x) {
  double events = 0;
  for (uint32_t i = 0; i < count; i++) {
    double part = (x - lower(i)) / (lower(i + 1) - lower(i));
    events += (double)slots[i] * fmin(fmax(part, 0), 1);
  }
  return events;
}

static double reference(const uint64_t *slots, uint32_t count, double percent) {
  double all = events_up_to(slots, count, INFINITY);
  double low = 0, high = lower(count);
  for (int i = 0; i < 200; i++) {
    double middle = (low + high) / 2;
    if (events_up_to(slots, count, middle) >= percent / 100 * all)
      high = middle;
    else
      low = middle;
  }
  return fmin(high, lower(count - 1)); /* H3 */
}

/* ---- The tests ---- */

static void h2_percentiles_are_those_of_an_even_spread(void **state) {
  (void)state;
  srand(1);
  for (int round = 0; round < 20000; round++) {
    uint64_t slots[64] = {0};
    uint32_t count = 2 + (uint32_t)rand() % 40;
    for (int used = 1 + rand() % 6; used; used--)
      slots[(uint32_t)rand() % count] += 1 + (uint64_t)rand() % 100000;
    double percent = 0.1 * (1 + rand() % 1000);
    double value = histogram_percentile(slots, count, percent);
    double wanted = reference(slots, count, percent);
    if (!(fabs(value - wanted) <= 1e-9 * wanted + 1e-9))
      fail_msg("round %d: p%g is %g, not %g", round, percent, value, wanted);
  }
}

static int ascending(const void *a, const void *b) {
  uint64_t one = *(const uint64_t *)a, other = *(const uint64_t *)b;
  return one < other ? -1 : one > other;
}

static void h1_percentiles_are_at_most_a_factor_of_two_off(void **state) {
  (void)state;
  enum { EVENTS = 1000 };
  srand(2);
  for (int round = 0; round < 2000; round++) {
    uint64_t value[EVENTS], slots[30] = {0};
    for (int i = 0; i < EVENTS; i++) {
      value[i] = (uint64_t)rand() >> (rand() % 24 + 7);
      uint32_t slot = 0;
      while (slot < 29 && value[i] >= histogram_from(slot + 1))
        slot++;
      slots[slot]++;
    }
    qsort(value, EVENTS, sizeof(*value), ascending);
    for (int percent = 1; percent <= 100; percent++) {
      double told = histogram_percentile(slots, 30, percent);
      double is = (double)value[percent * EVENTS / 100 - 1];
      if (!(told <= 2 * is + 2 && is <= 2 * told + 2))
        fail_msg("round %d: p%d is %g, told %g", round, percent, is, told);
    }
  }
}

static void figures_by_hand(void **state) {
  (void)state;
  /* 10 in [0,2), 80 in [4,8), 9 in [1024,2048), 1 in the last, from 2048 on. */
  uint64_t slots[12] = {[0] = 10, [2] = 80, [10] = 9, [11] = 1};
  assert_int_equal(histogram_events(slots, 12), 100);
  assert_float_equal(histogram_percentile(slots, 12, 5), 1, 1e-9);
  assert_float_equal(histogram_percentile(slots, 12, 10), 2, 1e-9);
  assert_float_equal(histogram_percentile(slots, 12, 50), 6, 1e-9);
  assert_float_equal(histogram_percentile(slots, 12, 90), 8, 1e-9);
  assert_float_equal(histogram_percentile(slots, 12, 99), 2048, 1e-9);
  assert_float_equal(histogram_percentile(slots, 12, 100), 2048, 1e-9);
}

static void without_events_there_is_no_percentile(void **state) {
  (void)state;
  uint64_t slots[30] = {0};
  assert_true(isnan(histogram_percentile(slots, 30, 50)));
}

static void every_histogram_of_a_record_is_found(void **state) {
  (void)state;
  const struct bpf_window_epoch epoch = {
      .counters = 4,
      .counter = {{"read_us", BPF_WINDOW_ROLE_LOG2, 30},
                  {"sizes", BPF_WINDOW_ROLE_PLAIN, 7},
                  {"calls", BPF_WINDOW_ROLE_TOTAL, 1},
                  {"write_us", BPF_WINDOW_ROLE_LOG2, 20}}};
  struct histogram histogram;
  uint32_t counter = 0;
  assert_true(histogram_next(&epoch, &counter, &histogram));
  assert_string_equal(histogram.name, "read_us");
  assert_int_equal(histogram.first, 0);
  assert_int_equal(histogram.slots, 30);
  assert_true(histogram_next(&epoch, &counter, &histogram));
  assert_string_equal(histogram.name, "write_us");
  assert_int_equal(histogram.first, 38);
  assert_false(histogram_next(&epoch, &counter, &histogram));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(h2_percentiles_are_those_of_an_even_spread),
      cmocka_unit_test(h1_percentiles_are_at_most_a_factor_of_two_off),
      cmocka_unit_test(figures_by_hand),
      cmocka_unit_test(without_events_there_is_no_percentile),
      cmocka_unit_test(every_histogram_of_a_record_is_found),
  };
  return cmocka_run_group_tests_name("histograms", tests, NULL, NULL);
}
