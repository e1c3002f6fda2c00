/* SPDX-License-Identifier: MIT */
/*
 * policy_state.h - the state of a policy in the kernel, and how it is changed.
 *
 * A change is made in steps, each of which the kernel does at once:
 *
 *  1. begin: the generation becomes odd. Verdicts remembered are even: from here
 *     on none applies, and none is made to be remembered.
 *  2. Whatever changes besides: rules, marks.
 *  3. The terms are written (policy_state_write).
 *  4. end: the generation becomes even, a new one. (Not together with 3: the
 *     kernel copies word by word, and a program might read this generation with
 *     the terms before.)
 *
 * Whoever is stopped in between leaves an odd generation: every open walks, and
 * is judged by one of the two sets of rules. The next change goes on from there.
 *
 * All return 0 or -errno, without a text.
 */
#ifndef BPF_WINDOW_POLICY_STATE_H
#define BPF_WINDOW_POLICY_STATE_H

#include "policy.h"

/* -EINVAL: it is of another version of this program. */
int policy_state_read(int fd, struct file_policy_state *state);
int policy_state_write(int fd, const struct file_policy_state *state);

int policy_state_begin(int fd, struct file_policy_state *state);
int policy_state_end(int fd, struct file_policy_state *state);

/* The text for what reading it came to; returns the status. */
int policy_state_unread(int status, struct failure *failure);

#endif
