/* SPDX-License-Identifier: MIT */
/*
 * account.h - the totals of a window, beyond the life of its maps.
 *
 * A window of an object of ours has one set of maps; what was dispatched last is
 * in the pinned map `<window>_edge`. A window that another agent owns is followed
 * by its pin, and may come back with other maps:
 *
 * A1  Totals go on. What the old maps counted, up to their very last event, is
 *     carried to the totals of the new ones; the old maps are held and read for
 *     another five minutes, since their programs may count on for a while.
 * A2  After a restart of this process, too. If the maps were replaced meanwhile,
 *     the totals go on from the edge dispatched last; what the old maps counted
 *     behind it is gone with them.
 * A3  Nothing is counted twice, and nothing from before: of maps that are older
 *     than the last edge only what they count behind it is added.
 * A4  Maps with other counters: values of the same name go on, also those of an array
 *     that is longer or shorter now; all others begin at 0.
 * A5  A window without a cursor does not tell totals: they are added up, bucket by
 *     bucket, from the oldest second that it still has when it is first seen. What
 *     it no longer has when it is read again, nobody knows.
 * A6  While the pin is gone the maps are read on. Nothing of the agent's is ever
 *     written.
 */
#ifndef BPF_WINDOW_ACCOUNT_H
#define BPF_WINDOW_ACCOUNT_H

#include "edges.h"
#include "window/reader.h"

struct account;

/* A window of ours. The descriptors are duplicated. */
int account_open(struct account **account, int ring_fd, int epoch_fd,
                 int cursor_fd, int edge_fd, struct failure *failure);

/* A window of others, by the path of its pin, which need not be there yet.
 * state_fd, duplicated, is a map of one struct pins_watch. */
int account_watch(struct account **account, const char *path, int state_fd,
                  struct failure *failure);

void account_free(struct account **account);

enum account_news {
  ACCOUNT_SAME,
  ACCOUNT_FOUND,   /* the first maps that this process has of it */
  ACCOUNT_AGAIN,   /* other maps, same counters */
  ACCOUNT_CHANGED, /* other maps, other counters (A4) */
  ACCOUNT_MISSING, /* there is no pin, and there was none before */
  ACCOUNT_GONE,    /* the pin is gone (A6) */
  ACCOUNT_BACK,    /* it is back, with the same maps */
};

/*
 * Looks at the pin; nothing for a window of ours. *news says what is new, once.
 * Errors: the pin cannot be read, or is no window; what is held is read on.
 */
int account_follow(struct account *account, const struct clock_pair *now,
                   enum account_news *news, struct failure *failure);

/* After ACCOUNT_CHANGED, for each value: whether the maps before had no such. */
const bool *account_fresh(const struct account *account);

/* The map in which it is kept what was dispatched; the account's. */
int account_state_fd(const struct account *account);

/* The record of the newest maps; NULL while there are none. */
const struct bpf_window_epoch *account_epoch(const struct account *account);

/* Copies the maps, for all that follows. Errors: those of reader_snapshot. */
int account_take(struct account *account, struct failure *failure);

/* What was dispatched last. Errors: of reading the map. */
int account_last(struct account *account, struct pins_edge *last,
                 struct failure *failure);

struct edges account_due(const struct account *account,
                         const struct clock_pair *now, uint64_t interval_ns,
                         const struct pins_edge *last);

/* Writes totals[values] up to an edge of the wall clock. */
void account_total_at(const struct account *account,
                      const struct clock_pair *now, uint64_t wall_ns,
                      uint64_t *totals);

/* The same for the edge kept last, as the maps tell it now. */
void account_total_again(const struct account *account, uint64_t *totals);

/* Writes sums[values] of so many buckets up to an edge of the wall clock. */
void account_sum(const struct account *account, const struct clock_pair *now,
                 uint64_t wall_ns, uint64_t buckets, uint64_t *sums);

/* Keeps an edge with its totals as dispatched; edge->edge is set here. */
int account_keep(struct account *account, const struct clock_pair *now,
                 struct pins_edge *edge, const uint64_t *totals,
                 struct failure *failure);

/* Whether nothing is missing in the totals after a gap longer than the ring: not of
 * a window without a cursor (A5). For one that was taken. */
bool account_is_exact(const struct account *account);

/* Copies thrown away because a CPU rolled meanwhile, since account_open. */
uint64_t account_retries(const struct account *account);

#endif
