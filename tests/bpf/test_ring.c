/* SPDX-License-Identifier: MIT */
/* The ring's laws in the kernel: window.bpf.h as verified and compiled there, read by
 * reader.c, with a clock that the test sets. */
#include <errno.h>
#include <sched.h>
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
#include <cmocka.h>

#include "place.h"
#include "window/reader.h"

#define SECOND BPF_WINDOW_WIDTH_NS
#define EPOCH_NS (100 * SECOND)
#define TICK_NS 4000000ull

enum { EVENTS, HITS, MISSES, SIZES, VALUES = SIZES + 4 };

static struct bpf_object *object;
static struct reader *reader;
static struct { uint64_t clock_ns, clock_tick; } * clocks;
static int clocks_fd, run_fd, cpus;

static int map_fd(const char *name) {
  return bpf_object__find_map_fd_by_name(object, name);
}

static int load(void **state) {
  (void)state;
  object = bpf_object__open(place_object("tests/bpf/injected_clock"));
  if (!object || bpf_object__load(object) != 0)
    return -1;
  struct bpf_window_epoch epoch = {
      .epoch_ns = EPOCH_NS,
      .width_ns = SECOND,
      .tick_ns = TICK_NS,
      .format = BPF_WINDOW_FORMAT,
      .slots = BPF_WINDOW_SLOTS,
      .counters = 4,
      .values = VALUES,
      .counter = {{"events", BPF_WINDOW_ROLE_TOTAL, 1},
                  {"hits", BPF_WINDOW_ROLE_HIT, 1},
                  {"misses", BPF_WINDOW_ROLE_MISS, 1},
                  {"sizes", BPF_WINDOW_ROLE_PLAIN, 4}}};
  uint32_t zero = 0;
  bpf_map_update_elem(map_fd("counter_epoch"), &zero, &epoch, BPF_ANY);
  clocks = calloc(1, sizeof(*clocks));
  clocks_fd = map_fd(".bss");
  if (clocks_fd < 0) { /* libbpf puts the object's name in front */
    struct bpf_map *map;
    bpf_object__for_each_map(map,
                             object) if (strstr(bpf_map__name(map), ".bss"))
        clocks_fd = bpf_map__fd(map);
  }
  run_fd = bpf_program__fd(bpf_object__find_program_by_name(object, "count"));
  cpus = (int)sysconf(_SC_NPROCESSORS_ONLN);
  struct failure failure;
  return reader_open(&reader, map_fd("counter"), map_fd("counter_epoch"),
                     map_fd("counter_cursor"), &failure);
}

static int unload(void **state) {
  (void)state;
  reader_close(&reader);
  bpf_object__close(object);
  free(clocks);
  return 0;
}

static void set_clock(uint64_t ns) {
  uint32_t zero = 0;
  clocks->clock_ns = ns;
  clocks->clock_tick = ns / TICK_NS;
  assert_int_equal(bpf_map_update_elem(clocks_fd, &zero, clocks, BPF_ANY), 0);
}

static void count_on(int cpu, unsigned times) {
  unsigned char packet[64] = {0};
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(cpu, &one);
  assert_int_equal(sched_setaffinity(0, sizeof(one), &one), 0);
  LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
              .data_size_in = sizeof(packet), .repeat = (int)times);
  assert_int_equal(bpf_prog_test_run_opts(run_fd, &options), 0);
}

static uint64_t total(uint64_t edge, int value) {
  const struct window_snapshot *snapshot;
  uint64_t totals[VALUES];
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  window_total_at(snapshot, edge, totals);
  return totals[value];
}

static uint64_t sum(uint64_t from, uint64_t to, int value) {
  const struct window_snapshot *snapshot;
  uint64_t sums[VALUES];
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  window_sum(snapshot, from, to, sums);
  return sums[value];
}

static uint64_t second(uint64_t number) {
  return EPOCH_NS + number * SECOND + SECOND / 2;
}

static void i1_i2_a_slot_is_used_again_and_its_counts_retired(void **state) {
  (void)state;
  set_clock(second(47));
  count_on(0, 5);
  set_clock(second(347));
  count_on(0, 7);
  assert_int_equal(sum(47, 48, EVENTS), 0);
  assert_int_equal(sum(347, 348, EVENTS), 7);
  assert_int_equal(total(347, EVENTS), 5);
  assert_int_equal(total(348, EVENTS), 12);
  assert_int_equal(total(348, MISSES), 12);
  assert_int_equal(total(348, HITS), 0);
  assert_int_equal(total(348, SIZES + 0), 12);
}

static void i7_w3_an_idle_cpu_is_in_totals_but_not_in_sums(void **state) {
  (void)state;
  if (cpus < 2) {
    print_message("# one CPU only\n");
    skip();
  }
  set_clock(second(400));
  count_on(1, 3);
  set_clock(second(400 + 900));
  count_on(0, 4);
  assert_int_equal(sum(1003, 1301, EVENTS), 4);
  assert_int_equal(total(1301, EVENTS), 12 + 3 + 4);
}

static void a_bucket_goes_on_until_its_end_in_ticks(void **state) {
  (void)state;
  uint64_t before = total(UINT64_MAX, EVENTS);
  set_clock(EPOCH_NS + 1400 * SECOND);
  count_on(0, 1);
  set_clock(EPOCH_NS + 1401 * SECOND - 1);
  count_on(0, 1);
  assert_int_equal(sum(1400, 1401, EVENTS), 2);
  set_clock(EPOCH_NS + 1401 * SECOND);
  count_on(0, 1);
  assert_int_equal(sum(1401, 1402, EVENTS), 1);
  assert_int_equal(total(UINT64_MAX, EVENTS), before + 3);
}

static void a_per_key_reader_sees_the_same(void **state) {
  (void)state;
  /* What the batch call copies must be what single look-ups say, CPU by CPU. */
  const struct window_snapshot *snapshot;
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  uint64_t *row = calloc(snapshot->cpus, (1 + VALUES) * sizeof(*row));
  for (uint32_t slot = 0; slot < BPF_WINDOW_SLOTS; slot++) {
    size_t size = snapshot->cpus * (1 + VALUES) * sizeof(*row);
    assert_int_equal(bpf_map_lookup_elem(map_fd("counter"), &slot, row), 0);
    assert_memory_equal(row, (const char *)snapshot->buckets + slot * size,
                        size);
  }
  free(row);
}

static void a_rolling_cpu_makes_the_reader_try_again_and_say_so(void **state) {
  (void)state;
  uint32_t zero = 0;
  size_t words = 2 + VALUES;
  uint64_t *cursor = calloc((size_t)libbpf_num_possible_cpus(), words * 8);
  bpf_map_lookup_elem(map_fd("counter_cursor"), &zero, cursor);
  uint64_t end = cursor[0];
  cursor[0] = BPF_WINDOW_ROLLING;
  bpf_map_update_elem(map_fd("counter_cursor"), &zero, cursor, BPF_ANY);
  const struct window_snapshot *snapshot;
  struct failure failure;
  uint64_t before = reader_statistics(reader)->retries;
  assert_int_equal(reader_snapshot(reader, &snapshot, &failure), -EAGAIN);
  assert_int_equal(reader_statistics(reader)->retries,
                   before + READER_ATTEMPTS);
  cursor[0] = end;
  bpf_map_update_elem(map_fd("counter_cursor"), &zero, cursor, BPF_ANY);
  assert_int_equal(reader_snapshot(reader, &snapshot, NULL), 0);
  free(cursor);
}

static void maps_that_are_no_window_are_refused(void **state) {
  (void)state;
  struct reader *other = NULL;
  struct failure failure;
  assert_int_equal(reader_open(&other, map_fd("counter_epoch"),
                               map_fd("counter_epoch"),
                               map_fd("counter_cursor"), &failure),
                   -EINVAL);
  assert_non_null(strstr(failure.text, "is no window"));
  assert_int_equal(reader_open(&other, map_fd("counter"), map_fd("counter"),
                               map_fd("counter_cursor"), &failure),
                   -EINVAL);
  assert_non_null(strstr(failure.text, "no epoch"));
  assert_int_equal(reader_open(&other, map_fd("counter"),
                               map_fd("counter_epoch"), map_fd("counter"),
                               &failure),
                   -EINVAL);
  assert_non_null(strstr(failure.text, "no cursor"));
  assert_int_equal(reader_open(&other, run_fd, run_fd, run_fd, &failure),
                   -EINVAL);
  assert_null(other);
}

int main(void) {
  if (!place_can_load())
    return 77;
  libbpf_set_print(NULL);
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(i1_i2_a_slot_is_used_again_and_its_counts_retired),
      cmocka_unit_test(i7_w3_an_idle_cpu_is_in_totals_but_not_in_sums),
      cmocka_unit_test(a_bucket_goes_on_until_its_end_in_ticks),
      cmocka_unit_test(a_per_key_reader_sees_the_same),
      cmocka_unit_test(a_rolling_cpu_makes_the_reader_try_again_and_say_so),
      cmocka_unit_test(maps_that_are_no_window_are_refused),
  };
  return cmocka_run_group_tests_name("ring in the kernel", tests, load, unload);
}
