/* SPDX-License-Identifier: MIT */
/*
 * account_parts.h - what the files that make up account.h share. Private to them:
 *
 *   account.c         opened, read, kept
 *   account_follow.c  maps found by the pin, and what they take over
 */
#ifndef BPF_WINDOW_ACCOUNT_PARTS_H
#define BPF_WINDOW_ACCOUNT_PARTS_H

#include "account.h"

/* One set of maps. */
struct generation {
  struct reader *reader; /* NULL: there is none */
  const struct window_snapshot *snapshot;
  uint64_t edge; /* kept last, in the numbers of these maps */
  /* A5: of a window without a cursor, what was counted up to that edge. */
  uint64_t counted[BPF_WINDOW_MAX_VALUES];
};

struct account {
  char *path; /* NULL: a window of ours */
  int state_fd;
  struct generation current, old;
  uint64_t old_until_ns;     /* CLOCK_MONOTONIC */
  struct pins_watch state;   /* all but edge unused for a window of ours */
  struct pins_watch written; /* to work in */
  bool looked, has_past;     /* has_past: the state is of an earlier time */
  bool pinned;               /* when it was looked at last */
  bool fresh[BPF_WINDOW_MAX_VALUES]; /* see account_fresh */
  uint64_t retries;                  /* of readers closed since */
};

const struct bpf_window_epoch *
account_epoch_of(const struct generation *generation);

/* What it counted up to an edge in its own numbers, not before the kept one. */
void account_contribution(const struct generation *generation, uint64_t edge,
                          uint64_t *sums);

/* Adds count values. */
void account_add(uint64_t *sums, const uint64_t *values, uint32_t count);

#endif
