/* SPDX-License-Identifier: MIT */
/* Runs a program of this folder with fail_nth.c preloaded, and says what came of it. */
#ifndef TESTS_FAULT_H
#define TESTS_FAULT_H

#include <stdbool.h>

struct fault {
  int nth;          /* 0: none */
  const char *mode; /* see fail_nth.c */
  const char *call; /* NULL: steps */
  int error;        /* 0: EIO */
  bool waits;       /* until the program says that it begins */
};

struct fault_outcome {
  int status;        /* as wait(2) */
  bool struck;       /* the fault was reached */
  char printed[256]; /* on stdout */
  char text[1024];   /* on stderr */
};

/* argument[0] is the program's name in this folder. */
struct fault_outcome fault_run(const char *const argument[],
                               const struct fault *fault);

/* Asserts that the text is one line with the error in words. */
void fault_check_text(const struct fault_outcome *outcome, int error);

/* Which functions that can be made to fail a program calls, and how often. */
struct fault_counts;
struct fault_counts *fault_count(const char *const argument[], bool waits);

/* Calls one for each such call, of those made very often the first ten, under emulation
 * every seventh only. It returns false where the call was not made this time, which
 * is none of the first. Frees counts; returns how many there were. */
int fault_each_call(struct fault_counts *counts,
                    bool (*one)(const struct fault *fault, void *context),
                    void *context);

#endif
