/* SPDX-License-Identifier: MIT */
/* Percentiles for pictures: of the rates of a histogram's slots, step by step. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>
#include <rrd.h>

#include "cli/graph.h"
#include "window/histogram.h"

#define STEP 10
#define STEPS 2000
#define START INT64_C(1767960000) /* a multiple of 30 */
#define CHANGE 1001 /* step from which the rates are others: 20 s into 30 */
#define HOLE 500    /* a step that nothing is known of */
#define SLOTS 4

static char folder[64];

/* Events a second in a slot: 10 in slot 1, later 1 there and 9 in slot 2. */
static double rate_of(uint32_t slot, int step) {
  if (step < CHANGE)
    return slot == 1 ? 10 : 0;
  return slot == 1 ? 1 : slot == 2 ? 9 : 0;
}

static void slot_path(uint32_t slot, char path[512]) {
  snprintf(path, 512, "%s/derive-time-%02u_ge_%llu.rrd", folder, slot,
           (unsigned long long)histogram_from(slot));
}

static int make_slots(void **state) {
  (void)state;
  static char text[STEPS][48];
  static const char *updates[STEPS];
  const char *definition[] = {"DS:value:GAUGE:10:0:U",
                              "RRA:AVERAGE:0.5:1:3000"};
  strcpy(folder, "/tmp/bpf_window-graph.XXXXXX");
  if (!mkdtemp(folder))
    return -1;
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    char path[512];
    slot_path(slot, path);
    for (int i = 0; i < STEPS; i++) {
      long long end = START + (i + 1) * STEP;
      snprintf(text[i], sizeof(text[i]), i == HOLE ? "%lld:U" : "%lld:%.1f",
               end, rate_of(slot, i));
      updates[i] = text[i];
    }
    if (rrd_create_r(path, STEP, (time_t)START, 2, definition) != 0 ||
        rrd_update_r(path, NULL, STEPS, updates) != 0)
      return -1;
  }
  return 0;
}

static int remove_slots(void **state) {
  (void)state;
  for (uint32_t slot = 0; slot < SLOTS; slot++) {
    char path[512];
    slot_path(slot, path);
    unlink(path);
  }
  return rmdir(folder);
}

/* What an RRD has in the step that begins there; the step's length must be that. */
static double value_at(const char *path, int64_t begin_s, unsigned long step) {
  time_t start = (time_t)begin_s, end = (time_t)(begin_s + (int64_t)step);
  unsigned long real_step = step, sources;
  char **names;
  rrd_value_t *data;
  assert_int_equal(rrd_fetch_r(path, "AVERAGE", &start, &end, &real_step,
                               &sources, &names, &data),
                   0);
  assert_int_equal(real_step, step);
  double value = data[0];
  rrd_freemem(names[0]);
  rrd_freemem(names);
  rrd_freemem(data);
  return value;
}

static void assert_near(double value, double expected) {
  if (!(fabs(value - expected) < 2e-3))
    fail_msg("%f, not %f", value, expected);
}

static void slots_of_rrds_give_percentiles(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  graph = (struct graph){
      .kind = GRAPH_PERCENTILES, .from_s = START, .to_s = START + 8000};
  if (graph_percentiles_from_rrds(&graph, folder, &failure) != 0)
    fail_msg("%s", failure.text);
  assert_int_equal(graph.count, 3);
  assert_string_equal(graph.series[0].name, "time p50");
  assert_string_equal(graph.series[2].name, "time p99");
  const char *p50 = graph.series[0].old_rrd;
  assert_near(value_at(p50, START + 100 * STEP, STEP), 3);
  assert_true(isnan(value_at(p50, START + HOLE * STEP, STEP)));
  assert_near(value_at(graph.series[2].old_rrd, START, STEP), 3.98);
  graph_forget(&graph);
}

/* 10 + 10 + 1 events in slot 1 and 9 in slot 2: the half is 15 / 21 through slot 1,
 * and not the mean of 3, 3 and 5.8. */
static void long_steps_add_up_slots_and_not_percentiles(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  int64_t change_s = START + (CHANGE - 2) * STEP;
  graph = (struct graph){.kind = GRAPH_PERCENTILES,
                         .from_s = START,
                         .to_s = START + STEPS * STEP - 1};
  if (graph_percentiles_from_rrds(&graph, folder, &failure) != 0)
    fail_msg("%s", failure.text);
  assert_int_equal(change_s % 30, 0);
  assert_near(value_at(graph.series[0].old_rrd, change_s, 30),
              2 + 2 * 15.0 / 21);
  assert_near(value_at(graph.series[0].old_rrd, change_s + 30, 30),
              4 + 4 * 4.0 / 9);
  graph_forget(&graph);
}

static void decades_are_no_more_than_is_known(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  graph = (struct graph){
      .kind = GRAPH_PERCENTILES, .from_s = 1, .to_s = INT64_C(4000000000)};
  if (graph_percentiles_from_rrds(&graph, folder, &failure) != 0)
    fail_msg("%s", failure.text);
  unsigned long step = (4000000000UL - 1) / GRAPH_WIDTH + 1;
  step = (step + STEP - 1) / STEP * STEP;
  /* All is in one step or two: 1001 x 10 events, and 998 x (1 + 9) without the hole. */
  int64_t begin_s = START / (int64_t)step * (int64_t)step;
  assert_near(value_at(graph.series[0].old_rrd, begin_s, step),
              2 + 2 * 9995.0 / (1000 * 10 + 999));
  graph_forget(&graph);
}

static void seconds_of_a_window_have_their_own(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  const struct bpf_window_epoch record = {
      .width_ns = NS_PER_SECOND,
      .counters = 2,
      .values = 4,
      .counter = {{"reads", BPF_WINDOW_ROLE_PLAIN, 1},
                  {"time", BPF_WINDOW_ROLE_LOG2, 3}}};
  static const uint64_t rows[] = {7, 0, 10, 0, 0, 0, 0, 0, 7, 0, 0, 10};
  struct history *history = history_new(&record, 0, 3, false);
  history->to_real_ns = (START + 3) * NS_PER_SECOND;
  memcpy(history->rows, rows, sizeof(rows));
  graph = (struct graph){.kind = GRAPH_PERCENTILES};
  if (graph_percentiles_from_history(&graph, history, &failure) != 0)
    fail_msg("%s", failure.text);
  assert_int_equal(graph.count, 3);
  assert_near(value_at(graph.series[0].new_rrd, START, 1), 3);
  assert_true(isnan(value_at(graph.series[0].new_rrd, START + 1, 1)));
  assert_near(value_at(graph.series[0].new_rrd, START + 2, 1), 4);
  graph_forget(&graph);

  static struct graph other;
  other.choice = (struct graph_choice){.pattern = {"t*", "reads"}, .count = 2};
  assert_int_equal(graph_percentiles_from_history(&other, history, &failure),
                   -ESRCH);
  assert_non_null(
      strstr(failure.text, "--counter reads: what can be drawn is time"));
  graph_forget(&other);
  history_free(&history);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slots_of_rrds_give_percentiles),
      cmocka_unit_test(long_steps_add_up_slots_and_not_percentiles),
      cmocka_unit_test(decades_are_no_more_than_is_known),
      cmocka_unit_test(seconds_of_a_window_have_their_own),
  };
  return cmocka_run_group_tests(tests, make_slots, remove_slots);
}
