/* SPDX-License-Identifier: MIT */
/*
 * Every step of bringing up an object fails once, and once the program is killed there;
 * and every call that the program makes of a function that can fail. Afterwards the
 * pins are those from before or the new ones, never a mixture; the next start succeeds,
 * and totals go on where they must (O2, O3, O5, P1, P2). A start that failed says why
 * in one line, and has left nothing.
 */
#include <errno.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <cmocka.h>

#include "../bpf/place.h"
#include "fault.h"
#include "object/pins.h"
#define MOST_STEPS 400

static char pins[64];

/* Runs start_object with a fault. */
static struct fault_outcome run(const char *file, const char *calls,
                                const struct fault *fault) {
  const char *argument[] = {"start_object", pins, file, calls, NULL};
  return fault_run(argument, fault);
}

static long long total_of(const struct fault_outcome *outcome) {
  return outcome->printed[0] ? atoll(outcome->printed) : -1;
}

/* Of those that came after the test: others' leftovers may have the name. */
static uint32_t newest_before;

static int programs_attached(void) {
  uint32_t id = newest_before;
  int found = 0;
  while (bpf_prog_get_next_id(id, &id) == 0) {
    struct bpf_prog_info info = {0};
    uint32_t size = sizeof(info);
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0)
      continue;
    if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
      found += strcmp(info.name, "on_call") == 0;
    close(fd);
  }
  return found;
}

/* The kernel detaches what a process leaves behind when it has the time; until then
 * the next one's calls are counted by both. */
static void wait_for_the_kernel(void) {
  char link[PINS_PATH_SIZE];
  pins_object_path(pins, "marked", PINS_LINK_PREFIX "on_call", link);
  for (int tries = 0; tries < 1000; tries++) {
    if (programs_attached() <= (access(link, F_OK) == 0 ? 1 : 0))
      return;
    usleep(5000);
  }
}

static struct fault_outcome run_whole(const char *file, const char *calls) {
  struct fault_outcome outcome = run(file, calls, &(struct fault){0});
  if (outcome.status != 0)
    print_message("# %s", outcome.text);
  assert_int_equal(outcome.status, 0);
  return outcome;
}

static int clear(void **state) {
  (void)state;
  place_clear();
  return 0;
}

/*
 * before: the file that runs when the fault strikes (NULL: none), with 10 calls; then
 * file is started with the fault, then without. keeps: whether the totals of before go on.
 */
static void each_step(const char *before, const char *file, bool keeps,
                      const char *mode) {
  /* Under emulation every seventh step, or it takes an hour. */
  int nth = 0, stride = getenv("IN_VM") ? 7 : 1;
  bool struck = true;
  while (struck && nth < MOST_STEPS) {
    if (before)
      run_whole(before, "10");
    struct fault fault = {.nth = nth += stride, .mode = mode};
    struct fault_outcome faulty = run(file, "0", &fault);
    struck = faulty.struck;
    if (WIFSIGNALED(faulty.status))
      assert_int_equal(WTERMSIG(faulty.status), SIGKILL); /* and no crash */
    else
      assert_in_range(WEXITSTATUS(faulty.status), 0, 1);
    if (keeps) /* the same maps */
      wait_for_the_kernel();
    struct fault_outcome next = run_whole(file, "5");
    long long wanted = keeps ? 15 : 5;
    if (total_of(&next) != wanted)
      print_message("# step %d: total %lld, not %lld\n", nth, total_of(&next),
                    wanted);
    assert_int_equal(total_of(&next), wanted);
    struct fault_outcome again = run_whole(file, "1");
    assert_int_equal(total_of(&again), wanted + 1);
    clear(NULL);
  }
  print_message("# %s at each %d of %d steps\n", mode, stride, nth - stride);
  assert_true(nth < MOST_STEPS);
}

/* ---- Calls ---- */

static bool is_there(const char *name, const char *pin) {
  char path[PINS_PATH_SIZE];
  pins_object_path(pins, name, pin, path);
  return access(path, F_OK) == 0;
}

/* O5. A staging folder with a record is whole: it stands in for what the fault kept from
 * taking its place (P2). */
static void check_nothing_left(void) {
  if (is_there(PINS_STAGING_PREFIX "marked", PINS_RECORD))
    return;
  assert_false(is_there(PINS_STAGING_PREFIX "marked", ""));
  wait_for_the_kernel();
  assert_true(programs_attached() <=
              is_there("marked", PINS_LINK_PREFIX "on_call"));
}

struct start {
  const char *before, *file;
  bool keeps;
};

static bool one_call(const struct fault *fault, void *context) {
  const struct start *start = context;
  const char *before = start->before, *file = start->file;
  bool keeps = start->keeps;
  if (before)
    run_whole(before, "10");
  struct fault_outcome faulty = run(file, "0", fault);
  assert_true(WIFEXITED(faulty.status));
  if (WEXITSTATUS(faulty.status) == 0) { /* it does without */
    assert_int_equal(total_of(&faulty), keeps ? 10 : 0);
    assert_string_equal(faulty.text, "");
  } else {
    assert_int_equal(WEXITSTATUS(faulty.status), 1);
    fault_check_text(&faulty, fault->error);
    check_nothing_left();
  }
  if (keeps)
    wait_for_the_kernel();
  struct fault_outcome next = run_whole(file, "5");
  long long total = total_of(&next), wanted = keeps ? 15 : 5;
  if (total != wanted)
    print_message("# after call %d of %s: total %lld, not %lld\n", fault->nth,
                  fault->call, total, wanted);
  assert_int_equal(total, wanted);
  clear(NULL);
  return faulty.struck;
}

/* Likewise, with every call that fails once. */
static void each_call(const char *before, const char *file, bool keeps) {
  struct start start = {before, file, keeps};
  const char *argument[] = {"start_object", pins, file, "0", NULL};
  if (before)
    run_whole(before, "10");
  struct fault_counts *counts = fault_count(argument, false);
  clear(NULL);
  assert_true(fault_each_call(counts, one_call, &start) > 20);
}

/* ---- Starts ---- */

#define FIRST "tests/bpf/marked_calls"
#define AGAIN "tests/bpf/marked_calls_again"
#define OTHER "tests/bpf/marked_calls_other"

static void failing_steps_of_a_first_start(void **state) {
  (void)state;
  each_step(NULL, FIRST, false, "fail");
}

static void kills_in_a_first_start(void **state) {
  (void)state;
  each_step(NULL, FIRST, false, "kill");
}

static void failing_steps_of_an_adoption(void **state) {
  (void)state;
  each_step(FIRST, FIRST, true, "fail");
}

static void kills_in_an_adoption(void **state) {
  (void)state;
  each_step(FIRST, FIRST, true, "kill");
}

static void failing_steps_of_an_upgrade(void **state) {
  (void)state;
  each_step(FIRST, AGAIN, true, "fail");
}

static void kills_in_an_upgrade(void **state) {
  (void)state;
  each_step(FIRST, AGAIN, true, "kill");
}

static void failing_steps_of_a_replacement(void **state) {
  (void)state;
  each_step(FIRST, OTHER, false, "fail");
}

static void kills_in_a_replacement(void **state) {
  (void)state;
  each_step(FIRST, OTHER, false, "kill");
}

static void failing_calls_of_a_first_start(void **state) {
  (void)state;
  each_call(NULL, FIRST, false);
}

static void failing_calls_of_an_adoption(void **state) {
  (void)state;
  each_call(FIRST, FIRST, true);
}

static void failing_calls_of_an_upgrade(void **state) {
  (void)state;
  each_call(FIRST, AGAIN, true);
}

static void failing_calls_of_a_replacement(void **state) {
  (void)state;
  each_call(FIRST, OTHER, false);
}

/* test_steps [PATTERN]: all tests, or those whose names match. */
int main(int count, char **argument) {
  if (count > 1)
    cmocka_set_test_filter(argument[1]);
  if (!place_can_load())
    return 77;
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  snprintf(pins, sizeof(pins), "%s", place_pins());
  while (bpf_prog_get_next_id(newest_before, &newest_before) == 0)
    ;
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(failing_steps_of_a_first_start, clear),
      cmocka_unit_test_teardown(kills_in_a_first_start, clear),
      cmocka_unit_test_teardown(failing_calls_of_a_first_start, clear),
      cmocka_unit_test_teardown(failing_steps_of_an_adoption, clear),
      cmocka_unit_test_teardown(kills_in_an_adoption, clear),
      cmocka_unit_test_teardown(failing_calls_of_an_adoption, clear),
      cmocka_unit_test_teardown(failing_steps_of_an_upgrade, clear),
      cmocka_unit_test_teardown(kills_in_an_upgrade, clear),
      cmocka_unit_test_teardown(failing_calls_of_an_upgrade, clear),
      cmocka_unit_test_teardown(failing_steps_of_a_replacement, clear),
      cmocka_unit_test_teardown(kills_in_a_replacement, clear),
      cmocka_unit_test_teardown(failing_calls_of_a_replacement, clear),
  };
  int failed = cmocka_run_group_tests_name("steps", tests, NULL, NULL);
  return failed;
}
