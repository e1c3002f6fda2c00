/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * enforce.bpf.h - what else must fail, if opening a denied file fails.
 *
 * file_open comes too late for what an open creates, and never for what needs
 * no open: creating, truncating, linking and renaming by path. A name in a
 * denied folder can so be neither made nor taken away from it, other than by
 * being removed.
 *
 * These are no lookups and count nothing. Observing, they return at once.
 */
#ifndef BPF_WINDOW_ENFORCE_BPF_H
#define BPF_WINDOW_ENFORCE_BPF_H

#include "file_marks.bpf.h"
#include "file_policy.h"
#include "kernel_types.h"
#include "open_verdict.bpf.h"
#include "path_walk.bpf.h"
#include "policy_match.bpf.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

/* The process that marks files opens denied ones, to no other end. */
static __always_inline bool is_marker(const struct file_policy_state *state) {
  return state->marker && state->marker == bpf_get_current_pid_tgid() >> 32;
}

/* Whether an open of this verdict must fail. The marker must list folders, but
 * opening a device may be an act, and files are marked all the same. */
static __always_inline bool fails(enum file_verdict verdict,
                                  struct file *file) {
  struct file_policy_state *state = policy_state();
  return verdict == FILE_DENY && state && state->enforce &&
         !(is_marker(state) && (file->f_inode->i_mode & S_IFMT) == S_IFDIR);
}

/* What a hook returns. A branch, since the verifier of 6.12 cannot tell that a
 * computed -EPERM is one of the values that it may return. */
static __always_inline int status_if(bool failing) {
  if (failing) {
    asm volatile("" ::: "memory");
    return -EPERM;
  }
  return 0;
}

/* Whether a verdict that a walk could not give must be taken for a denial: else
 * whoever can make deep paths, or keep the CPU's scratch busy, evades the
 * rules. */
static __always_inline bool must_fail(enum unkept unkept) {
  return unkept == UNKEPT_TOO_DEEP || unkept == UNKEPT_NO_ROOM;
}

/* The status of a hook that acts on a name, which may not exist yet. */
static __always_inline int status_of_name(struct dentry *dentry,
                                          struct vfsmount *mount) {
  struct file_policy_state *state = policy_state();
  if (!state || !state->enforce)
    return 0;

  __u32 number;
  struct path_scratch *scratch = scratch_take(&number);
  if (!scratch)
    return -EPERM;
  scratch->dentry = (__u64)dentry;
  scratch->mount = (__u64)mount;
  scratch->inode = (__u64)BPF_CORE_READ(dentry, d_inode);
  struct inode *inode = (void *)scratch->inode;
  int walk = walk_to_verdict(number);
  scratch_give_back(scratch);

  return status_if(WALKED_VERDICT(walk) == FILE_DENY ||
                   must_fail(WALKED_UNKEPT(walk)) ||
                   (inode && is_marked(inode, state)));
}

SEC("lsm/path_mknod")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_mknod, const struct path *folder, struct dentry *name) {
  return status_of_name(name, folder->mnt);
}

SEC("lsm/path_mkdir")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_mkdir, const struct path *folder, struct dentry *name) {
  return status_of_name(name, folder->mnt);
}

SEC("lsm/path_symlink")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_symlink, const struct path *folder, struct dentry *name) {
  return status_of_name(name, folder->mnt);
}

SEC("lsm/path_link")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_link, struct dentry *old_name, const struct path *folder,
             struct dentry *name) {
  int status = status_of_name(old_name, folder->mnt);
  if (status != 0)
    return status;
  return status_of_name(name, folder->mnt);
}

SEC("lsm/path_rename")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_rename, const struct path *old_folder,
             struct dentry *old_name, const struct path *folder,
             struct dentry *name) {
  int status = status_of_name(old_name, old_folder->mnt);
  if (status != 0)
    return status;
  return status_of_name(name, folder->mnt);
}

SEC("lsm/path_truncate")
BPF_WINDOW_FRONT(lsm)
int BPF_PROG(name_truncate, const struct path *path) {
  return status_of_name(path->dentry, path->mnt);
}

#endif
