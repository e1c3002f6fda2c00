/* SPDX-License-Identifier: MIT */
/*
 * tap.h - cases that each run in a process and mount namespace of their own, so
 * that they may chroot, mount and die; each is one TAP line.
 */
#ifndef TESTS_POLICY_TAP_H
#define TESTS_POLICY_TAP_H

#include <stdbool.h>

struct tap_case {
  const char *name;
  void (*run)(void);
};

/* Runs a case and prints its line, "group: name". Returns whether it did not
 * fail. */
bool tap_run(const char *group, const struct tap_case *tested);

/* Lines for what was found out otherwise. */
void tap_result(bool ok, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tap_skip(const char *reason, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
void tap_note(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* Prints the plan; the program's exit status: 1 if a line was "not ok". */
int tap_end(void);

/* Ends the running case. */
void fail(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));
void skip(const char *format, ...)
    __attribute__((noreturn, format(printf, 1, 2)));

/* Ends the case as failed if a call that is only preparation fails. */
#define must(call)                                                             \
  ({                                                                           \
    long must_result = (long)(call);                                           \
    if (must_result < 0)                                                       \
      fail("%s:%d: %s: %m", __FILE__, __LINE__, #call);                        \
    must_result;                                                               \
  })

#endif
