/* SPDX-License-Identifier: MIT */
/*
 * Every step of bringing up an object fails once, and once the program is killed there.
 * Afterwards the pins are those from before or the new ones, never a mixture; the next
 * start succeeds, and totals go on where they must (O2, O3, O5, P1, P2).
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
#include "object/pins.h"
#define MOST_STEPS 400

static char pins[64], mark[64];

struct outcome {
  int status;      /* as wait(2) */
  long long total; /* printed, or -1 */
  bool struck;     /* the step was reached */
};

/* Runs start_object, with the nth step failing or killing (nth 0: none). */
static struct outcome run(const char *file, const char *calls, int nth,
                          const char *mode) {
  int ends[2];
  struct outcome outcome = {0, -1, false};
  char program[512], preload[512], number[16], text[32] = "";
  const char *build = getenv("BUILD_DIR");
  snprintf(program, sizeof(program), "%s/tests/faults/start_object",
           build ? build : ".");
  snprintf(preload, sizeof(preload), "%s/tests/faults/.libs/fail_nth.so",
           build ? build : ".");
  snprintf(number, sizeof(number), "%d", nth);
  assert_int_equal(pipe(ends), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], 1);
    if (nth) {
      setenv("FAULT_NTH", number, 1);
      setenv("FAULT_MODE", mode, 1);
      setenv("FAULT_MARK", mark, 1);
      setenv("LD_PRELOAD", preload, 1);
      if (!freopen("/dev/null", "w", stderr))
        _exit(3);
    }
    execl(program, program, pins, file, calls, (char *)NULL);
    _exit(3);
  }
  close(ends[1]);
  if (read(ends[0], text, sizeof(text) - 1) > 0)
    outcome.total = atoll(text);
  close(ends[0]);
  waitpid(child, &outcome.status, 0);
  outcome.struck = unlink(mark) == 0;
  return outcome;
}

static int programs_attached(void) {
  uint32_t id = 0;
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

static struct outcome run_whole(const char *file, const char *calls) {
  struct outcome outcome = run(file, calls, 0, NULL);
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
    struct outcome faulty = run(file, "0", nth += stride, mode);
    struck = faulty.struck;
    if (WIFSIGNALED(faulty.status))
      assert_int_equal(WTERMSIG(faulty.status), SIGKILL); /* and no crash */
    else
      assert_in_range(WEXITSTATUS(faulty.status), 0, 1);
    if (keeps) /* the same maps */
      wait_for_the_kernel();
    struct outcome next = run_whole(file, "5");
    long long wanted = keeps ? 15 : 5;
    if (next.total != wanted)
      print_message("# step %d: total %lld, not %lld\n", nth, next.total,
                    wanted);
    assert_int_equal(next.total, wanted);
    struct outcome again = run_whole(file, "1");
    assert_int_equal(again.total, wanted + 1);
    clear(NULL);
  }
  print_message("# %s at each %d of %d steps\n", mode, stride, nth - stride);
  assert_true(nth < MOST_STEPS);
}

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

int main(void) {
  if (!place_can_load())
    return 77;
  if (!place_pins()) {
    printf("# no bpffs can be mounted here\n");
    return 77;
  }
  snprintf(pins, sizeof(pins), "%s", place_pins());
  snprintf(mark, sizeof(mark), "/tmp/bpf_window_step.%d", getpid());
  const struct CMUnitTest tests[] = {
      cmocka_unit_test_teardown(failing_steps_of_a_first_start, clear),
      cmocka_unit_test_teardown(kills_in_a_first_start, clear),
      cmocka_unit_test_teardown(failing_steps_of_an_adoption, clear),
      cmocka_unit_test_teardown(kills_in_an_adoption, clear),
      cmocka_unit_test_teardown(failing_steps_of_an_upgrade, clear),
      cmocka_unit_test_teardown(kills_in_an_upgrade, clear),
      cmocka_unit_test_teardown(failing_steps_of_a_replacement, clear),
      cmocka_unit_test_teardown(kills_in_a_replacement, clear),
  };
  int failed = cmocka_run_group_tests_name("steps", tests, NULL, NULL);
  return failed;
}
