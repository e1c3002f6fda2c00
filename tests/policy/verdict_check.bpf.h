/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * verdict_check.bpf.h - for tests: holds every cached verdict against a fresh
 * walk, and records the opens of one process.
 */
#include "watched.h"

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, struct watch);
} watch SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, WATCHED_EVENTS);
  __type(key, __u32);
  __type(value, struct watched_event);
} watched SEC(".maps");

static __always_inline struct watch *the_watch(void) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&watch, &zero);
}

static __always_inline void copy_path(char *to, struct path_scratch *scratch) {
  __u64 start = scratch->start;
  BOUND(start, PATH_SIZE - 1);
  bpf_probe_read_kernel_str(to, WATCHED_PATH, &scratch->text[4 + start]);
}

static __always_inline void record(enum watched_kind kind, __u32 verdict,
                                   __u32 unkept, struct path_scratch *scratch) {
  struct watch *w = the_watch();
  if (!w || !w->process || w->process != bpf_get_current_pid_tgid() >> 32)
    return;
  __u32 place = __sync_fetch_and_add(&w->events, 1) % WATCHED_EVENTS;
  struct watched_event *event = bpf_map_lookup_elem(&watched, &place);
  if (!event)
    return;
  event->kind = kind;
  event->verdict = verdict;
  event->unkept = unkept;
  event->path[0] = '\0';
  if (scratch && unkept != UNKEPT_TOO_DEEP && unkept != UNKEPT_UNREACHABLE)
    copy_path(event->path, scratch);
}

static __always_inline void check_hit(struct file *file,
                                      enum file_verdict verdict,
                                      struct name_sequences sequences,
                                      __u32 generation, enum front front) {
  struct watch *w = the_watch();
  struct file_policy_state *state = policy_state();
  __u32 number;
  record(WATCHED_HIT, verdict, KEPT, 0);
  if (!w || !state ||
      state->enforce) /* marks are in verdicts then, not in walks */
    return;
  struct path_scratch *scratch = scratch_take(&number);
  if (!scratch)
    return;
  scratch->dentry = (__u64)READ(front, file, f_path.dentry);
  scratch->mount = (__u64)READ(front, file, f_path.mnt);
  scratch->inode = (__u64)READ(front, file, f_inode);
  int walk = walk_to_verdict(number);
  /* Nothing changed since the hit was decided: the two must be one. */
  if (WALKED_UNKEPT(walk) != UNKEPT_RACED &&
      same_sequences(scratch->found.sequences, sequences) &&
      scratch->found.generation == generation) {
    __sync_fetch_and_add(&w->checked, 1);
    if (WALKED_VERDICT(walk) != verdict) {
      __sync_fetch_and_add(&w->wrong, 1);
      w->wrong_cached = verdict;
      w->wrong_fresh = WALKED_VERDICT(walk);
      copy_path(w->wrong_path, scratch);
    }
  }
  scratch_give_back(scratch);
}

static __always_inline void check_miss(enum file_verdict verdict,
                                       enum unkept unkept,
                                       struct path_scratch *scratch) {
  record(WATCHED_MISS, verdict, unkept, scratch);
}

static __always_inline void check_skipped(void) {
  record(WATCHED_SKIPPED, FILE_NO_POLICY, KEPT, 0);
}
