/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * open_verdict.bpf.h - the verdict on a path, found by walking it, and whether
 * it may be kept.
 */
#ifndef BPF_WINDOW_OPEN_VERDICT_BPF_H
#define BPF_WINDOW_OPEN_VERDICT_BPF_H

#include "path_walk.bpf.h"
#include "policy_match.bpf.h"
#include "unkept.h"
#include "verdict_cache.bpf.h"

/* A walk that raced with a change of paths is tried again, as d_path does. */
#define WALK_TRIES 3

static __always_inline int walked(enum file_verdict verdict,
                                  enum unkept unkept) {
  return unkept << 8 | verdict;
}
#define WALKED_VERDICT(walked) ((walked)&0xff)
#define WALKED_UNKEPT(walked) ((walked) >> 8)

/* Whether a name of these properties can be found again by its inode. */
static __always_inline enum unkept unkept_by_name(struct dentry *dentry,
                                                  struct inode *inode) {
  if (!BPF_CORE_READ(dentry, d_hash.pprev) &&
      BPF_CORE_READ(dentry, d_parent) != dentry)
    return UNKEPT_UNHASHED;
  if (!BPF_CORE_READ(inode, i_nlink))
    return UNKEPT_UNHASHED;
  if (!has_one_name(inode, FRONT_SYSCALL_UNTYPED))
    return UNKEPT_HARDLINKED;
  return KEPT;
}

/*
 * Whether the rules are for files of this mount's namespace. What is in none is
 * left to the walk. The mount is part of what a verdict is stored for, and no
 * mount gets from one namespace into another without a change of mount_lock's
 * sequence; a new namespace (clone, unshare) has new mounts. So a verdict that
 * still applies is of the same namespace, and a hit need not look.
 */
static __always_inline bool is_ours(const struct path_scratch *scratch,
                                    const struct file_policy_state *state) {
  if (!state->namespace)
    return true;
  __u32 namespace = namespace_of(mount_of((void *)scratch->mount));
  return namespace == 0 || namespace == state->namespace;
}

/* Leaves the empty path in the scratch. */
static __always_inline enum walk_result no_walk(struct path_scratch *scratch) {
  scratch->start = PATH_SIZE - 1;
  return WALK_NOT_OURS;
}

/*
 * Walks the path of the scratch's dentry and mount, and leaves in the scratch
 * what the verdict was made for. Identity and generation are read inside the
 * span that the sequences prove to be undisturbed. Returns walked().
 */
__noinline int walk_to_verdict(__u32 number) {
  struct path_scratch *scratch = bpf_map_lookup_elem(&path_scratch, &number);
  struct file_policy_state *state = policy_state();
  if (!scratch || !state)
    return walked(FILE_NO_POLICY, UNKEPT_NO_ROOM);

  struct cached_verdict *found = &scratch->found;
  struct dentry *dentry = (void *)scratch->dentry;
  struct inode *inode = (void *)scratch->inode;
  enum file_verdict verdict = FILE_NO_POLICY;
  int result = WALK_DONE;
  bool denied = false;

  for (int i = 0; i < WALK_TRIES; i++) {
    struct name_sequences before = name_sequences();
    struct dentry *parent = BPF_CORE_READ(dentry, d_parent);
    found->generation = state->generation;
    found->sequences = before;
    found->dentry = (__u64)dentry;
    found->parent = (__u64)parent;
    found->parent_number = BPF_CORE_READ(parent, d_inode, i_ino);
    found->name = name_of(dentry, FRONT_SYSCALL_UNTYPED);
    found->mount = scratch->mount;

    result = is_ours(scratch, state) ? walk_path(number) : no_walk(scratch);
    verdict = result == WALK_DONE ? match_path(number) : FILE_NO_POLICY;
    denied |= verdict == FILE_DENY;
    enum unkept unkept = unkept_by_name(dentry, inode);

    if (!names_settled(before) || !same_sequences(before, name_sequences()))
      continue;
    if (result == WALK_TOO_DEEP)
      return walked(verdict, UNKEPT_TOO_DEEP);
    if (result == WALK_UNREACHABLE)
      return walked(verdict, UNKEPT_UNREACHABLE);
    if (state->enforce && !kernel_has_sequences())
      unkept = UNKEPT_NO_SEQUENCE;
    else if (found->generation & FILE_POLICY_CHANGING)
      unkept = UNKEPT_RACED;
    return walked(verdict, unkept);
  }
  /* Renaming all the time must not help anybody: what is too deep stays it, and
   * a mixture of two paths may match the rule of neither. */
  if (result == WALK_TOO_DEEP)
    return walked(FILE_NO_POLICY, UNKEPT_TOO_DEEP);
  return walked(denied ? FILE_DENY : verdict, UNKEPT_RACED);
}

#endif
