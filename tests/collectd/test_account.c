/* SPDX-License-Identifier: MIT */
/*
 * Clause A5 of account.h: a window without a cursor, whose slots are used again between
 * two readings. The maps are real, the clocks and the events are the test's. And A4 of
 * an array.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf_window/setup.h>
#include <cmocka.h>

#include "../bpf/place.h"
#include "collectd/account.h"

#define EPOCH_NS UINT64_C(1000000000000)
#define WALL_BEFORE_NS                                                         \
  UINT64_C(1700000000000000000) /* ahead of the monotonic */
#define INTERVAL 10             /* seconds */
#define VALUES 6                /* of plain.bpf.c */
#define MAX_CPUS 1024

static char pin[128];
static struct bpf_object *object;
static int ring_fd, state_fd, cpus;
static struct account *account;
static struct failure failure;

/* ---- The agent ---- */

static void make_agent(void) {
  uint32_t zero = 0;
  uint64_t epoch_ns = EPOCH_NS;
  object = bpf_object__open(place_object("tests/cli/plain"));
  assert_non_null(object);
  assert_int_equal(bpf_object__load(object), 0);
  ring_fd = bpf_object__find_map_fd_by_name(object, "stats_map");
  int epoch_fd = bpf_object__find_map_fd_by_name(object, "epoch_map");
  assert_int_equal(bpf_map_update_elem(epoch_fd, &zero, &epoch_ns, BPF_ANY), 0);
  assert_int_equal(bpf_obj_pin(ring_fd, pin), 0);
}

static void end_agent(void) {
  unlink(pin);
  bpf_object__close(object);
  object = NULL;
}

/* Counts as plain.bpf.c does: a bucket with another label is cleared first. */
static void count(int cpu, uint64_t second, uint64_t events) {
  static uint64_t value[MAX_CPUS][1 + VALUES];
  uint32_t slot = second % BPF_WINDOW_SLOTS;
  assert_int_equal(bpf_map_lookup_elem(ring_fd, &slot, value), 0);
  if (value[cpu][0] != second) {
    memset(value[cpu], 0, sizeof(value[cpu]));
    value[cpu][0] = second;
  }
  value[cpu][1] += events;
  assert_int_equal(bpf_map_update_elem(ring_fd, &slot, value, BPF_ANY), 0);
}

/* An event in each second from first up to, but without, end, on the CPU whose
 * turn it is. */
static void count_each(uint64_t first, uint64_t end) {
  for (uint64_t second = first; second < end; second++)
    count((int)(second % (uint64_t)cpus), second, 1);
}

/* ---- The plugin ---- */

static struct clock_pair now_at(uint64_t second) {
  uint64_t mono_ns = EPOCH_NS + second * NS_PER_SECOND + NS_PER_SECOND / 2;
  return (struct clock_pair){WALL_BEFORE_NS + mono_ns, mono_ns};
}

static void start(void) {
  assert_int_equal(account_watch(&account, pin, state_fd, &failure), 0);
}

static void restart(void) {
  account_free(&account);
  start();
}

struct reading {
  uint64_t total, edges, lost_seconds;
};

/* What feed.c does at an interval: all edges that are due, each once. The total
 * never falls. */
static struct reading read_at(uint64_t second) {
  struct clock_pair now = now_at(second);
  struct pins_edge last;
  uint64_t totals[VALUES], before = 0;
  enum account_news news;
  assert_int_equal(account_follow(account, &now, &news, &failure), 0);
  assert_int_equal(account_take(account, &failure), 0);
  assert_int_equal(account_last(account, &last, &failure), 0);
  struct edges due =
      account_due(account, &now, INTERVAL * NS_PER_SECOND, &last);
  for (uint64_t i = 0; i < due.count; i++) {
    struct pins_edge edge = {.wall_ns =
                                 due.first_ns + i * INTERVAL * NS_PER_SECOND};
    account_total_at(account, &now, edge.wall_ns, totals);
    assert_true(totals[0] >= before);
    before = totals[0];
    assert_int_equal(account_keep(account, &now, &edge, totals, &failure), 0);
  }
  return (struct reading){before, due.count, due.lost_ns / NS_PER_SECOND};
}

static int set_up(void **state) {
  (void)state;
  cpus = libbpf_num_possible_cpus();
  assert_in_range(cpus, 1, MAX_CPUS);
  state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", sizeof(uint32_t),
                            sizeof(struct pins_watch), 1, NULL);
  assert_true(state_fd >= 0);
  make_agent();
  start();
  return 0;
}

static int tear_down(void **state) {
  (void)state;
  account_free(&account);
  if (object)
    end_agent();
  close(state_fd);
  return 0;
}

/* ---- A5 ---- */

static void it_begins_with_the_oldest_second_that_the_ring_has(void **state) {
  (void)state;
  count_each(1, 1000);
  assert_int_equal(read_at(1000).total, BPF_WINDOW_SLOTS);
  count_each(1000, 1010); /* over the oldest ten of them */
  assert_int_equal(read_at(1010).total, BPF_WINDOW_SLOTS + 10);
}

static void slots_used_again_while_it_is_read_lose_nothing(void **state) {
  (void)state;
  count_each(1, 10);
  assert_int_equal(read_at(10).total, 9);
  for (uint64_t second = 20; second <= 1500; second += INTERVAL) {
    count_each(second - INTERVAL, second);
    struct reading reading = read_at(second);
    assert_int_equal(reading.edges, 1);
    assert_int_equal(reading.total, second - 1);
  }
}

/* Up to an outage the first 99 events are dispatched; the hundredth is behind that
 * edge. Then nobody reads for 400 seconds: all slots are used again. The newest edge is
 * one second back, so that it has all that the ring holds but one event. */
static void outage(bool restarted) {
  count_each(1, 101);
  assert_int_equal(read_at(101).total, 99);
  count_each(101, 501);
  if (restarted)
    restart();
  struct reading reading = read_at(501);
  assert_int_equal(reading.total, 99 + BPF_WINDOW_SLOTS - 1);
  assert_in_range(reading.lost_seconds, 101, 110); /* and the record says so */
  assert_false(account_is_exact(account));
  count_each(501, 511);
  assert_int_equal(read_at(511).total, 99 + BPF_WINDOW_SLOTS + 9);
  assert_int_equal(read_at(531).total, 99 + BPF_WINDOW_SLOTS + 10);
}

static void an_outage_over_the_ring_adds_what_it_still_tells(void **state) {
  (void)state;
  outage(false);
}

static void so_it_does_after_a_restart(void **state) {
  (void)state;
  outage(true);
}

/* A1, too: maps given up are added up to their last event, once. */
static void an_agent_started_anew_counts_on_over_a_lap(void **state) {
  (void)state;
  count_each(1, 101);
  assert_int_equal(read_at(101).total, 99);
  count_each(101, 105); /* until it ends */
  end_agent();
  make_agent();
  count_each(105, 110);
  assert_int_equal(read_at(110).total, 109);
  for (uint64_t second = 120; second <= 900; second += INTERVAL) {
    count_each(second - INTERVAL, second);
    assert_int_equal(read_at(second).total, second - 1);
  }
  restart();
  count_each(900, 910);
  assert_int_equal(read_at(910).total, 909);
}

/* ---- A4 ---- */

/* Pins the object's window in the folder, and begins with it. */
static void begin_with(const char *file, const char *folder) {
  char path[sizeof(pin)];
  static const char *const pins[] = {"", "_epoch", "_cursor"};
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof(path), "%.100s/parts%s", folder, pins[i]);
    unlink(path);
  }
  bpf_object__close(object);
  object = bpf_object__open(place_object(file));
  assert_non_null(object);
  assert_int_equal(bpf_object__load(object), 0);
  assert_int_equal(bpf_window_setup(object, "parts"), 0);
  assert_int_equal(bpf_window_pin(object, "parts", folder), 0);
  account_free(&account);
  snprintf(path, sizeof(path), "%.100s/parts", folder);
  assert_int_equal(account_watch(&account, path, state_fd, &failure), 0);
}

static enum account_news follow_at(const struct clock_pair *now) {
  enum account_news news;
  assert_int_equal(account_follow(account, now, &news, &failure), 0);
  assert_int_equal(account_take(account, &failure), 0);
  return news;
}

static void
values_of_an_array_go_on_when_it_gets_longer_or_shorter(void **state) {
  (void)state;
  static const uint64_t dispatched[] = {60, 10, 11, 12, 13},
                        longer[] = {60, 10, 11, 12, 13, 0, 0};
  uint64_t totals[BPF_WINDOW_MAX_VALUES];
  char folder[sizeof(pin)];
  snprintf(folder, sizeof(folder), "%.100s_agent", pin);
  end_agent();
  begin_with("tests/bpf/array", folder);
  struct clock_pair now = clock_pair();
  struct pins_edge edge = {.wall_ns =
                               now.wall_ns - now.wall_ns % NS_PER_SECOND};
  assert_int_equal(follow_at(&now), ACCOUNT_FOUND);
  assert_int_equal(account_keep(account, &now, &edge, dispatched, &failure), 0);

  begin_with("tests/bpf/array_longer", folder);
  now = clock_pair();
  assert_int_equal(follow_at(&now), ACCOUNT_CHANGED);
  account_total_at(account, &now, now.wall_ns, totals);
  assert_memory_equal(totals, longer, sizeof(longer));
  for (int i = 0; i < 7; i++)
    assert_int_equal(account_fresh(account)[i], i >= 5);
  assert_int_equal(account_keep(account, &now, &edge, longer, &failure), 0);

  begin_with("tests/bpf/array", folder);
  now = clock_pair();
  assert_int_equal(follow_at(&now), ACCOUNT_CHANGED);
  account_total_at(account, &now, now.wall_ns, totals);
  assert_memory_equal(totals, dispatched, sizeof(dispatched));
  for (int i = 0; i < 5; i++)
    assert_false(account_fresh(account)[i]);
  account_free(&account);
  char command[sizeof(folder) + 16];
  snprintf(command, sizeof(command), "rm -r %s", folder);
  assert_int_equal(system(command), 0);
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(NULL);
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  snprintf(pin, sizeof(pin), "%s_plain", place_pins());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(
          it_begins_with_the_oldest_second_that_the_ring_has, set_up,
          tear_down),
      cmocka_unit_test_setup_teardown(
          slots_used_again_while_it_is_read_lose_nothing, set_up, tear_down),
      cmocka_unit_test_setup_teardown(
          an_outage_over_the_ring_adds_what_it_still_tells, set_up, tear_down),
      cmocka_unit_test_setup_teardown(so_it_does_after_a_restart, set_up,
                                      tear_down),
      cmocka_unit_test_setup_teardown(
          an_agent_started_anew_counts_on_over_a_lap, set_up, tear_down),
      cmocka_unit_test_setup_teardown(
          values_of_an_array_go_on_when_it_gets_longer_or_shorter, set_up,
          tear_down),
  };
  return cmocka_run_group_tests_name("account", tests, NULL, NULL);
}
