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
#include "object/pins.h"
#define MOST_STEPS 400

static char pins[64], mark[64];

struct fault {
  int nth;          /* 0: none */
  const char *mode; /* see fail_nth.c */
  const char *call; /* NULL: steps */
  int error;
};

struct outcome {
  int status;      /* as wait(2) */
  long long total; /* printed, or -1 */
  bool struck;     /* the fault was reached */
  char text[1024]; /* on stderr */
};

static const char *build(void) {
  const char *folder = getenv("BUILD_DIR");
  return folder ? folder : ".";
}

static void set_number(const char *variable, int number) {
  char text[16];
  snprintf(text, sizeof(text), "%d", number);
  setenv(variable, text, 1);
}

/* In the child. */
static void set_fault(const struct fault *fault) {
  char preload[512];
  snprintf(preload, sizeof(preload), "%s/tests/faults/.libs/fail_nth.so",
           build());
  if (fault->nth) {
    set_number("FAULT_NTH", fault->nth);
    set_number("FAULT_ERRNO", fault->error ? fault->error : EIO);
    setenv("FAULT_MODE", fault->mode, 1);
    setenv("FAULT_MARK", mark, 1);
  }
  if (fault->call)
    setenv(fault->nth ? "FAULT_CALL" : "FAULT_COUNTS",
           fault->nth ? fault->call : mark, 1);
  if (fault->nth || fault->call)
    setenv("LD_PRELOAD", preload, 1);
}

static void read_all(int fd, char *text, size_t size) {
  size_t length = 0;
  ssize_t got;
  while (length < size - 1 &&
         (got = read(fd, text + length, size - 1 - length)) > 0)
    length += (size_t)got;
  text[length] = '\0';
  close(fd);
}

/* Runs start_object with a fault. One with a call but without nth makes the file of
 * counts, see fail_nth.c. */
static struct outcome run(const char *file, const char *calls,
                          const struct fault *fault) {
  int out[2], err[2];
  struct outcome outcome = {0, -1, false, ""};
  char program[512], text[32];
  snprintf(program, sizeof(program), "%s/tests/faults/start_object", build());
  assert_int_equal(pipe(out), 0);
  assert_int_equal(pipe(err), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    dup2(err[1], 2);
    set_fault(fault);
    execl(program, program, pins, file, calls, (char *)NULL);
    _exit(3);
  }
  close(out[1]);
  close(err[1]);
  read_all(out[0], text, sizeof(text));
  read_all(err[0], outcome.text, sizeof(outcome.text));
  if (text[0])
    outcome.total = atoll(text);
  waitpid(child, &outcome.status, 0);
  if (fault->nth)
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
  struct outcome outcome = run(file, calls, &(struct fault){0});
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
    struct outcome faulty = run(file, "0", &fault);
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

/* ---- Calls ---- */

/* One line, with the cause in words. */
static void check_text(const struct outcome *outcome, int error) {
  const char *text = outcome->text;
  bool said = strstr(text, strerror(error)) || strstr(text, "out of memory");
  if (!said || !strchr(text, '\n') || strchr(text, '\n')[1] != '\0')
    print_message("# says: %s\n", text);
  assert_true(said);
  assert_non_null(strchr(text, '\n'));
  assert_int_equal(strchr(text, '\n')[1], '\0');
}

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

static bool one_call(const char *before, const char *file, bool keeps,
                     const struct fault *fault) {
  if (before)
    run_whole(before, "10");
  struct outcome faulty = run(file, "0", fault);
  assert_true(WIFEXITED(faulty.status));
  if (WEXITSTATUS(faulty.status) == 0) { /* it does without */
    assert_int_equal(faulty.total, keeps ? 10 : 0);
    assert_string_equal(faulty.text, "");
  } else {
    assert_int_equal(WEXITSTATUS(faulty.status), 1);
    check_text(&faulty, fault->error);
    check_nothing_left();
  }
  if (keeps)
    wait_for_the_kernel();
  long long total = run_whole(file, "5").total, wanted = keeps ? 15 : 5;
  if (total != wanted)
    print_message("# after call %d of %s: total %lld, not %lld\n", fault->nth,
                  fault->call, total, wanted);
  assert_int_equal(total, wanted);
  clear(NULL);
  return faulty.struck;
}

/* Likewise, with every call that fails once: of those made very often the first ten.
 * Under emulation every seventh. */
static void each_call(const char *before, const char *file, bool keeps) {
  char name[64];
  int count, done = 0, seen = 0, stride = getenv("IN_VM") ? 7 : 1;
  if (before)
    run_whole(before, "10");
  assert_int_equal(run(file, "0", &(struct fault){.call = ""}).status, 0);
  clear(NULL);
  FILE *counts = fopen(mark, "re");
  assert_non_null(counts);
  unlink(mark);
  while (fscanf(counts, "%63s %d", name, &count) == 2) {
    bool memory = strstr(name, "alloc") || strcmp(name, "strdup") == 0;
    struct fault fault = {
        .mode = "fail", .call = name, .error = memory ? ENOMEM : EIO};
    /* How often it waits for the kernel differs. */
    while (++fault.nth <= count && fault.nth <= 10 &&
           (seen++ % stride != 0 || one_call(before, file, keeps, &fault)))
      done++;
    assert_true(fault.nth > 1);
  }
  fclose(counts);
  print_message("# each %d of %d calls failed\n", stride, done);
  assert_true(done > 20);
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
  snprintf(mark, sizeof(mark), "/tmp/bpf_window_step.%d", getpid());
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
