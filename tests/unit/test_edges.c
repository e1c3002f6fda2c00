/* SPDX-License-Identifier: MIT */
/* The clauses of edges.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "collectd/edges.h"

#define SECOND UINT64_C(1000000000)
#define INTERVAL (10 * SECOND)
/* The wall clock when CLOCK_MONOTONIC was 0: a multiple of the interval. */
#define BOOT (1700000000 * SECOND)
/* Loaded 1003.4 s after boot: the epoch is the whole second before, less a
 * width. */
#define LOADED (1003 * SECOND + 400000000)

static struct bpf_window_epoch epoch = {.epoch_ns = 1002 * SECOND,
                                        .width_ns = SECOND};

static struct clock_pair at(double mono_s) {
  uint64_t mono_ns = (uint64_t)(mono_s * 1e9);
  return (struct clock_pair){.wall_ns = BOOT + mono_ns, .mono_ns = mono_ns};
}

static struct pins_edge sent(double mono_s) {
  struct clock_pair now = at(mono_s);
  return (struct pins_edge){.wall_ns = now.wall_ns,
                            .edge = edges_in_window(&epoch, &now, now.wall_ns)};
}

static const struct pins_edge never;

static void the_first_edge_is_one_where_all_totals_are_zero(void **state) {
  (void)state;
  struct clock_pair now = at(1003.5);
  struct edges due = edges_due(&epoch, &now, INTERVAL, &never);
  assert_int_equal(due.count, 1);
  assert_int_equal(due.first_ns, BOOT + 1000 * SECOND);
  assert_int_equal(edges_in_window(&epoch, &now, due.first_ns), 0);
  assert_int_equal(due.lost_ns, 0);
}

static void normally_one_edge_is_due_once_it_is_settled(void **state) {
  (void)state;
  struct pins_edge last = sent(1000);
  struct clock_pair now = at(1010.05);
  assert_int_equal(edges_due(&epoch, &now, INTERVAL, &last).count, 0);
  now = at(1010.1);
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.count, 1);
  assert_int_equal(due.first_ns, BOOT + 1010 * SECOND);
  assert_int_equal(edges_in_window(&epoch, &now, due.first_ns), 8);
}

static void a_late_read_makes_up_for_the_edges_it_missed(void **state) {
  (void)state;
  struct pins_edge last = sent(1010);
  struct clock_pair now = at(1045);
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.count, 3);
  assert_int_equal(due.first_ns, BOOT + 1020 * SECOND);
  assert_int_equal(due.lost_ns, 0);
}

static void e2_only_edges_that_the_ring_still_tells(void **state) {
  (void)state;
  struct pins_edge last = sent(1010);
  struct clock_pair now = at(2000.5);
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.first_ns, BOOT + 1710 * SECOND);
  assert_int_equal(due.count, 30);
  assert_int_equal(due.lost_ns, 700 * SECOND);
}

static void e3_a_short_gap_is_widened_past_two_intervals(void **state) {
  (void)state;
  /* The ring begins at 1702; the last edge is 1690: the next told one, 1710,
   * would be averaged over the unknown 20 seconds. */
  struct pins_edge last = sent(1690);
  struct clock_pair now = at(2000.5);
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.first_ns, BOOT + 1720 * SECOND);
  assert_int_equal(due.lost_ns, 30 * SECOND);
}

static void e1_a_wall_clock_set_back_dispatches_nothing_twice(void **state) {
  (void)state;
  struct pins_edge last = sent(1100);
  struct clock_pair now = at(1110.5);
  now.wall_ns -= 3600 * SECOND;
  assert_int_equal(edges_due(&epoch, &now, INTERVAL, &last).count, 0);
}

/* An hour of counts must not look like those of one interval. */
static void e3_after_a_step_back_the_gap_stays_unknown(void **state) {
  (void)state;
  struct pins_edge last = sent(1100);
  struct clock_pair now = at(1100 + 3600 + 29.9);
  now.wall_ns -= 3600 * SECOND;
  assert_int_equal(edges_due(&epoch, &now, INTERVAL, &last).count, 0);
  assert_int_equal(edges_due(&epoch, &now, INTERVAL, &last).lost_ns, 0);
  now.wall_ns += SECOND / 2;
  now.mono_ns += SECOND / 2;
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.count, 1);
  assert_int_equal(due.first_ns, last.wall_ns + 3 * INTERVAL);
  assert_int_equal(due.lost_ns, 3630 * SECOND);
}

/* E1: edges are multiples of the interval as it is now, whatever it was. */
static void
after_a_change_of_the_interval_edges_are_its_multiples(void **state) {
  (void)state;
  const uint64_t intervals[] = {2 * SECOND, 7 * SECOND, 60 * SECOND};
  for (size_t i = 0; i < sizeof(intervals) / sizeof(*intervals); i++) {
    for (int ago_s = 10; ago_s <= 400; ago_s += 10) {
      struct pins_edge last = sent(2000 - ago_s);
      struct clock_pair now = at(2000.5);
      struct edges due = edges_due(&epoch, &now, intervals[i], &last);
      assert_int_equal(due.first_ns % intervals[i], 0);
      assert_true(due.first_ns > last.wall_ns);
      assert_true(due.lost_ns == 0 ||
                  due.first_ns > last.wall_ns + 2 * intervals[i]);
    }
  }
}

/* Up to an interval the writers bridge: the rate is off, the sum is right. */
static void a_small_step_leaves_no_gap(void **state) {
  (void)state;
  struct pins_edge last = sent(1100);
  for (int64_t step_s = -10; step_s <= 10; step_s++) {
    struct clock_pair now = at((double)(1120 - step_s) + 0.5);
    now.wall_ns += (uint64_t)step_s * SECOND;
    struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
    assert_in_range(due.count, 1, 2);
    assert_int_equal(due.lost_ns, 0);
    assert_true(due.first_ns <= last.wall_ns + 2 * INTERVAL);
  }
}

static void
e1_a_wall_clock_set_forward_never_lets_totals_go_back(void **state) {
  (void)state;
  struct pins_edge last = sent(1100);
  struct clock_pair now = at(1110.5);
  now.wall_ns += 3600 * SECOND;
  struct edges due = edges_due(&epoch, &now, INTERVAL, &last);
  assert_int_equal(due.count, 2);
  assert_true(edges_in_window(&epoch, &now, due.first_ns) >= last.edge);
  assert_true(edges_in_window(&epoch, &now, due.first_ns - INTERVAL) <
              last.edge);
  assert_int_equal(due.lost_ns, 3600 * SECOND);
}

/* The epoch itself at an edge, and the clocks a little apart from read to read. */
static void clocks_that_drift_between_reads_lose_no_edge(void **state) {
  (void)state;
  const struct bpf_window_epoch even = {.epoch_ns = 1000 * SECOND,
                                        .width_ns = SECOND};
  const int64_t drift_ns[] = {-1000000, -1, 0, 1, 1000000};
  const size_t drifts = sizeof(drift_ns) / sizeof(*drift_ns);
  for (size_t i = 0; i < drifts * drifts; i++) {
    struct clock_pair now = at(1001.5);
    now.wall_ns += (uint64_t)drift_ns[i / drifts];
    struct edges first = edges_due(&even, &now, INTERVAL, &never);
    assert_int_equal(first.first_ns, BOOT + 1000 * SECOND);
    assert_int_equal(first.count, 1);
    assert_int_equal(edges_in_window(&even, &now, first.first_ns), 0);

    const struct pins_edge last = {.wall_ns = first.first_ns, .edge = 0};
    now = at(1011.5);
    now.wall_ns += (uint64_t)drift_ns[i % drifts];
    struct edges next = edges_due(&even, &now, INTERVAL, &last);
    assert_int_equal(next.first_ns, BOOT + 1010 * SECOND);
    assert_int_equal(next.count, 1);
    assert_int_equal(next.lost_ns, 0);
    assert_int_equal(edges_in_window(&even, &now, next.first_ns), 10);
  }
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(the_first_edge_is_one_where_all_totals_are_zero),
      cmocka_unit_test(normally_one_edge_is_due_once_it_is_settled),
      cmocka_unit_test(a_late_read_makes_up_for_the_edges_it_missed),
      cmocka_unit_test(e2_only_edges_that_the_ring_still_tells),
      cmocka_unit_test(e3_a_short_gap_is_widened_past_two_intervals),
      cmocka_unit_test(e1_a_wall_clock_set_back_dispatches_nothing_twice),
      cmocka_unit_test(e3_after_a_step_back_the_gap_stays_unknown),
      cmocka_unit_test(after_a_change_of_the_interval_edges_are_its_multiples),
      cmocka_unit_test(a_small_step_leaves_no_gap),
      cmocka_unit_test(e1_a_wall_clock_set_forward_never_lets_totals_go_back),
      cmocka_unit_test(clocks_that_drift_between_reads_lose_no_edge),
  };
  return cmocka_run_group_tests_name("edges", tests, NULL, NULL);
}
