/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * inode_cache.bpf.c - verdicts of a file policy on every opened file, cached by
 * inode, and the window that shows what the cache is worth.
 *
 * An open is seen in one of three ways ("fronts"; the loader takes the first
 * that the kernel has), all of which run the same on_open:
 *
 * - lsm: file_open. Can deny. Where bpf is among the active security modules.
 * - fentry: security_file_open. The same events, observed.
 * - syscall: the exit of the system calls that open. Observed; misses what
 *   opens in other ways (exec, io_uring) and what fails.
 */
#include "enforce.bpf.h"
#include "file_marks.bpf.h"
#include "file_policy.h"
#include "kernel_types.h"
#include "name_sequences.bpf.h"
#include "open_verdict.bpf.h"
#include "path_walk.bpf.h"
#include "policy_match.bpf.h"
#include "verdict_cache.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

/* What is watched: everything; a test may define it to be its own process. */
#ifndef INODE_CACHE_WATCHES
#define INODE_CACHE_WATCHES() true
#endif

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* lookups = hits_no_policy + hits_allow + hits_deny + misses_walk */
struct inode_cache_stats {
  __u64 abs_bucket;
  __u64 lookups BPF_WINDOW_TOTAL;
  __u64 hits_no_policy BPF_WINDOW_HIT;
  __u64 hits_allow BPF_WINDOW_HIT;
  __u64 hits_deny BPF_WINDOW_HIT;
  __u64 misses_walk BPF_WINDOW_MISS;
  __u64 fills;
};
BPF_WINDOW(inode_cache, struct inode_cache_stats);

/* misses_walk = fills + all of these but skipped: those are no lookups */
struct inode_uncached_stats {
  __u64 abs_bucket;
  __u64 skipped;
  __u64 no_room;
  __u64 no_sequence;
  __u64 raced;
  __u64 too_deep;
  __u64 unreachable;
  __u64 unhashed;
  __u64 hardlinked;
};
BPF_WINDOW(inode_uncached, struct inode_uncached_stats);

/* A test's build names a header that looks at every verdict. */
#ifdef VERDICT_CHECK
#include VERDICT_CHECK
#else
#define check_hit(...)
#define check_miss(...)
#define check_skipped(...)
#endif

/* LSM and fentry programs can preempt each other on a CPU. A tracepoint's
 * program is not run while it is running on the same CPU (bpf_trace_run's
 * recursion guard). */
static __always_inline void count(__u64 *counter, enum front front) {
  if (front == FRONT_SYSCALL || front == FRONT_SYSCALL_UNTYPED)
    bpf_window_add_plain(counter, 1);
  else
    bpf_window_add(counter, 1);
}

static __always_inline void count_hit(enum file_verdict verdict,
                                      enum front front) {
  struct inode_cache_stats *bucket = bpf_window_bucket(inode_cache);
  if (!bucket)
    return;
  count(&bucket->lookups, front);
  if (verdict == FILE_NO_POLICY)
    count(&bucket->hits_no_policy, front);
  else if (verdict == FILE_ALLOW)
    count(&bucket->hits_allow, front);
  else
    count(&bucket->hits_deny, front);
}

static __always_inline void count_miss(bool filled, enum front front) {
  struct inode_cache_stats *bucket = bpf_window_bucket(inode_cache);
  if (!bucket)
    return;
  count(&bucket->lookups, front);
  count(&bucket->misses_walk, front);
  if (filled)
    count(&bucket->fills, front);
}

static __always_inline void count_skipped(enum front front) {
  struct inode_uncached_stats *bucket = bpf_window_bucket(inode_uncached);
  if (bucket)
    count(&bucket->skipped, front);
}

static __always_inline void count_unkept(enum unkept unkept, enum front front) {
  struct inode_uncached_stats *bucket = bpf_window_bucket(inode_uncached);
  if (!bucket)
    return;
  switch (unkept) {
  case KEPT:
    break;
  case UNKEPT_NO_ROOM:
    count(&bucket->no_room, front);
    break;
  case UNKEPT_NO_SEQUENCE:
    count(&bucket->no_sequence, front);
    break;
  case UNKEPT_RACED:
    count(&bucket->raced, front);
    break;
  case UNKEPT_TOO_DEEP:
    count(&bucket->too_deep, front);
    break;
  case UNKEPT_UNREACHABLE:
    count(&bucket->unreachable, front);
    break;
  case UNKEPT_UNHASHED:
    count(&bucket->unhashed, front);
    break;
  case UNKEPT_HARDLINKED:
    count(&bucket->hardlinked, front);
    break;
  }
}

/*
 * Files that no path leads to, and which a rule must not judge: those on mounts
 * of the kernel's own (memfd, pipe, nsfs; from 6.5 on also the layers of an
 * overlay, whose paths begin at the layer), and, before, the layer's file that
 * overlayfs opens under the overlay's path.
 */
static __always_inline bool is_internal(struct file *file, enum front front) {
  struct vfsmount *vfsmount = READ(front, file, f_path.mnt);
  struct mount *mount = mount_of(vfsmount);
  if ((__u64)BPF_CORE_READ(mount, mnt_ns) >= (__u64)-MAX_ERRNO)
    return true;
  struct dentry *dentry = READ(front, file, f_path.dentry);
  return READ(front, dentry, d_inode) != READ(front, file, f_inode);
}

/* Enforcing, the verdict of a walk is not the whole of it. */
static __always_inline int enforced(int walk, struct inode *inode) {
  struct file_policy_state *state = policy_state();
  if (!state || !state->enforce)
    return walk;
  enum unkept unkept = WALKED_UNKEPT(walk);
  /* A race may make up a path, but not the one that the marker has opened. */
  if (WALKED_VERDICT(walk) == FILE_DENY &&
      (unkept != UNKEPT_RACED || is_marker(state)))
    mark_file(inode, state);
  if (must_fail(unkept) || is_marked(inode, state))
    return walked(FILE_DENY, unkept);
  return walk;
}

static __always_inline enum file_verdict on_miss(struct file *file,
                                                 enum front front) {
  if (is_internal(file, front)) {
    count_skipped(front);
    check_skipped();
    return FILE_NO_POLICY;
  }
  int walk = walked(FILE_NO_POLICY, UNKEPT_NO_ROOM);
  __u32 number;
  struct path_scratch *scratch = scratch_take(&number);
  if (scratch) {
    scratch->dentry = (__u64)READ(front, file, f_path.dentry);
    scratch->mount = (__u64)READ(front, file, f_path.mnt);
    scratch->inode = (__u64)READ(front, file, f_inode);
    walk = walk_to_verdict(number);
  }
  if (front == FRONT_LSM)
    walk = enforced(walk, READ(front, file, f_inode));

  enum file_verdict verdict = WALKED_VERDICT(walk);
  enum unkept unkept = WALKED_UNKEPT(walk);
  if (unkept != KEPT)
    forget_verdict(file, front);
  else if (!store_verdict(file, &scratch->found, verdict, front))
    unkept = UNKEPT_NO_ROOM;
  check_miss(verdict, unkept, scratch);
  if (scratch)
    scratch_give_back(scratch);

  count_miss(unkept == KEPT, front);
  if (unkept != KEPT)
    count_unkept(unkept, front);
  return verdict;
}

static __always_inline enum file_verdict on_open(struct file *file,
                                                 enum front front) {
  struct file_policy_state *state = policy_state();
  if (!state || !INODE_CACHE_WATCHES())
    return FILE_NO_POLICY;
  __u32 generation = state->generation;
  struct name_sequences sequences = name_sequences();
  struct cached_verdict *stored = find_verdict(file, front);
  if (stored) {
    int verdict = still_applies(stored, file, sequences, generation, front);
    if (verdict >= 0) {
      count_hit(verdict, front);
      check_hit(file, verdict, sequences, generation, front);
      return verdict;
    }
  }
  return on_miss(file, front);
}

SEC("lsm/file_open")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(open_lsm, struct file *file) {
  return status_if(fails(on_open(file, FRONT_LSM), file));
}

SEC("fentry/security_file_open")
BPF_WINDOW_FRONT(fentry)
int BPF_PROG(open_fentry, struct file *file) {
  on_open(file, FRONT_FENTRY);
  return 0;
}

SEC("fentry/security_inode_free")
BPF_WINDOW_FRONT(fentry)
int BPF_PROG(inode_free_fentry, struct inode *inode) {
  struct inode_key key = inode_key(inode, FRONT_FENTRY);
  bpf_map_delete_elem(&recent_verdicts, &key);
  return 0;
}

/* Both number spaces of an x86-64 kernel; x32 sets bit 30 of the first. */
static __always_inline bool is_open_call(struct pt_regs *regs) {
  __u64 call = regs->orig_ax & ~(1ULL << 30);
  if (in_compat_call())
    return call == 5 /* open */ || call == 8 /* creat */ ||
           call == 295 /* openat */ || call == 342 /* open_by_handle_at */ ||
           call == 437 /* openat2 */;
  return call == 2 /* open */ || call == 85 /* creat */ ||
         call == 257 /* openat */ || call == 304 /* open_by_handle_at */ ||
         call == 437 /* openat2 */;
}

/* The file that an open has just returned; NULL if this call is none, failed,
 * or opened with O_PATH. The verifier does not know its type. */
static __always_inline struct file *opened_file(struct pt_regs *regs, long fd) {
  if (fd < 0 || !is_open_call(regs))
    return 0;
  struct fdtable *table = bpf_get_current_task_btf()->files->fdt;
  if (fd >= table->max_fds)
    return 0;
  /* Another thread may close the file now. What is read of it then is still of
   * one file or does not fit together (see is_internal): the count may be off
   * by this event, the cache stays right. RCU keeps all of it readable. */
  struct file *file = 0;
  bpf_probe_read_kernel(&file, sizeof(file), table->fd + fd);
  if (!file || BPF_CORE_READ(file, f_mode) & FMODE_PATH)
    return 0;
  return file;
}

/* Linux 6.2 and newer: makes the verifier take a pointer for one of that type,
 * which may be read with plain loads. */
extern void *bpf_rdonly_cast(const void *object, __u32 type) __ksym __weak;

SEC("tp_btf/sys_exit")
BPF_WINDOW_FRONT(syscall)
BPF_WINDOW_WITH_KSYM(bpf_rdonly_cast)
int BPF_PROG(open_syscall, struct pt_regs *regs, long fd) {
  struct file *file = opened_file(regs, fd);
  if (file)
    on_open(bpf_rdonly_cast(file, bpf_core_type_id_kernel(struct file)),
            FRONT_SYSCALL);
  return 0;
}

SEC("tp_btf/sys_exit")
BPF_WINDOW_FRONT(syscall)
BPF_WINDOW_WITHOUT_KSYM(bpf_rdonly_cast)
int BPF_PROG(open_syscall_untyped, struct pt_regs *regs, long fd) {
  struct file *file = opened_file(regs, fd);
  if (file)
    on_open(file, FRONT_SYSCALL_UNTYPED);
  return 0;
}
