/* SPDX-License-Identifier: MIT */
/* explain.h - why the kernel refused a program: cause and remedy in one line. */
#ifndef BPF_WINDOW_EXPLAIN_H
#define BPF_WINDOW_EXPLAIN_H

#include "window/failure.h"

/* What was done ("loading", "attaching NAME") ended with status, of which libbpf
 * or the kernel said that. Returns status. */
int explain_refusal(int status, const char *doing, const char *said,
                    struct failure *failure);

/* Why programs of security hooks cannot run, or 0: bpf is an active security
 * module. -ENOTSUP: it is not, or that cannot be told. */
int explain_lsm(struct failure *failure);

/* Why a program at a tracepoint cannot be attached, or 0: tracefs is mounted. */
int explain_tracefs(struct failure *failure);

#endif
