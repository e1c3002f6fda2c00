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

#include "cli/graph_arguments.h"
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

/* ---- Counters ---- */

#define SECONDS 3

/* A window's last seconds, each with the same counts. */
static struct history *seconds_of(const struct bpf_window_epoch *record,
                                  const uint64_t *counts) {
  struct history *history = history_new(record, 0, SECONDS, false);
  history->to_real_ns = (START + SECONDS) * NS_PER_SECOND;
  for (int i = 0; i < SECONDS; i++)
    memcpy(history->rows + i * record->values, counts,
           record->values * sizeof(*counts));
  return history;
}

static void take_history(struct graph *graph,
                         const struct bpf_window_epoch *record,
                         const uint64_t *counts) {
  struct failure failure = {""};
  struct history *history = seconds_of(record, counts);
  strcpy(history->window, "w");
  if (graph_from_history(graph, history, &failure) != 0)
    fail_msg("%s", failure.text);
  history_free(&history);
}

static void settle(struct graph *graph) {
  struct failure failure = {""};
  if (graph_settle(graph, &failure) != 0)
    fail_msg("%s", failure.text);
}

/* The hit rate that a picture of those seconds has. */
static double drawn_percent(const struct graph *graph) {
  struct graph_arguments arguments = {.count = 0};
  graph_add(&arguments, "graph");
  graph_add(&arguments, "-");
  graph_add(&arguments, "--start=%lld", (long long)START);
  graph_add(&arguments, "--end=%lld", (long long)START + SECONDS);
  graph_define(&arguments, graph);
  graph_add(&arguments, "VDEF:mean=percent,AVERAGE");
  graph_add(&arguments, "PRINT:mean:%%.3lf");
  optind = 0;
  rrd_info_t *info = rrd_graph_v(arguments.count, arguments.text);
  if (!info)
    fail_msg("%s", rrd_get_error());
  double percent = NAN;
  for (rrd_info_t *item = info; item; item = item->next)
    if (strcmp(item->key, "print[0]") == 0)
      percent = strtod(item->value.u_str, NULL);
  rrd_info_free(info);
  graph_forget_arguments(&arguments);
  return percent;
}

static struct bpf_window_epoch asked_and_found = {
    .width_ns = NS_PER_SECOND,
    .counters = 2,
    .values = 2,
    .counter = {{"asked", BPF_WINDOW_ROLE_TOTAL, 1},
                {"found", BPF_WINDOW_ROLE_HIT, 1}}};

static void the_hit_rate_is_of_the_totals(void **state) {
  (void)state;
  static struct graph graph;
  graph = (struct graph){0};
  take_history(&graph, &asked_and_found, (const uint64_t[]){50, 20});
  settle(&graph);
  assert_int_equal(graph.drawn, 1); /* the total is not */
  assert_string_equal(graph.series[0].name, "found");
  assert_near(drawn_percent(&graph), 40);
  graph_forget(&graph);

  graph = (struct graph){0};
  take_history(&graph, &asked_and_found, (const uint64_t[]){19, 20});
  settle(&graph);
  assert_near(drawn_percent(&graph), 100);
  graph_forget(&graph);
}

static void without_totals_it_is_of_hits_and_misses(void **state) {
  (void)state;
  static struct graph graph;
  struct bpf_window_epoch record = asked_and_found;
  graph = (struct graph){0};
  record.counter[0].role = BPF_WINDOW_ROLE_MISS;
  take_history(&graph, &record, (const uint64_t[]){60, 20});
  settle(&graph);
  assert_int_equal(graph.drawn, 2);
  assert_near(drawn_percent(&graph), 25);
  graph_forget(&graph);
}

/* An RRD of those seconds with one rate. */
static void make_rrd(const char *dir, const char *name, double rate,
                     char path[512]) {
  const char *definition[] = {"DS:value:GAUGE:2:0:U", "RRA:AVERAGE:0.5:1:10"};
  snprintf(path, 512, "%s/%s.rrd", dir, name);
  assert_int_equal(rrd_create_r(path, 1, (time_t)START, 2, definition), 0);
  for (int i = 1; i <= SECONDS; i++) {
    char text[48];
    const char *update = text;
    snprintf(text, sizeof(text), "%lld:%.1f", (long long)START + i, rate);
    assert_int_equal(rrd_update_r(path, NULL, 1, &update), 0);
  }
}

static void the_totals_of_rrds_count_too(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  char dir[] = "/tmp/bpf_window-rrds.XXXXXX", asked[512], found[512];
  assert_non_null(mkdtemp(dir));
  make_rrd(dir, "cache_operation-asked", 50, asked);
  make_rrd(dir, "cache_result-found", 20, found);
  struct bpf_window_epoch record = asked_and_found;
  record.width_ns = NS_PER_SECOND / 10; /* too fine: the RRDs have it alone */
  graph = (struct graph){0};
  take_history(&graph, &record, (const uint64_t[]){50, 1});
  assert_int_equal(graph_from_rrds(&graph, dir, &failure), 0);
  settle(&graph);
  assert_string_equal(graph.no_buckets,
                      "its buckets of 0.1 s are no whole number of seconds");
  assert_int_equal(graph.left_out, 0);
  assert_near(drawn_percent(&graph), 40);
  graph_forget(&graph);

  unlink(asked); /* a counter that collectd does not keep */
  graph = (struct graph){0};
  take_history(&graph, &record, (const uint64_t[]){50, 1});
  assert_int_equal(graph_from_rrds(&graph, dir, &failure), 0);
  settle(&graph);
  assert_int_equal(graph.drawn, 1);
  assert_int_equal(graph.left_out, 1);
  assert_string_equal(graph.unknown, "asked");
  graph_forget(&graph);
  unlink(found);
  rmdir(dir);
}

static void what_nothing_is_known_of_is_no_picture(void **state) {
  (void)state;
  static struct graph graph;
  struct failure failure = {""};
  struct bpf_window_epoch record = asked_and_found;
  record.width_ns = NS_PER_SECOND / 10;
  graph = (struct graph){0};
  take_history(&graph, &record, (const uint64_t[]){50, 20});
  assert_int_equal(graph_settle(&graph, &failure), -ENODATA);
  assert_string_equal(failure.text,
                      "window w: its buckets of 0.1 s are no whole number of "
                      "seconds, so a picture of it needs RRDs");
  graph_forget(&graph);

  struct history *young = history_new(&asked_and_found, 0, 0, false);
  graph = (struct graph){0};
  assert_int_equal(graph_from_history(&graph, young, &failure), 0);
  assert_int_equal(graph_settle(&graph, &failure), -ENODATA);
  assert_non_null(strstr(failure.text, "none of its buckets has ended yet"));
  history_free(&young);
}

static const struct bpf_window_epoch parts = {
    .width_ns = NS_PER_SECOND,
    .counters = 1,
    .values = 70,
    .counter = {{"part", BPF_WINDOW_ROLE_PLAIN, 70}}};

static void those_without_room_are_counted(void **state) {
  (void)state;
  static struct graph graph;
  static const uint64_t counts[70];
  graph = (struct graph){0};
  take_history(&graph, &parts, counts);
  settle(&graph);
  assert_int_equal(graph.drawn, GRAPH_MAX_SERIES);
  assert_int_equal(graph.too_many, 70 - GRAPH_MAX_SERIES);
  graph_forget(&graph);
}

static void an_array_can_be_chosen_beside_one_of_it(void **state) {
  (void)state;
  static struct graph graph;
  static const uint64_t counts[70];
  struct bpf_window_epoch record = parts;
  record.values = record.counter[0].values = 3;
  graph = (struct graph){.choice = {.pattern = {"part", "part_1"}, .count = 2}};
  take_history(&graph, &record, counts);
  assert_int_equal(graph.count, 3);
  graph_forget(&graph);
}

static void an_array_is_chosen_of_rrds_alone(void **state) {
  (void)state;
  static struct graph graph;
  static const char *const names[] = {"derive-part_0", "derive-part_1",
                                      "derive-part_x", "derive-other_0"};
  struct failure failure = {""};
  char dir[] = "/tmp/bpf_window-rrds.XXXXXX", path[4][512];
  assert_non_null(mkdtemp(dir));
  for (int i = 0; i < 4; i++)
    make_rrd(dir, names[i], 1, path[i]);
  graph = (struct graph){.choice = {.pattern = {"part"}, .count = 1}};
  if (graph_from_rrds(&graph, dir, &failure) != 0)
    fail_msg("%s", failure.text);
  assert_int_equal(graph.count, 2);
  assert_string_equal(graph.series[1].name, "part_1");
  for (int i = 0; i < 4; i++)
    unlink(path[i]);
  rmdir(dir);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(slots_of_rrds_give_percentiles),
      cmocka_unit_test(long_steps_add_up_slots_and_not_percentiles),
      cmocka_unit_test(decades_are_no_more_than_is_known),
      cmocka_unit_test(seconds_of_a_window_have_their_own),
      cmocka_unit_test(the_hit_rate_is_of_the_totals),
      cmocka_unit_test(without_totals_it_is_of_hits_and_misses),
      cmocka_unit_test(the_totals_of_rrds_count_too),
      cmocka_unit_test(what_nothing_is_known_of_is_no_picture),
      cmocka_unit_test(those_without_room_are_counted),
      cmocka_unit_test(an_array_can_be_chosen_beside_one_of_it),
      cmocka_unit_test(an_array_is_chosen_of_rrds_alone),
  };
  return cmocka_run_group_tests(tests, make_slots, remove_slots);
}
