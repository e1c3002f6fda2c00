/* SPDX-License-Identifier: MIT */
/* Histories: cut by the wall clock, added up, written as JSON and read back. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "cli/history_json.h"

#define SECOND INT64_C(1000000000)
#define END (INT64_C(1767960000) * SECOND)

static const struct bpf_window_epoch record = {
    .width_ns = SECOND,
    .format = BPF_WINDOW_FORMAT,
    .slots = BPF_WINDOW_SLOTS,
    .counters = 4,
    .values = 5,
    .counter = {{"lookups", BPF_WINDOW_ROLE_TOTAL, 1},
                {"hits", BPF_WINDOW_ROLE_HIT, 1},
                {"misses", BPF_WINDOW_ROLE_MISS, 1},
                {"sizes", BPF_WINDOW_ROLE_PLAIN, 2}}};

/* Ten seconds; nothing in the fifth; the hit rate is worst in the third. */
static int make_history(void **state) {
  struct history *history = history_new(&record, 0, 10, true);
  strcpy(history->window, "w");
  history->cpus = 2;
  history->to_real_ns = END;
  history->utc_offset_s = -12600;
  for (uint64_t bucket = 0; bucket < 10; bucket++) {
    uint64_t misses = bucket == 2 ? 60 : bucket == 7 ? 80 : 1;
    uint64_t hits = bucket == 2 ? 40 : 999;
    const uint64_t row[] = {hits + misses, hits, misses, bucket, 7};
    if (bucket == 4)
      continue;
    memcpy(history->rows + bucket * 5, row, sizeof(row));
    history->counted[bucket] = true;
  }
  history_sum(history, history_whole(history), history->totals);
  history->totals[0] += 1000; /* retired */
  *state = history;
  return 0;
}

static int free_history(void **state) {
  history_free((struct history **)state);
  return 0;
}

static void spans_are_cut_at_the_nearest_edge(void **state) {
  const struct history *history = *state;
  struct span span = history_between(history, END - 5 * SECOND + 3000,
                                     END - 2 * SECOND - 3000);
  assert_int_equal(span.from, 5);
  assert_int_equal(span.to, 8);
}

static void spans_stay_within_what_is_known(void **state) {
  const struct history *history = *state;
  struct span all = history_between(history, INT64_MIN, INT64_MAX);
  assert_int_equal(all.from, 0);
  assert_int_equal(all.to, 10);
  struct span before =
      history_between(history, END - 90 * SECOND, END - 80 * SECOND);
  assert_int_equal(before.from, before.to);
}

static void a_total_ends_where_its_span_ends(void **state) {
  const struct history *history = *state;
  uint64_t totals[5], newest[5];
  assert_true(history_total_at(history, 8, totals));
  history_sum(history, (struct span){8, 10}, newest);
  assert_int_equal(totals[0], history->totals[0] - newest[0]);
}

static void the_worst_seconds_are_found(void **state) {
  const struct history *history = *state;
  struct history_worst worst = history_worst(history, history_whole(history));
  assert_true(worst.has_ratio && worst.has_misses);
  assert_int_equal(worst.lowest_ratio_bucket, 2);
  assert_true(fabs(worst.lowest_ratio_percent - 40) < 1e-9);
  assert_int_equal(worst.lowest_ratio_events, 100);
  assert_int_equal(worst.most_misses_bucket, 7);
  assert_int_equal(worst.most_misses, 80);
}

static void seconds_without_data_are_no_worst_ones(void **state) {
  const struct history *history = *state;
  struct history_worst worst = history_worst(history, (struct span){4, 5});
  assert_false(worst.has_ratio || worst.has_misses);
}

static void a_cut_history_is_that_of_the_span(void **state) {
  struct history *history = *state;
  uint64_t totals[5], sums[5], cut_sums[5];
  struct span span = {3, 8};
  history_total_at(history, span.to, totals);
  history_sum(history, span, sums);
  history_cut(history, span);
  assert_int_equal(history->from, 3);
  assert_int_equal(history->to, 8);
  assert_int_equal(history->to_real_ns, END - 2 * SECOND);
  history_sum(history, history_whole(history), cut_sums);
  assert_memory_equal(cut_sums, sums, sizeof(sums));
  assert_memory_equal(history->totals, totals, sizeof(totals));
  assert_false(history_counted(history, 4));
  assert_true(history_counted(history, 7));
}

/* The events of a window that counts 5, 7 and 11 in counters of these roles, the last
 * of two values. */
static uint64_t events_of(uint32_t first, uint32_t second, uint32_t third) {
  const struct bpf_window_epoch epoch = {
      .counters = 3,
      .values = 4,
      .counter = {{"a", first, 1}, {"b", second, 1}, {"c", third, 2}}};
  static const uint64_t values[] = {5, 7, 10, 1};
  return history_events(&epoch, values);
}

static void events_are_not_mixed_with_other_counts(void **state) {
  (void)state;
  enum { PLAIN, TOTAL, HIT, MISS, LOG2 };
  assert_int_equal(events_of(PLAIN, PLAIN, PLAIN), 23);
  assert_int_equal(events_of(TOTAL, HIT, LOG2), 5);
  assert_int_equal(events_of(HIT, MISS, LOG2), 12);
  /* Bytes and requests, say, and what the requests took. */
  assert_int_equal(events_of(PLAIN, PLAIN, LOG2), 11);
}

static void columns_of_an_array_are_numbered(void **state) {
  char name[SERIES_NAME_SIZE];
  history_column_name(*state, 2, name);
  assert_string_equal(name, "misses");
  history_column_name(*state, 4, name);
  assert_string_equal(name, "sizes_1");
}

static struct history *read_back(const json_t *root) {
  struct history *again = NULL;
  struct failure failure = {""};
  if (history_from_json(&again, root, &failure) != 0)
    fail_msg("%s", failure.text);
  return again;
}

static void json_holds_all_of_it(void **state) {
  const struct history *history = *state;
  json_t *root = history_to_json(history, history_whole(history));
  struct history *again = read_back(root);
  assert_string_equal(again->window, "w");
  assert_int_equal(again->to_real_ns, history->to_real_ns);
  assert_int_equal(again->utc_offset_s, -12600);
  assert_int_equal(again->cpus, 2);
  assert_memory_equal(again->rows, history->rows, 10 * 5 * sizeof(uint64_t));
  assert_memory_equal(again->counted, history->counted, 10);
  assert_memory_equal(again->totals, history->totals, 5 * sizeof(uint64_t));
  json_t *same = history_to_json(again, history_whole(again));
  assert_true(json_equal(root, same));
  history_free(&again);
  json_decref(same);
  json_decref(root);
}

/* Reads with one member changed; NULL removes it. */
static void assert_refused(const struct history *history, const char *member,
                           json_t *value) {
  json_t *root = history_to_json(history, history_whole(history));
  struct history *again = NULL;
  struct failure failure = {""};
  if (value)
    json_object_set_new(root, member, value);
  else
    json_object_del(root, member);
  assert_int_equal(history_from_json(&again, root, &failure), -EINVAL);
  assert_null(again);
  assert_non_null(strstr(failure.text, member));
  json_decref(root);
}

static void json_is_not_believed(void **state) {
  const struct history *history = *state;
  assert_refused(history, "format", json_integer(2));
  assert_refused(history, "window", json_string("a\033[31m"));
  assert_refused(history, "window", NULL);
  assert_refused(history, "object", json_integer(1));
  assert_refused(history, "until", json_real(1e300));
  assert_refused(history, "utc_offset", json_integer(24 * 3600 + 1));
  assert_refused(history, "utc_offset", json_string("+0100"));
  assert_refused(history, "cpus", json_integer(-1));
  assert_refused(history, "width_ns", json_integer(-1));
  assert_refused(history, "fields", json_array());
  assert_refused(
      history, "fields",
      json_pack("[{s:s,s:s,s:i}]", "name", "x\ty", "role", "hit", "values", 1));
  assert_refused(history, "rows", NULL);
  assert_refused(history, "rows", json_pack("[[i]]", 1));
  assert_refused(history, "totals", json_object());
}

/* clang takes such names for fields, and a page must be readable that has them. */
static void names_may_have_any_characters(void **state) {
  struct history *history = *state;
  static const char *const good[] = {"a$b", "größe", "a,\"b\" <i>", "\u00a0"};
  static const char *const bad[] = {"a\033[31m", "a\nb", "a\x7f",
                                    "a\xc2\x9b"
                                    "31m"};
  for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
    strcpy(history->epoch.counter[1].name, good[i]);
    json_t *root = history_to_json(history, history_whole(history));
    struct history *again = read_back(root);
    assert_string_equal(again->epoch.counter[1].name, good[i]);
    history_free(&again);
    json_decref(root);
  }
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
    assert_refused(history, "window", json_string(bad[i]));
}

static void the_last_bound_of_a_histogram_is_exact(void **state) {
  (void)state;
  static const struct bpf_window_epoch epoch = {
      .width_ns = SECOND,
      .format = BPF_WINDOW_FORMAT,
      .slots = BPF_WINDOW_SLOTS,
      .counters = 1,
      .values = 64,
      .counter = {{"time", BPF_WINDOW_ROLE_LOG2, 64}}};
  struct history *history = history_new(&epoch, 0, 1, false), *again = NULL;
  struct failure failure = {""};
  strcpy(history->window, "w");
  json_t *root = history_to_json(history, history_whole(history));
  char *text = history_json_text(root, 0);
  assert_non_null(strstr(text, "4611686018427387904, 9223372036854775808.0]"));
  if (history_from_text(&again, text, strlen(text), &failure) != 0)
    fail_msg("%s", failure.text);
  json_t *same = history_to_json(again, history_whole(again));
  assert_true(json_equal(root, same));
  json_decref(same);
  json_decref(root);
  free(text);
  history_free(&again);
  history_free(&history);
}

static void a_page_without_data_is_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "<html></html>",
                                    "<script id=\"bpf-window\">",
                                    "<script id=\"bpf-window\"",
                                    "{",
                                    "[]"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    struct history *history = NULL;
    struct failure failure;
    assert_int_equal(
        history_from_text(&history, bad[i], strlen(bad[i]), &failure), -EINVAL);
  }
}

int main(void) {
#define TEST(name)                                                             \
  cmocka_unit_test_setup_teardown(name, make_history, free_history)
  const struct CMUnitTest tests[] = {
      TEST(spans_are_cut_at_the_nearest_edge),
      TEST(spans_stay_within_what_is_known),
      TEST(a_total_ends_where_its_span_ends),
      TEST(the_worst_seconds_are_found),
      TEST(seconds_without_data_are_no_worst_ones),
      TEST(a_cut_history_is_that_of_the_span),
      TEST(events_are_not_mixed_with_other_counts),
      TEST(columns_of_an_array_are_numbered),
      TEST(json_holds_all_of_it),
      TEST(json_is_not_believed),
      TEST(names_may_have_any_characters),
      TEST(the_last_bound_of_a_histogram_is_exact),
      TEST(a_page_without_data_is_refused),
  };
  return cmocka_run_group_tests(tests, NULL, NULL);
}
