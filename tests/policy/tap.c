/* SPDX-License-Identifier: MIT */
#include "tap.h"

#include <sched.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define STATUS_FAILED 1
#define STATUS_SKIPPED 77

static unsigned lines, failures;
static int report = STDOUT_FILENO; /* where the reason of a case goes */

static void print_line(bool ok, const char *format, va_list arguments) {
  lines++;
  failures += !ok;
  printf("%s %u - ", ok ? "ok" : "not ok", lines);
  vprintf(format, arguments);
}

void tap_result(bool ok, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(ok, format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

void tap_skip(const char *reason, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  print_line(true, format, arguments);
  va_end(arguments);
  printf(" # SKIP %s\n", reason);
  fflush(stdout);
}

void tap_note(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  printf("# ");
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  fflush(stdout);
}

int tap_end(void) {
  printf("1..%u\n", lines);
  return failures > 0;
}

static void __attribute__((noreturn))
end_case(int status, const char *format, va_list arguments) {
  vdprintf(report, format, arguments);
  _exit(status);
}

void fail(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_case(STATUS_FAILED, format, arguments);
}

void skip(const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  end_case(STATUS_SKIPPED, format, arguments);
}

static void __attribute__((noreturn)) run_here(const struct tap_case *tested) {
  must(unshare(CLONE_NEWNS));
  must(mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL));
  tested->run();
  _exit(0);
}

bool tap_run(const char *group, const struct tap_case *tested) {
  int ends[2], status;
  char reason[1024];
  size_t length = 0;
  ssize_t got;
  fflush(stdout);
  if (pipe(ends) != 0)
    return false;
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    report = ends[1];
    run_here(tested);
  }
  close(ends[1]);
  while ((got = read(ends[0], reason + length, sizeof(reason) - 1 - length)) >
         0)
    length += got;
  reason[length] = '\0';
  close(ends[0]);
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == STATUS_SKIPPED) {
    tap_skip(reason, "%s: %s", group, tested->name);
    return true;
  }
  bool ok = WIFEXITED(status) && WEXITSTATUS(status) == 0;
  tap_result(ok, "%s: %s", group, tested->name);
  if (WIFSIGNALED(status))
    tap_note("killed by signal %d", WTERMSIG(status));
  if (!ok && length > 0)
    tap_note("%s", reason);
  return ok;
}
