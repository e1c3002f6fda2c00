/* SPDX-License-Identifier: MIT */
#include "fault.h"

#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#define MOST_FUNCTIONS 64
#define MOST_CALLS 10 /* of a function */

struct fault_counts {
  struct {
    char name[40];
    int calls;
  } function[MOST_FUNCTIONS];
  int functions;
  bool waits;
};

static const char *build(void) {
  const char *folder = getenv("BUILD_DIR");
  return folder ? folder : ".";
}

/* The file that tells that a fault was reached, or the counts. */
static const char *mark(void) {
  static char path[64];
  snprintf(path, sizeof(path), "/tmp/bpf_window_fault.%d", getpid());
  return path;
}

static void set_number(const char *variable, int number) {
  char text[16];
  snprintf(text, sizeof(text), "%d", number);
  setenv(variable, text, 1);
}

/* Sanitized, a program wants its sanitizer loaded before all others. */
static void set_preload(void) {
  char preload[512], options[512];
  const char *before = getenv("ASAN_OPTIONS");
  snprintf(preload, sizeof(preload), "%s/tests/faults/.libs/fail_nth.so",
           build());
  snprintf(options, sizeof(options), "%s:verify_asan_link_order=0",
           before ? before : "");
  setenv("ASAN_OPTIONS", options, 1);
  setenv("LD_PRELOAD", preload, 1);
}

/* In the child, whose parent has that mark. */
static void set_fault(const struct fault *fault, const char *parents_mark) {
  if (fault->nth) {
    set_number("FAULT_NTH", fault->nth);
    set_number("FAULT_ERRNO", fault->error ? fault->error : EIO);
    setenv("FAULT_MODE", fault->mode, 1);
    setenv("FAULT_MARK", parents_mark, 1);
  }
  if (fault->waits)
    setenv("FAULT_WAIT", "1", 1);
  if (fault->call && fault->nth)
    setenv("FAULT_CALL", fault->call, 1);
  else if (fault->call)
    setenv("FAULT_COUNTS", parents_mark, 1);
  if (fault->nth || fault->call)
    set_preload();
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

struct fault_outcome fault_run(const char *const argument[],
                               const struct fault *fault) {
  int out[2], err[2];
  struct fault_outcome outcome = {0};
  char program[512];
  const char *own_mark = mark();
  snprintf(program, sizeof(program), "%s/tests/faults/%s", build(),
           argument[0]);
  assert_int_equal(pipe(out), 0);
  assert_int_equal(pipe(err), 0);
  pid_t child = fork();
  if (child == 0) {
    dup2(out[1], 1);
    dup2(err[1], 2);
    set_fault(fault, own_mark);
    execv(program, (char *const *)argument);
    _exit(3);
  }
  close(out[1]);
  close(err[1]);
  read_all(out[0], outcome.printed, sizeof(outcome.printed));
  read_all(err[0], outcome.text, sizeof(outcome.text));
  waitpid(child, &outcome.status, 0);
  if (fault->nth)
    outcome.struck = unlink(own_mark) == 0;
  return outcome;
}

void fault_check_text(const struct fault_outcome *outcome, int error) {
  const char *text = outcome->text, *end = strchr(text, '\n');
  /* The last is what is left to say where a program cannot be looked at. */
  bool said = strstr(text, strerror(error)) || strstr(text, "out of memory") ||
              strstr(text, "no program that uses it");
  if (!said || !end || end[1] != '\0')
    print_message("# it says: %s\n", text);
  assert_true(said);
  assert_non_null(end);
  assert_int_equal(end[1], '\0');
}

struct fault_counts *fault_count(const char *const argument[], bool waits) {
  struct fault_counts *counts = calloc(1, sizeof(*counts));
  struct fault fault = {.call = "", .waits = waits};
  struct fault_outcome whole = fault_run(argument, &fault);
  if (whole.status != 0)
    print_message("# it says: %s\n", whole.text);
  assert_int_equal(whole.status, 0);
  FILE *file = fopen(mark(), "re");
  assert_non_null(file);
  unlink(mark());
  while (counts->functions < MOST_FUNCTIONS &&
         fscanf(file, "%39s %d", counts->function[counts->functions].name,
                &counts->function[counts->functions].calls) == 2)
    counts->functions++;
  fclose(file);
  counts->waits = waits;
  return counts;
}

int fault_each_call(struct fault_counts *counts,
                    bool (*one)(const struct fault *fault, void *context),
                    void *context) {
  int stride = getenv("IN_VM") ? 7 : 1, calls = 0;
  for (int f = 0; f < counts->functions; f++) {
    const char *name = counts->function[f].name;
    bool memory = strstr(name, "alloc") || strcmp(name, "strdup") == 0;
    struct fault fault = {.mode = "fail",
                          .call = name,
                          .error = memory ? ENOMEM : EIO,
                          .waits = counts->waits};
    while (++fault.nth <= counts->function[f].calls &&
           fault.nth <= MOST_CALLS &&
           (calls % stride != 0 || one(&fault, context)))
      calls++;
    assert_true(fault.nth > 1);
  }
  free(counts);
  print_message("# each %d of %d calls failed\n", stride, calls);
  return calls;
}
