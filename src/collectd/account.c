/* SPDX-License-Identifier: MIT */
#include "account.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "object/locate.h"

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
  uint64_t old_until_ns;      /* CLOCK_MONOTONIC */
  struct pins_watch state;    /* all but edge unused for a window of ours */
  struct pins_watch written;  /* to work in */
  bool looked, has_past;      /* has_past: the state is of an earlier time */
  bool pinned;                /* when it was looked at last */
  bool fresh[BPF_WINDOW_MAX_VALUES]; /* see account_fresh */
  uint64_t retries;           /* of readers closed since */
};

/* ---- Generations ---- */

static const struct bpf_window_epoch *
epoch_of(const struct generation *generation) {
  return reader_epoch(generation->reader);
}

static void add(uint64_t *sums, const uint64_t *values, uint32_t count) {
  for (uint32_t i = 0; i < count; i++)
    sums[i] += values[i];
}

/* What it counted up to an edge in its own numbers, not before the kept one. */
static void contribution(const struct generation *generation, uint64_t edge,
                         uint64_t *sums) {
  const struct window_snapshot *snapshot = generation->snapshot;
  if (snapshot->cursors) {
    window_total_at(snapshot, edge, sums);
    return;
  }
  window_sum(snapshot, generation->edge, edge, sums);
  add(sums, generation->counted, snapshot->values);
}

static void close_generation(struct account *account,
                             struct generation *generation) {
  if (generation->reader)
    account->retries += reader_statistics(generation->reader)->retries;
  reader_close(&generation->reader);
  memset(generation, 0, sizeof(*generation));
}

/* A1: its whole count becomes part of what is carried. Needs a snapshot. */
static void carry(struct account *account, struct generation *generation,
                  uint64_t mono_ns) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  if (!generation->reader)
    return;
  /* Not all labels there are: what was never set up may hold any. */
  uint64_t end = generation->snapshot->cursors
                     ? UINT64_MAX
                     : window_open_bucket(epoch_of(generation), mono_ns) + 1;
  contribution(generation, end, sums);
  add(account->state.carried, sums, epoch_of(generation)->values);
  close_generation(account, generation);
}

/* ---- Opening ---- */

static int new_account(struct account **account, int fd,
                       struct failure *failure) {
  *account = calloc(1, sizeof(**account));
  if (!*account)
    return failure_set(failure, -ENOMEM, "out of memory");
  (*account)->state_fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
  if ((*account)->state_fd >= 0)
    return 0;
  int status = failure_set(failure, -errno, "cannot keep the edge's map: %s",
                           strerror(errno));
  account_free(account);
  return status;
}

int account_open(struct account **account, int ring_fd, int epoch_fd,
                 int cursor_fd, int edge_fd, struct failure *failure) {
  int status = new_account(account, edge_fd, failure);
  if (status == 0)
    status = reader_open(&(*account)->current.reader, ring_fd, epoch_fd,
                         cursor_fd, failure);
  if (status != 0)
    account_free(account);
  return status;
}

int account_watch(struct account **account, const char *path, int state_fd,
                  struct failure *failure) {
  int status = new_account(account, state_fd, failure);
  if (status != 0)
    return status;
  struct pins_watch *state = &(*account)->state;
  uint32_t zero = 0;
  (*account)->path = strdup(path);
  if (!(*account)->path)
    status = failure_set(failure, -ENOMEM, "out of memory");
  else if (bpf_map_lookup_elem(state_fd, &zero, state) != 0)
    status = failure_set(failure, -errno, "cannot read the last edge: %s",
                         strerror(errno));
  if (status != 0)
    account_free(account);
  else if (state->format != PINS_WATCH_FORMAT ||
           window_epoch_problem(&state->record))
    memset(state, 0, sizeof(*state));
  else
    (*account)->has_past = state->edge.wall_ns != 0;
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

/* ---- Following the pin ---- */

/* The first value of a counter of the same name and length, or -1. */
static int value_of_same(const struct bpf_window_epoch *epoch,
                         const struct bpf_window_counter *wanted) {
  int value = 0;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    if (strcmp(counter->name, wanted->name) == 0 &&
        counter->values == wanted->values)
      return value;
    value += (int)counter->values;
  }
  return -1;
}

/* A4: values of the counters that both records have; the rest is 0, and fresh. */
static void carry_over(const struct bpf_window_epoch *from,
                       const struct bpf_window_epoch *to, uint64_t *values,
                       bool *fresh) {
  uint64_t before[BPF_WINDOW_MAX_VALUES];
  memcpy(before, values, sizeof(before));
  for (uint32_t c = 0, at = 0; c < to->counters; at += to->counter[c++].values) {
    const struct bpf_window_counter *counter = &to->counter[c];
    int was = value_of_same(from, counter);
    for (uint32_t i = 0; i < counter->values; i++) {
      fresh[at + i] = was < 0;
      values[at + i] = was < 0 ? 0 : before[(uint32_t)was + i];
    }
  }
}

static bool same_counters(const struct bpf_window_epoch *one,
                          const struct bpf_window_epoch *other) {
  return one->width_ns == other->width_ns && one->counters == other->counters &&
         memcmp(one->counter, other->counter,
                one->counters * sizeof(*one->counter)) == 0;
}

/* A3: begins at the edge dispatched last. Needs the carried totals of what was
 * there before. */
static void begin(struct account *account, const struct edges_now *now) {
  struct generation *current = &account->current;
  const struct bpf_window_epoch *epoch = epoch_of(current);
  uint64_t before[BPF_WINDOW_MAX_VALUES];
  uint64_t edge = edges_in_window(epoch, now, account->state.edge.wall_ns);
  current->edge = edge;
  if (edge == 0 || !current->snapshot->cursors)
    return; /* newer than that edge, or counted from it on anyhow */
  window_total_at(current->snapshot, edge, before);
  for (uint32_t i = 0; i < epoch->values; i++)
    account->state.carried[i] -= before[i];
}

/* The maps that an earlier process dispatched last. */
static void resume(struct account *account) {
  struct generation *current = &account->current;
  current->edge = account->state.edge.edge;
  for (uint32_t i = 0; i < epoch_of(current)->values; i++)
    current->counted[i] =
        account->state.dispatched[i] - account->state.carried[i];
}

/* Takes new maps for the current ones. Both have a snapshot. */
static enum account_news replace(struct account *account,
                                 struct generation *found,
                                 const struct edges_now *now) {
  struct pins_watch *state = &account->state;
  const struct bpf_window_epoch *epoch = epoch_of(found);
  enum account_news news = ACCOUNT_FOUND;
  bool held = account->current.reader != NULL;
  bool same_maps = state->ring_id == reader_ring_id(found->reader) &&
                   state->record.epoch_ns == epoch->epoch_ns;
  bool same = same_counters(&state->record, epoch);
  if (held) {
    carry(account, &account->old, now->mono_ns);
    if (same) {
      account->old = account->current;
      account->old_until_ns =
          now->mono_ns + BPF_WINDOW_SLOTS * epoch->width_ns;
    } else {
      carry(account, &account->current, now->mono_ns);
    }
  } else if (account->has_past && !same_maps) { /* A2 */
    memcpy(state->carried, state->dispatched, sizeof(state->carried));
  }
  if (held || (account->has_past && !same_maps))
    news = same ? ACCOUNT_AGAIN : ACCOUNT_CHANGED;
  if (news == ACCOUNT_CHANGED)
    carry_over(&state->record, epoch, state->carried, account->fresh);
  account->current = *found;
  if (news != ACCOUNT_FOUND)
    begin(account, now);
  else if (account->has_past)
    resume(account);
  state->ring_id = reader_ring_id(found->reader);
  state->record = *epoch;
  return news;
}

/* Opens what is pinned there now, with a first copy. */
static int open_found(const char *path, struct generation *found,
                      struct failure *failure) {
  int status = locate_pinned(path, 0, &found->reader, NULL, failure);
  if (status == 0)
    status = reader_snapshot(found->reader, &found->snapshot, failure);
  if (status != 0)
    reader_close(&found->reader);
  return status;
}

static int replace_by_pin(struct account *account, const struct edges_now *now,
                          enum account_news *news, struct failure *failure) {
  struct generation *found = calloc(1, sizeof(*found));
  if (!found)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = open_found(account->path, found, failure);
  /* The last word of the old maps; without it they are not given up. */
  if (status == 0 && account->current.reader)
    status = account_take(account, failure);
  if (status == 0)
    *news = replace(account, found, now);
  else
    reader_close(&found->reader);
  free(found);
  return status;
}

int account_follow(struct account *account, const struct edges_now *now,
                   enum account_news *news, struct failure *failure) {
  *news = ACCOUNT_SAME;
  if (!account->path)
    return 0;
  if (account->old.reader && now->mono_ns > account->old_until_ns &&
      reader_snapshot(account->old.reader, &account->old.snapshot, NULL) == 0)
    carry(account, &account->old, now->mono_ns);
  bool was_pinned = account->pinned, looked = account->looked;
  uint32_t id;
  int status = discover_pinned_id(account->path, &id, failure);
  account->looked = true;
  account->pinned = status == 0;
  if (status == -ENOENT) {
    if (!looked || was_pinned)
      *news = account->current.reader ? ACCOUNT_GONE : ACCOUNT_MISSING;
    return 0;
  }
  if (status != 0)
    return status;
  if (account->current.reader && id == reader_ring_id(account->current.reader)) {
    if (!was_pinned)
      *news = ACCOUNT_BACK;
    return 0;
  }
  return replace_by_pin(account, now, news, failure);
}

const bool *account_fresh(const struct account *account) {
  return account->fresh;
}

const struct bpf_window_epoch *account_epoch(const struct account *account) {
  return account->current.reader ? epoch_of(&account->current) : NULL;
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
                         const struct edges_now *now, uint64_t interval_ns,
                         const struct pins_edge *last) {
  /* The old maps tell all that the new ones do not: their past goes further back. */
  const struct generation *generation =
      account->old.reader ? &account->old : &account->current;
  struct pins_edge own = *last;
  own.edge = generation->edge;
  return edges_due(epoch_of(generation), now, interval_ns, &own);
}

/* Calls contribution for all that is held, at the edges that edge_of tells. */
static void total(const struct account *account, const uint64_t edges[2],
                  uint64_t *totals) {
  const struct generation *const all[] = {&account->current, &account->old};
  uint32_t values = epoch_of(&account->current)->values;
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  memcpy(totals, account->state.carried, values * sizeof(*totals));
  for (int i = 0; i < 2; i++) {
    if (!all[i]->reader)
      continue;
    contribution(all[i], edges[i], sums);
    add(totals, sums, values);
  }
}

static uint64_t edge_in(const struct generation *generation,
                        const struct edges_now *now, uint64_t wall_ns) {
  return generation->reader
             ? edges_in_window(epoch_of(generation), now, wall_ns)
             : 0;
}

void account_total_at(const struct account *account,
                      const struct edges_now *now, uint64_t wall_ns,
                      uint64_t *totals) {
  const uint64_t edges[] = {edge_in(&account->current, now, wall_ns),
                            edge_in(&account->old, now, wall_ns)};
  total(account, edges, totals);
}

void account_total_again(const struct account *account, uint64_t *totals) {
  const uint64_t edges[] = {account->current.edge, account->old.edge};
  total(account, edges, totals);
}

void account_sum(const struct account *account, const struct edges_now *now,
                 uint64_t wall_ns, uint64_t buckets, uint64_t *sums) {
  const struct generation *const all[] = {&account->current, &account->old};
  uint32_t values = epoch_of(&account->current)->values;
  uint64_t more[BPF_WINDOW_MAX_VALUES];
  memset(sums, 0, values * sizeof(*sums));
  for (int i = 0; i < 2; i++) {
    if (!all[i]->reader)
      continue;
    uint64_t to = edge_in(all[i], now, wall_ns);
    window_sum(all[i]->snapshot, to > buckets ? to - buckets : 0, to, more);
    add(sums, more, values);
  }
}

/* ---- Keeping ---- */

static void keep_edge(struct generation *generation,
                      const struct edges_now *now, uint64_t wall_ns) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  if (!generation->reader)
    return;
  uint64_t edge = edge_in(generation, now, wall_ns);
  if (!generation->snapshot->cursors) {
    contribution(generation, edge, sums);
    memcpy(generation->counted, sums,
           generation->snapshot->values * sizeof(*sums));
  }
  generation->edge = edge;
}

/* What the next process must add to the current maps alone. */
static void write_state(const struct account *account, struct pins_watch *state) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  *state = account->state;
  state->format = PINS_WATCH_FORMAT;
  if (!account->old.reader)
    return;
  contribution(&account->old, account->old.edge, sums);
  add(state->carried, sums, epoch_of(&account->current)->values);
}

int account_keep(struct account *account, const struct edges_now *now,
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
           epoch_of(&account->current)->values * sizeof(*totals));
    write_state(account, &account->written);
    value = &account->written;
  }
  if (bpf_map_update_elem(account->state_fd, &zero, value, BPF_ANY) != 0)
    return failure_set(failure, -errno, "cannot keep the last edge: %s",
                       strerror(errno));
  return 0;
}

uint64_t account_retries(const struct account *account) {
  uint64_t retries = account->retries;
  if (account->current.reader)
    retries += reader_statistics(account->current.reader)->retries;
  if (account->old.reader)
    retries += reader_statistics(account->old.reader)->retries;
  return retries;
}
