/* SPDX-License-Identifier: MIT */
#include "account_parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* ---- Generations ---- */

const struct bpf_window_epoch *
account_epoch_of(const struct generation *generation) {
  return reader_epoch(generation->reader);
}

void account_add(uint64_t *sums, const uint64_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    sums[i] += values[i];
}

void account_contribution(const struct generation *generation, uint64_t edge,
                          uint64_t *sums) {
  const struct window_snapshot *snapshot = generation->snapshot;
  if (snapshot->cursors) {
    window_total_at(snapshot, edge, sums);
    return;
  }
  window_sum(snapshot, generation->edge, edge, sums);
  account_add(sums, generation->counted, snapshot->values);
}

/* ---- Opening ---- */

/* NULL after a failure was set: memory or descriptors are short. */
static struct account *new_account(int fd, struct failure *failure) {
  struct account *account = calloc(1, sizeof(*account));
  if (account)
    account->state_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if (account && account->state_fd >= 0)
    return account;
  failure_set(failure, -ENOMEM, "out of memory or descriptors");
  account_free(&account);
  return NULL;
}

int account_open(struct account **out, int ring_fd, int epoch_fd, int cursor_fd,
                 int edge_fd, struct failure *failure) {
  struct account *account = new_account(edge_fd, failure);
  if (!account)
    return -ENOMEM;
  int status = reader_open(&account->current.reader, ring_fd, epoch_fd,
                           cursor_fd, failure);
  if (status != 0)
    account_free(&account);
  *out = account;
  return status;
}

/* What an earlier process dispatched last, if it can be understood. */
static int read_state(struct account *account, struct failure *failure) {
  struct pins_watch *state = &account->state;
  uint32_t zero = 0;
  if (bpf_map_lookup_elem(account->state_fd, &zero, state) != 0)
    return failure_set(failure, -errno, "cannot read the last edge: %s",
                       strerror(errno));
  if (state->format != PINS_WATCH_FORMAT ||
      window_epoch_problem(&state->record))
    memset(state, 0, sizeof(*state));
  account->has_past = state->edge.wall_ns != 0;
  return 0;
}

int account_watch(struct account **out, const char *path, int state_fd,
                  struct failure *failure) {
  struct account *account = new_account(state_fd, failure);
  if (!account)
    return -ENOMEM;
  account->path = strdup(path);
  int status = account->path ? read_state(account, failure)
                             : failure_set(failure, -ENOMEM, "out of memory");
  if (status != 0)
    account_free(&account);
  *out = account;
  return status;
}

void account_free(struct account **account) {
  if (!*account)
    return;
  reader_close(&(*account)->current.reader);
  reader_close(&(*account)->old.reader);
  if ((*account)->state_fd >= 0)
    close((*account)->state_fd);
  free((*account)->path);
  free(*account);
  *account = NULL;
}

int account_state_fd(const struct account *account) {
  return account->state_fd;
}

const bool *account_fresh(const struct account *account) {
  return account->fresh;
}

const struct bpf_window_epoch *account_epoch(const struct account *account) {
  return account->current.reader ? account_epoch_of(&account->current) : NULL;
}

/* ---- Reading ---- */

int account_take(struct account *account, struct failure *failure) {
  int status = reader_snapshot(account->current.reader,
                               &account->current.snapshot, failure);
  if (status == 0 && account->old.reader)
    status =
        reader_snapshot(account->old.reader, &account->old.snapshot, failure);
  return status;
}

int account_last(struct account *account, struct pins_edge *last,
                 struct failure *failure) {
  uint32_t zero = 0;
  if (!account->path) {
    if (bpf_map_lookup_elem(account->state_fd, &zero, &account->state.edge) !=
        0)
      return failure_set(failure, -errno, "cannot read the last edge: %s",
                         strerror(errno));
    account->current.edge = account->state.edge.edge;
  }
  *last = account->state.edge;
  return 0;
}

struct edges account_due(const struct account *account,
                         const struct clock_pair *now, uint64_t interval_ns,
                         const struct pins_edge *last) {
  /* The old maps tell all that the new ones do not: their past goes further back. */
  const struct generation *generation =
      account->old.reader ? &account->old : &account->current;
  struct pins_edge own = *last;
  own.edge = generation->edge;
  return edges_due(account_epoch_of(generation), now, interval_ns, &own);
}

/* Calls contribution for all that is held, at the edges that edge_of tells. */
static void total(const struct account *account, const uint64_t edges[2],
                  uint64_t *totals) {
  const struct generation *const all[] = {&account->current, &account->old};
  uint32_t values = account_epoch_of(&account->current)->values;
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  memcpy(totals, account->state.carried, values * sizeof(*totals));
  for (int i = 0; i < 2; i++) {
    if (!all[i]->reader)
      continue;
    account_contribution(all[i], edges[i], sums);
    account_add(totals, sums, values);
  }
}

static uint64_t edge_in(const struct generation *generation,
                        const struct clock_pair *now, uint64_t wall_ns) {
  return generation->reader
             ? edges_in_window(account_epoch_of(generation), now, wall_ns)
             : 0;
}

void account_total_at(const struct account *account,
                      const struct clock_pair *now, uint64_t wall_ns,
                      uint64_t *totals) {
  const uint64_t edges[] = {edge_in(&account->current, now, wall_ns),
                            edge_in(&account->old, now, wall_ns)};
  total(account, edges, totals);
}

void account_total_again(const struct account *account, uint64_t *totals) {
  const uint64_t edges[] = {account->current.edge, account->old.edge};
  total(account, edges, totals);
}

void account_sum(const struct account *account, const struct clock_pair *now,
                 uint64_t wall_ns, uint64_t buckets, uint64_t *sums) {
  const struct generation *const all[] = {&account->current, &account->old};
  uint32_t values = account_epoch_of(&account->current)->values;
  uint64_t more[BPF_WINDOW_MAX_VALUES];
  memset(sums, 0, values * sizeof(*sums));
  for (int i = 0; i < 2; i++) {
    if (!all[i]->reader)
      continue;
    uint64_t to = edge_in(all[i], now, wall_ns);
    window_sum(all[i]->snapshot, to > buckets ? to - buckets : 0, to, more);
    account_add(sums, more, values);
  }
}

/* ---- Keeping ---- */

static void keep_edge(struct generation *generation,
                      const struct clock_pair *now, uint64_t wall_ns) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  if (!generation->reader)
    return;
  uint64_t edge = edge_in(generation, now, wall_ns);
  if (!generation->snapshot->cursors) {
    account_contribution(generation, edge, sums);
    memcpy(generation->counted, sums,
           generation->snapshot->values * sizeof(*sums));
  }
  generation->edge = edge;
}

/* What the next process must add to the current maps alone. */
static void write_state(const struct account *account,
                        struct pins_watch *state) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  *state = account->state;
  state->format = PINS_WATCH_FORMAT;
  if (!account->old.reader)
    return;
  account_contribution(&account->old, account->old.edge, sums);
  account_add(state->carried, sums,
              account_epoch_of(&account->current)->values);
}

int account_keep(struct account *account, const struct clock_pair *now,
                 struct pins_edge *edge, const uint64_t *totals,
                 struct failure *failure) {
  uint32_t zero = 0;
  const void *value = &account->state.edge;
  keep_edge(&account->current, now, edge->wall_ns);
  keep_edge(&account->old, now, edge->wall_ns);
  edge->edge = account->current.edge;
  account->state.edge = *edge;
  if (account->path) {
    memcpy(account->state.dispatched, totals,
           account_epoch_of(&account->current)->values * sizeof(*totals));
    write_state(account, &account->written);
    value = &account->written;
  }
  if (bpf_map_update_elem(account->state_fd, &zero, value, BPF_ANY) != 0)
    return failure_set(failure, -errno, "cannot keep the last edge: %s",
                       strerror(errno));
  return 0;
}

bool account_is_exact(const struct account *account) {
  return account->current.snapshot->cursors != NULL;
}

uint64_t account_retries(const struct account *account) {
  uint64_t retries = account->retries;
  if (account->current.reader)
    retries += reader_statistics(account->current.reader)->retries;
  if (account->old.reader)
    retries += reader_statistics(account->old.reader)->retries;
  return retries;
}
