/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * file_marks.bpf.h - files that are denied by whatever name.
 *
 * Rules are about paths, but a file can be reached by others: hard links, bind
 * mounts, a renamed folder around it. So a file that was denied by its path is
 * marked, and denied from then on by any path. User space marks the files that
 * exist when rules come into force by opening them (policy_mark); no new one
 * gets into a denied folder (enforce.bpf.h).
 *
 * Marks are kept by numbers, apart from the inode, which may be evicted. They
 * are looked at on misses only: the verdict that is cached has them in it.
 *
 * Void marks stay until there is no room for a new one. Then all of them are
 * removed, which takes milliseconds, and not again before others are void.
 */
#ifndef BPF_WINDOW_FILE_MARKS_BPF_H
#define BPF_WINDOW_FILE_MARKS_BPF_H

#include "file_policy.h"
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

struct file_mark_key {
  __u64 number;
  __u32 device;
  __u32 generation;
};

/* The value is the policy's generation under which the file was denied. */
struct {
  __uint(type, BPF_MAP_TYPE_HASH);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __uint(max_entries, FILE_MARKS_MAX);
  __type(key, struct file_mark_key);
  __type(value, __u64);
} file_marks SEC(".maps") BPF_WINDOW_FRONT(lsm);

static __always_inline struct file_mark_key file_mark_key(struct inode *inode) {
  return (struct file_mark_key){
      .number = BPF_CORE_READ(inode, i_ino),
      .device = BPF_CORE_READ(inode, i_sb, s_dev),
      .generation = BPF_CORE_READ(inode, i_generation),
  };
}

static long remove_if_void(void *marks, struct file_mark_key *key,
                           __u64 *generation, __u64 *since) {
  if (*generation < *since)
    bpf_map_delete_elem(marks, key);
  return 0;
}

/* Not inlined: verified once, apart from the walks. */
__noinline int sweep_marks(__u64 since) {
  bpf_for_each_map_elem(&file_marks, remove_if_void, &since, 0);
  return 0;
}

static __always_inline void mark_file(struct inode *inode,
                                      struct file_policy_state *state) {
  struct file_mark_key key = file_mark_key(inode);
  __u64 generation = state->generation;
  if (!bpf_map_update_elem(&file_marks, &key, &generation, BPF_ANY))
    return;
  if (!(__sync_fetch_and_or(&state->unmarked, FILE_MARKS_SWEPT) &
        FILE_MARKS_SWEPT)) {
    sweep_marks(state->marks_since);
    if (!bpf_map_update_elem(&file_marks, &key, &generation, BPF_ANY))
      return;
  }
  __sync_fetch_and_add(&state->unmarked, 1);
}

static __always_inline bool is_marked(struct inode *inode,
                                      const struct file_policy_state *state) {
  struct file_mark_key key = file_mark_key(inode);
  const __u64 *generation = bpf_map_lookup_elem(&file_marks, &key);
  return generation && *generation >= state->marks_since;
}

#endif
