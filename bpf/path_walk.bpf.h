/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * path_walk.bpf.h - the path of an open file, from its name up to the root of
 * its mount namespace.
 *
 * It is written from its end to its beginning, as the kernel's own d_path does,
 * into a buffer in which it is at once the key to look up in the policy's trie.
 * A path that does not fit is no path: it is never looked up in part.
 *
 * The buffers ("scratch") are per CPU. LSM and fentry programs can be preempted
 * by other tasks' on the same CPU, so that one per CPU would be written by two
 * walks at a time; each CPU has several, and a walk owns the one it took until
 * it gives it back.
 *
 * What may be read here has no type for the verifier; every pointer goes
 * through bpf_probe_read_kernel. Functions that are not inlined and take only
 * numbers are verified once each, apart from their callers: inlined, two such
 * loops are beyond the verifier's million instructions.
 */
#ifndef BPF_WINDOW_PATH_WALK_BPF_H
#define BPF_WINDOW_PATH_WALK_BPF_H

#include "file_policy.h"
#include "kernel_types.h"
#include "verdict_cache.bpf.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>

/* Names and mounts on the way up. Twice as many would still load. */
#define PATH_STEPS 64
/* A power of two and one less than one: the verifier wants masks. */
#define PATH_SIZE 4096
#define NAME_LENGTH 255 /* NAME_MAX */

#define SCRATCH_PER_CPU 8

enum walk_result {
  WALK_DONE = 0,
  WALK_TOO_DEEP,    /* more steps or bytes than there is room for */
  WALK_UNREACHABLE, /* the way up ends outside every mount namespace */
  WALK_NOT_OURS,    /* not walked: in a namespace that the rules are not for */
};

struct path_scratch {
  __u32 taken;
  __u32 start; /* offset of the key in text[] */
  __u64 dentry;
  __u64 mount; /* struct vfsmount */
  __u64 inode;
  struct cached_verdict found;
  /* The key's 4 bytes, the path from right to left ending with the NUL at
   * PATH_SIZE + 3, and room for what a key spans behind a short path. */
  char text[4 + PATH_SIZE + FILE_RULE_SIZE];
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, SCRATCH_PER_CPU);
  __type(key, __u32);
  __type(value, struct path_scratch);
} path_scratch SEC(".maps");

/* Takes a scratch of this CPU and sets its number, or returns NULL. */
static __always_inline struct path_scratch *scratch_take(__u32 *number) {
  for (__u32 i = 0; i < SCRATCH_PER_CPU; i++) {
    *number = i;
    struct path_scratch *scratch = bpf_map_lookup_elem(&path_scratch, number);
    if (scratch && !__sync_lock_test_and_set(&scratch->taken, 1))
      return scratch;
  }
  return 0;
}

static __always_inline void scratch_give_back(struct path_scratch *scratch) {
  __sync_lock_test_and_set(&scratch->taken, 0);
}

static __always_inline struct mount *mount_of(struct vfsmount *vfsmount) {
  return (void *)vfsmount - bpf_core_field_offset(struct mount, mnt);
}

/* Hides a value from the compiler, which would else drop the mask as needless:
 * it is the verifier that needs it. */
#define BOUND(value, mask) asm volatile("%0 &= %1" : "+r"(value) : "i"(mask))

/* Puts '/' and the name in front of the path at *start; false if it has no
 * room. */
static __always_inline bool prepend_name(struct path_scratch *scratch,
                                         __u32 *start, struct dentry *dentry) {
  __u64 length = BPF_CORE_READ(dentry, d_name.len);
  if (length > NAME_LENGTH || length + 1 > *start)
    return false;
  __u64 at = *start - length - 1;
  BOUND(at, PATH_SIZE - 1);
  BOUND(length, NAME_LENGTH);
  scratch->text[4 + at] = '/';
  bpf_probe_read_kernel(&scratch->text[4 + at + 1], length,
                        BPF_CORE_READ(dentry, d_name.name));
  *start = at;
  return true;
}

/* The number of the mount namespace that a mount is in. 0 if it is in none that
 * a process could be in, so that no path leads there: it is detached (open_tree,
 * lazy umount) or the kernel's own. */
static __always_inline __u32 namespace_of(struct mount *mount) {
  struct mnt_namespace *namespace = BPF_CORE_READ(mount, mnt_ns);
  if (!namespace || (__u64) namespace >= (__u64)-MAX_ERRNO)
    return 0;
  __u32 number = BPF_CORE_READ(namespace, ns.inum);
  return number == MNT_NS_ANON ? MNT_NS_ANON_OLD : number;
}

/* Writes the path of the scratch's dentry and mount. Returns enum walk_result. */
__noinline int walk_path(__u32 number) {
  struct path_scratch *scratch = bpf_map_lookup_elem(&path_scratch, &number);
  if (!scratch)
    return WALK_TOO_DEEP;

  struct dentry *dentry = (void *)scratch->dentry;
  struct vfsmount *vfsmount = (void *)scratch->mount;
  struct mount *mount = mount_of(vfsmount);
  struct dentry *mount_root = BPF_CORE_READ(vfsmount, mnt_root);
  __u32 end = PATH_SIZE - 1;
  __u32 start = end;

  scratch->text[4 + end] = '\0';
  for (__u32 step = 0; step < PATH_STEPS; step++) {
    if (dentry == mount_root) {
      struct mount *above = BPF_CORE_READ(mount, mnt_parent);
      if (above == mount) {
        if (start == end)
          scratch->text[4 + --start] = '/';
        scratch->start = start;
        return namespace_of(mount) ? WALK_DONE : WALK_UNREACHABLE;
      }
      dentry = BPF_CORE_READ(mount, mnt_mountpoint);
      mount = above;
      mount_root = BPF_CORE_READ(mount, mnt.mnt_root);
      continue;
    }
    struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
    if (parent == dentry)
      return WALK_UNREACHABLE;
    if (!prepend_name(scratch, &start, dentry))
      return WALK_TOO_DEEP;
    dentry = parent;
  }
  return WALK_TOO_DEEP;
}

#endif
