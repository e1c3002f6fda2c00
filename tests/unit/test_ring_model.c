/* SPDX-License-Identifier: MIT */
/*
 * The writer of window.bpf.h and the arithmetic of window.h, together, against a plain
 * model: a list of what was counted under which label. Random schedules of events,
 * interrupts inside rolls, jumps of the clock, idle CPUs and reads.
 *
 * SEED=n repeats one schedule; SCHEDULES=n says how many.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static uint64_t now_ns, tick_phase_ns;
static uint64_t read_clock(void);
static uint64_t read_tick(void);
#define BPF_WINDOW_TICK() read_tick()
#define BPF_WINDOW_NOW_NS() read_clock()
#include <bpf_window/window.bpf.h>

#include "window/window.h"

#define CPUS 3
#define TICK_NS 4000000ull
#define EPOCH_NS 5000000000ull
#define VALUES 3

struct stats {
  __u64 abs_bucket;
  __u64 all BPF_WINDOW_TOTAL;
  __u64 hits BPF_WINDOW_HIT;
  __u64 misses BPF_WINDOW_MISS;
};
BPF_WINDOW(stats, struct stats);

/* ---- The machine: maps, clocks, interrupts ---- */

static struct stats ring[BPF_WINDOW_SLOTS][CPUS];
static struct bpf_window_cursor_of_stats cursors[CPUS];
static struct bpf_window_epoch epoch;
static int cpu;             /* on which the code runs */
static int interrupts_left; /* that may still hit the running context */
static int depth;

static void maybe_interrupt(void);

void *bpf_map_lookup_elem(void *map, const void *key) {
  uint32_t index = *(const uint32_t *)key;
  maybe_interrupt();
  if (map == &stats && index < BPF_WINDOW_SLOTS)
    return &ring[index][cpu];
  if (map == &stats_cursor && index == 0)
    return &cursors[cpu];
  return map == &stats_epoch && index == 0 ? &epoch : NULL;
}

static uint64_t read_clock(void) {
  maybe_interrupt();
  return now_ns;
}

/* Jiffies have a phase of their own against the clock. */
static uint64_t read_tick(void) { return (now_ns + tick_phase_ns) / TICK_NS; }

static uint64_t number_at(uint64_t ns) {
  return (ns - EPOCH_NS) / BPF_WINDOW_WIDTH_NS;
}

/* ---- The model: counts by label; labels run over a few laps ---- */

#define LABELS 4096
static uint64_t model[LABELS][VALUES];
static uint64_t added[VALUES];

static uint64_t random_state;
static uint32_t draw(uint32_t below) {
  random_state ^= random_state << 13;
  random_state ^= random_state >> 7;
  random_state ^= random_state << 17;
  return (uint32_t)(random_state >> 32) % below;
}

/*
 * One event. The label must be the clock's bucket, or the one before if the last edge
 * is under a tick ago (I5). A context that finds another one rolling counts into the
 * bucket that is still open, whatever its label (I3): that is where the test lets
 * nested events be late.
 */
static void count_event(void) {
  struct stats *bucket = bpf_window_bucket(stats);
  assert_non_null(bucket);
  if (depth == 0) {
    uint64_t newest = number_at(now_ns), oldest = number_at(now_ns - TICK_NS);
    assert_in_range(bucket->abs_bucket, oldest, newest);
  }
  uint64_t n = 1 + draw(3), hit = draw(2);
  bpf_window_add(&bucket->all, n);
  bpf_window_add_plain(hit ? &bucket->hits : &bucket->misses, n);
  uint64_t *counted = model[bucket->abs_bucket];
  counted[0] += n;
  counted[hit ? 1 : 2] += n;
  added[0] += n;
  added[hit ? 1 : 2] += n;
}

static void maybe_interrupt(void) {
  if (interrupts_left == 0 || draw(4) != 0)
    return;
  interrupts_left--;
  depth++;
  now_ns += draw(2) ? draw(1000) : 0; /* an interrupt takes time */
  count_event();
  depth--;
}

static void restart(uint64_t seed) {
  memset(ring, 0, sizeof(ring));
  memset(cursors, 0, sizeof(cursors));
  memset(model, 0, sizeof(model));
  memset(added, 0, sizeof(added));
  random_state = seed * 0x9e3779b97f4a7c15ull + 1;
  depth = 0;
  tick_phase_ns = draw(TICK_NS);
  now_ns = EPOCH_NS + BPF_WINDOW_WIDTH_NS + draw(BPF_WINDOW_WIDTH_NS);
  epoch = (struct bpf_window_epoch){.epoch_ns = EPOCH_NS,
                                    .width_ns = BPF_WINDOW_WIDTH_NS,
                                    .tick_ns = TICK_NS,
                                    .format = BPF_WINDOW_FORMAT,
                                    .slots = BPF_WINDOW_SLOTS,
                                    .counters = VALUES,
                                    .values = VALUES};
}

/* ---- Reading ---- */

static struct window_snapshot snapshot(void) {
  return (struct window_snapshot){.slots = BPF_WINDOW_SLOTS,
                                  .cpus = CPUS,
                                  .values = VALUES,
                                  .buckets = (const uint64_t *)ring,
                                  .cursors = (const uint64_t *)cursors};
}

static void model_sum(uint64_t from, uint64_t to, uint64_t *sums) {
  memset(sums, 0, VALUES * sizeof(*sums));
  for (uint64_t label = from; label < to; label++)
    for (int v = 0; v < VALUES; v++)
      sums[v] += model[label][v];
}

static void check_against_model(uint64_t floor[LABELS + 1][VALUES]) {
  struct window_snapshot copy = snapshot();
  uint64_t open = number_at(now_ns);
  uint64_t start = window_history_start(&epoch, now_ns);
  uint64_t got[VALUES], want[VALUES];

  window_total_at(&copy, UINT64_MAX, got); /* I2 */
  assert_memory_equal(got, added, sizeof(got));

  uint64_t edge = start + draw((uint32_t)(open - start) + 1); /* W1 */
  window_total_at(&copy, edge, got);
  model_sum(0, edge, want);
  assert_memory_equal(got, want, sizeof(got));
  for (int v = 0; v < VALUES; v++) { /* W2 */
    assert_true(got[v] >= floor[edge][v]);
    floor[edge][v] = got[v];
  }

  uint64_t to = edge + draw((uint32_t)(open - edge) + 1); /* W3 */
  window_sum(&copy, edge, to, got);
  model_sum(edge, to, want);
  assert_memory_equal(got, want, sizeof(got));
}

/* ---- Schedules ---- */

static uint64_t from_environment(const char *name, uint64_t otherwise) {
  const char *text = getenv(name);
  return text ? strtoull(text, NULL, 0) : otherwise;
}

static void advance(void) {
  static const uint64_t most_ns[] = {1000, TICK_NS, BPF_WINDOW_WIDTH_NS,
                                     3 * BPF_WINDOW_WIDTH_NS};
  uint32_t kind = draw(40);
  if (kind == 0) /* an idle stretch of up to two laps and more */
    now_ns += draw(700) * BPF_WINDOW_WIDTH_NS;
  else
    now_ns += draw((uint32_t)most_ns[kind % 4]);
}

static uint64_t running_seed; /* shown by say_seed when a check fails */

static int say_seed(void **test) {
  (void)test;
  print_message("last schedule: SEED=%llu\n", (unsigned long long)running_seed);
  return 0;
}

static void run_schedule(uint64_t seed) {
  static uint64_t floor[LABELS + 1][VALUES];
  restart(seed);
  memset(floor, 0, sizeof(floor));
  int steps = 20 + (int)draw(60);
  int busy = 1 + (int)draw(CPUS); /* the CPUs beyond it stay idle (I7) */
  for (int i = 0; i < steps && number_at(now_ns) < LABELS - 800; i++) {
    cpu = (int)draw((uint32_t)busy);
    interrupts_left = (int)draw(3);
    if (draw(3) == 0)
      advance();
    else
      count_event();
    if (draw(8) == 0)
      check_against_model(floor);
  }
  check_against_model(floor);
}

static void totals_equal_a_model_over_random_schedules(void **test) {
  (void)test;
  uint64_t first = from_environment("SEED", 1);
  uint64_t count = from_environment("SCHEDULES", getenv("SEED") ? 1 : 100000);
  print_message("schedules with seeds %llu to %llu\n",
                (unsigned long long)first,
                (unsigned long long)(first + count - 1));
  for (uint64_t seed = first; seed < first + count; seed++) {
    running_seed = seed;
    run_schedule(seed);
  }
}

/* ---- The clauses one by one ---- */

static void at_second(uint64_t number) {
  now_ns = EPOCH_NS + number * BPF_WINDOW_WIDTH_NS + 500000000;
}

static void i1_a_slot_is_used_again_after_300_buckets(void **test) {
  (void)test;
  restart(1);
  cpu = 0;
  interrupts_left = 0;
  at_second(47);
  count_event();
  struct stats *first = bpf_window_bucket(stats);
  at_second(347);
  count_event();
  struct stats *second = bpf_window_bucket(stats);
  assert_ptr_equal(first, second);
  assert_ptr_equal(second, &ring[47][0]);
  assert_int_equal(second->abs_bucket, 347);
}

static void i2_recycled_counts_are_retired(void **test) {
  (void)test;
  restart(2);
  cpu = 0;
  interrupts_left = 0;
  at_second(47);
  bpf_window_add(&bpf_window_bucket(stats)->all, 5);
  at_second(347);
  bpf_window_add(&bpf_window_bucket(stats)->all, 7);
  assert_int_equal(cursors[0].retired[0], 5);
  assert_int_equal(ring[47][0].all, 7);
}

static void
i3_a_context_that_finds_a_roll_counts_into_the_open_bucket(void **test) {
  (void)test;
  restart(3);
  cpu = 0;
  interrupts_left = 0;
  at_second(10);
  struct stats *open = bpf_window_bucket(stats);
  at_second(11);
  cursors[0].head.end_tick = BPF_WINDOW_ROLLING;
  assert_ptr_equal(bpf_window_bucket(stats), open);
  assert_int_equal(open->abs_bucket, 10);
}

static void i7_an_idle_cpu_is_in_totals_but_not_in_sums(void **test) {
  (void)test;
  restart(4);
  interrupts_left = 0;
  cpu = 1;
  at_second(47);
  bpf_window_add(&bpf_window_bucket(stats)->all, 3);
  cpu = 0;
  at_second(47 + 900); /* three laps later */
  bpf_window_add(&bpf_window_bucket(stats)->all, 4);
  struct window_snapshot copy = snapshot();
  uint64_t got[VALUES];
  window_sum(&copy, 47 + 900 - 298, 47 + 901, got);
  assert_int_equal(got[0], 4);
  window_total_at(&copy, 47 + 901, got);
  assert_int_equal(got[0], 7);
  assert_int_equal(ring[47][1].abs_bucket, 47);
}

static void i8_nothing_is_counted_before_the_epoch_is_set(void **test) {
  (void)test;
  restart(5);
  cpu = 0;
  interrupts_left = 0;
  epoch.width_ns = 0;
  assert_null(bpf_window_bucket(stats));
  epoch.width_ns = BPF_WINDOW_WIDTH_NS;
  assert_non_null(bpf_window_bucket(stats));
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(i1_a_slot_is_used_again_after_300_buckets),
      cmocka_unit_test(i2_recycled_counts_are_retired),
      cmocka_unit_test(
          i3_a_context_that_finds_a_roll_counts_into_the_open_bucket),
      cmocka_unit_test(i7_an_idle_cpu_is_in_totals_but_not_in_sums),
      cmocka_unit_test(i8_nothing_is_counted_before_the_epoch_is_set),
      cmocka_unit_test_teardown(totals_equal_a_model_over_random_schedules,
                                say_seed),
  };
  return cmocka_run_group_tests_name("ring", tests, NULL, NULL);
}
