/* SPDX-License-Identifier: MIT */
/*
 * failure.h - one line of text that says what went wrong, where, and what to do.
 *
 * Functions that can fail in ways a person must act on take a struct failure *
 * and return 0 or -errno. The text is written by the place that knows the cause;
 * callers pass it on and add nothing but their own name in front.
 */
#ifndef BPF_WINDOW_FAILURE_H
#define BPF_WINDOW_FAILURE_H

struct failure {
  char text[768]; /* one line, no newline; empty if nothing failed */
};

/* Formats the text (cut off if too long) and returns status, so that a failing
 * branch is `return failure_set(failure, -EINVAL, "...", ...)`. failure may be
 * NULL: the text is dropped. */
int failure_set(struct failure *failure, int status, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
