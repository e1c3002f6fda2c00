/* SPDX-License-Identifier: MIT */
/* The clauses of barrier.h, with this program in the place of collectd's writers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "collectd/barrier.h"
#include "collectd/value.h"

#define EDGE TIME_T_TO_CDTIME_T(100)
#define SHORT MS_TO_CDTIME_T(1)
#define LONG TIME_T_TO_CDTIME_T(600)

/* ---- What collectd has ---- */

char *hostname_g = (char[]){"host"};
static plugin_write_cb write_callback;

int plugin_register_write(const char *name, plugin_write_cb callback,
                          user_data_t const *user_data) {
  (void)name, (void)user_data;
  write_callback = callback;
  return 0;
}

static void written(const char *plugin_instance, const char *type_instance,
                    cdtime_t time) {
  value_list_t vl = {.time = time};
  strcpy(vl.host, "host");
  strcpy(vl.plugin, "bpf_window");
  strcpy(vl.plugin_instance, plugin_instance);
  strcpy(vl.type_instance, type_instance);
  write_callback(NULL, &vl, NULL);
}

static void *writer(void *unused) {
  (void)unused;
  usleep(300000);
  written("w", "calls", EDGE);
  return NULL;
}

static struct barrier barrier;

static int add(void **state) {
  (void)state;
  barrier = (struct barrier){.plugin_instance = "w"};
  barrier_add(&barrier);
  return 0;
}

static int leave(void **state) {
  (void)state;
  barrier_remove(&barrier);
  return 0;
}

/* ---- Clauses ---- */

static void it_is_through_when_all_were_written(void **state) {
  (void)state;
  barrier_expect(&barrier, EDGE, 2);
  written("w", "calls", EDGE);
  assert_false(barrier_wait(&barrier, SHORT));
  written("other", "calls", EDGE);
  written("w", "calls", EDGE + 1);
  assert_false(barrier_wait(&barrier, SHORT));
  written("w", "others", EDGE);
  assert_true(barrier_wait(&barrier, SHORT));
}

/* An object that has its window's name tells of its costs at the same edges. */
static void what_the_plugin_tells_about_itself_does_not_count(void **state) {
  (void)state;
  barrier_expect(&barrier, EDGE, 1);
  written("w", SERIES_SELF "runs", EDGE);
  assert_false(barrier_wait(&barrier, SHORT));
  written("w", "calls", EDGE);
  assert_true(barrier_wait(&barrier, SHORT));
}

/* Such a one was freed because it could not begin. */
static void
a_window_with_nothing_under_way_takes_no_time_from_others(void **state) {
  (void)state;
  pthread_t thread;
  barrier_wait_at_end(&barrier, SHORT);
  usleep(10000);
  barrier_expect(&barrier, EDGE, 1);
  assert_int_equal(pthread_create(&thread, NULL, writer, NULL), 0);
  barrier_wait_at_end(&barrier, LONG);
  assert_int_equal(barrier.pending, 0);
  pthread_join(thread, NULL);
}

int main(void) {
  static const struct CMUnitTest tests[] = {
      cmocka_unit_test_setup_teardown(it_is_through_when_all_were_written, add,
                                      leave),
      cmocka_unit_test_setup_teardown(
          what_the_plugin_tells_about_itself_does_not_count, add, leave),
      cmocka_unit_test_setup_teardown(
          a_window_with_nothing_under_way_takes_no_time_from_others, add,
          leave),
  };
  barrier_register();
  return cmocka_run_group_tests(tests, NULL, NULL);
}
