/* SPDX-License-Identifier: MIT */
#include "account_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "object/locate.h"

/* ---- Maps given up ---- */

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
  uint64_t end =
      generation->snapshot->cursors
          ? UINT64_MAX
          : window_open_bucket(account_epoch_of(generation), mono_ns) + 1;
  account_contribution(generation, end, sums);
  account_add(account->state.carried, sums,
              account_epoch_of(generation)->values);
  close_generation(account, generation);
}

/* ---- Following the pin ---- */

/* Whether their values have the same names in collectd, as far as both reach. */
static bool same_series(const struct bpf_window_counter *one,
                        const struct bpf_window_counter *other) {
  return strcmp(one->name, other->name) == 0 &&
         (one->values == 1) == (other->values == 1) &&
         (one->role == BPF_WINDOW_ROLE_LOG2) ==
             (other->role == BPF_WINDOW_ROLE_LOG2);
}

/* How many values of the wanted counter were in the record, from *first on. */
static uint32_t values_before(const struct bpf_window_epoch *record,
                              const struct bpf_window_counter *wanted,
                              uint32_t *first) {
  *first = 0;
  for (uint32_t c = 0; c < record->counters; c++) {
    if (same_series(&record->counter[c], wanted))
      return record->counter[c].values;
    *first += record->counter[c].values;
  }
  return 0;
}

/* A4: values that both records have; the rest is 0, and fresh. */
static void carry_over(const struct bpf_window_epoch *from,
                       const struct bpf_window_epoch *to, uint64_t *values,
                       bool *fresh) {
  uint64_t before[BPF_WINDOW_MAX_VALUES];
  memcpy(before, values, sizeof(before));
  for (uint32_t c = 0, at = 0; c < to->counters;
       at += to->counter[c++].values) {
    uint32_t first;
    uint32_t known = values_before(from, &to->counter[c], &first);
    for (uint32_t i = 0; i < to->counter[c].values; i++) {
      fresh[at + i] = i >= known;
      values[at + i] = i < known ? before[first + i] : 0;
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
static void begin(struct account *account, const struct clock_pair *now) {
  struct generation *current = &account->current;
  const struct bpf_window_epoch *epoch = account_epoch_of(current);
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
  for (uint32_t i = 0; i < account_epoch_of(current)->values; i++)
    current->counted[i] =
        account->state.dispatched[i] - account->state.carried[i];
}

/* Takes new maps for the current ones. Both have a snapshot. */
static enum account_news replace(struct account *account,
                                 struct generation *found,
                                 const struct clock_pair *now) {
  struct pins_watch *state = &account->state;
  const struct bpf_window_epoch *epoch = account_epoch_of(found);
  enum account_news news = ACCOUNT_FOUND;
  bool held = account->current.reader != NULL;
  bool same_maps = state->ring_id == reader_ring_id(found->reader) &&
                   state->record.epoch_ns == epoch->epoch_ns;
  bool same = same_counters(&state->record, epoch);
  if (held) {
    carry(account, &account->old, now->mono_ns);
    if (same) {
      account->old = account->current;
      account->old_until_ns = now->mono_ns + BPF_WINDOW_SLOTS * epoch->width_ns;
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

static int replace_by_pin(struct account *account, const struct clock_pair *now,
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

int account_follow(struct account *account, const struct clock_pair *now,
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
  if (account->current.reader &&
      id == reader_ring_id(account->current.reader)) {
    if (!was_pinned)
      *news = ACCOUNT_BACK;
    return 0;
  }
  return replace_by_pin(account, now, news, failure);
}
