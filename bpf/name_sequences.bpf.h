/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * name_sequences.bpf.h - has any file's path changed since?
 *
 * A path changes by a rename or by a change of the mount tree, and by nothing
 * else. The kernel wraps each in a seqlock, rename_lock or mount_lock, whose
 * sequence is odd while the change is being made; its own d_path validates
 * itself with the same two. What was found out about a path holds as long as
 * both sequences stay what they were, and even, from before it was found out.
 *
 * Where the addresses of these locks cannot be had (kernel built without
 * KALLSYMS_ALL, kptr_restrict=2, lockdown), two programs below make a sequence
 * out of the system calls that change paths. It misses what changes them in
 * other ways (io_uring, automounts, the server of a network file system), so
 * that it serves to observe, never to enforce.
 *
 * Loads are not reordered here: x86-64 keeps them in order, and the compiler
 * does not move them over the helper calls, which it cannot look into.
 */
#ifndef BPF_WINDOW_NAME_SEQUENCES_BPF_H
#define BPF_WINDOW_NAME_SEQUENCES_BPF_H

#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

/* Typeless, for neither lock is in the kernel's BTF; the sequence is the first
 * member of a seqlock_t. Weak: NULL where the symbol is missing or hidden. */
extern const void rename_lock __ksym __weak;
extern const void mount_lock __ksym __weak;

struct name_sequences {
  __u32 renames;
  __u32 mounts;
};

/* System calls that change paths: whether they are watched, how many began, how
 * many of these are over. */
static volatile __u32 moves_watched;
static volatile __u32 moves_begun;
static volatile __u32 moves_over;

static __always_inline bool kernel_has_sequences(void) {
  return &rename_lock && &mount_lock;
}

static __always_inline __u32 lock_sequence(const void *lock) {
  __u32 sequence = 1; /* odd, hence unusable, if it cannot be read */
  bpf_probe_read_kernel(&sequence, sizeof(sequence), lock);
  return sequence;
}

static __always_inline __u32 call_sequence(void) {
  if (!moves_watched)
    return 1;
  /* In this order: a call is begun before it is over, so that equal numbers
   * mean that none was in flight when the second one was read. */
  __u32 over = moves_over;
  __u32 begun = moves_begun;
  return begun << 1 | (begun != over);
}

static __always_inline struct name_sequences name_sequences(void) {
  struct name_sequences now;
  if (kernel_has_sequences()) {
    now.renames = lock_sequence(&rename_lock);
    now.mounts = lock_sequence(&mount_lock);
  } else {
    now.renames = now.mounts = call_sequence();
  }
  return now;
}

/* No path is being changed at this instant. */
static __always_inline bool names_settled(struct name_sequences now) {
  return !((now.renames | now.mounts) & 1);
}

static __always_inline bool same_sequences(struct name_sequences a,
                                           struct name_sequences b) {
  return a.renames == b.renames && a.mounts == b.mounts;
}

/* ---- The sequence made of system calls ---- */

/* Tasks inside such a call: the programs may be attached while a call is under
 * way, whose end must not be taken for the end of another. */
struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, __u32);
} moving_tasks SEC(".maps");

/* A new mount namespace is a copy of the mount tree; its mounts may lie in
 * memory where others lay, under whose address verdicts are cached. */
static __always_inline bool copies_mounts(__u64 call, __u64 argument,
                                          bool compat) {
  __u64 flags = argument;
  switch (call) {
  case 435: /* clone3: the flags come first in its argument block */
    if (bpf_probe_read_user(&flags, sizeof(flags), (void *)argument))
      return false;
    break;
  case 56:  /* clone */
  case 272: /* unshare */
    if (compat)
      return false;
    break;
  case 120: /* clone, 32-bit */
  case 310: /* unshare, 32-bit */
    if (!compat)
      return false;
    break;
  default:
    return false;
  }
  return flags & CLONE_NEWNS;
}

static __always_inline bool in_compat_call(void) {
  return bpf_get_current_task_btf()->thread_info.status & TS_COMPAT;
}

/* Both number spaces of an x86-64 kernel; x32 sets bit 30 of the first. */
static __always_inline bool changes_paths(struct pt_regs *regs) {
  __u64 call = regs->orig_ax & ~(1ULL << 30);
  bool compat = in_compat_call();
  if (compat) {
    switch (call) {
    case 38:  /* rename */
    case 302: /* renameat */
    case 353: /* renameat2 */
    case 21:  /* mount */
    case 22:  /* umount */
    case 52:  /* umount2 */
    case 217: /* pivot_root */
    case 429: /* move_mount */
      return true;
    }
    return copies_mounts(call, regs->bx, true);
  }
  switch (call) {
  case 82:  /* rename */
  case 264: /* renameat */
  case 316: /* renameat2 */
  case 165: /* mount */
  case 166: /* umount2 */
  case 155: /* pivot_root */
  case 429: /* move_mount */
    return true;
  }
  return copies_mounts(call, regs->di, false);
}

/*
 * Defined, and so attached, before moves_begin: a call whose beginning was seen
 * and whose end was not would be in flight for ever. It runs whatever becomes
 * of the call; a task that is killed in it leaves it first. After an oops it
 * does not: the sequence then stays odd and nothing is cached any more.
 */
SEC("tp_btf/sys_exit")
BPF_WINDOW_WITHOUT_KSYM(rename_lock)
int BPF_PROG(moves_end, struct pt_regs *regs, long result) {
  if (!changes_paths(regs))
    return 0;
  __u32 *moving =
      bpf_task_storage_get(&moving_tasks, bpf_get_current_task_btf(), 0, 0);
  if (moving && *moving)
    *moving = 0;
  else /* begun unseen: what it changed is flushed all the same */
    __sync_fetch_and_add(&moves_begun, 1);
  __sync_fetch_and_add(&moves_over, 1);
  return 0;
}

SEC("tp_btf/sys_enter")
BPF_WINDOW_WITHOUT_KSYM(rename_lock)
int BPF_PROG(moves_begin, struct pt_regs *regs, long call) {
  if (!moves_watched)
    moves_watched = 1;
  if (!changes_paths(regs))
    return 0;
  __u32 *moving =
      bpf_task_storage_get(&moving_tasks, bpf_get_current_task_btf(), 0,
                           BPF_LOCAL_STORAGE_GET_F_CREATE);
  if (moving) {
    *moving = 1;
    __sync_fetch_and_add(&moves_begun, 1);
  }
  return 0;
}

#endif
