/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * verdict_cache.bpf.h - verdicts on open files, kept by inode, and the rule by
 * which one still applies.
 *
 * A verdict is made for a path, but found again by an inode. It applies to an
 * open only if nothing that makes up the path can have changed since
 * (still_applies):
 *
 * C1  The rules are those it was made under: same generation. (What is stored is
 *     even, so that nothing applies while they are being changed.)
 * C2  Same dentry, parent, name and mount. Stored pointers are compared, never
 *     followed. The memory of an evicted dentry may serve another one; the number of
 *     the parent and the hash of the name, which is salted with the parent's address,
 *     tell them apart. (So no test can tell that the pointers of dentry and parent are
 *     compared: they guard against hashes that collide.)
 * C3  Both sequences are the stored ones: no rename, no change of mounts. (What is
 *     stored is even; so is what equals it.)
 * C4  The file has no second name: i_nlink is 1. A folder never has one.
 *
 * A verdict is stored only if it is sure to be of this path: see
 * open_verdict.bpf.h.
 */
#ifndef BPF_WINDOW_VERDICT_CACHE_BPF_H
#define BPF_WINDOW_VERDICT_CACHE_BPF_H

#include "file_policy.h"
#include "kernel_types.h"
#include "name_sequences.bpf.h"

/* The ways to see an open, of which one is loaded. As an argument of inlined
 * functions it is a constant, so that each program refers to its own maps only.
 */
enum front {
  FRONT_LSM,
  FRONT_FENTRY,
  FRONT_SYSCALL,
  FRONT_SYSCALL_UNTYPED, /* the same where bpf_rdonly_cast is missing */
};

/* 56 bytes: with the kernel's part of it an allocation of 128, next to the 192
 * of the head of an inode's storage. */
struct cached_verdict {
  __u64 dentry;
  __u64 parent;
  __u64 parent_number;
  __u64 mount;
  __u64 name; /* its hash and length */
  struct name_sequences sequences;
  __u32 generation;
  __u32 sealed; /* the verdict, and above it a hash of all of this */
};

#define SEALED_VERDICT 3u

/* lsm: the verdict lies with the inode and goes with it. */
struct {
  __uint(type, BPF_MAP_TYPE_INODE_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct cached_verdict);
} inode_verdicts SEC(".maps") BPF_WINDOW_FRONT(lsm);

/* Elsewhere there is no such storage, and an inode's memory may have become
 * another inode's: its numbers are in the key. */
struct inode_key {
  __u64 inode;
  __u64 number;
  __u64 generation;
};

struct {
  __uint(type, BPF_MAP_TYPE_LRU_HASH);
  __uint(max_entries, 16384);
  __type(key, struct inode_key);
  __type(value, struct cached_verdict);
} recent_verdicts SEC(".maps") BPF_WINDOW_FRONT(fentry)
    BPF_WINDOW_FRONT(syscall);

/* Reads a member of a kernel structure: with a plain load where the verifier
 * knows the type of the file, else with a helper, which takes some 80
 * instructions. */
#define READ(front, object, member)                                            \
  ((front) == FRONT_SYSCALL_UNTYPED ? BPF_CORE_READ(object, member)            \
                                    : (object)->member)

/* Hash and length of the name. With plain loads it takes two: the verifier of
 * 6.1 knows a union's first member only, and refuses one of both. */
static __always_inline __u64 name_of(struct dentry *dentry, enum front front) {
  if (front == FRONT_SYSCALL_UNTYPED)
    return BPF_CORE_READ(dentry, d_name.hash_len);
  return (__u64)dentry->d_name.len << 32 | dentry->d_name.hash;
}

static __always_inline struct inode_key inode_key(struct inode *inode,
                                                  enum front front) {
  return (struct inode_key){
      .inode = (__u64)inode,
      .number = READ(front, inode, i_ino),
      .generation = READ(front, inode, i_generation),
  };
}

/*
 * The LRU hash may give an entry's memory to another inode while it is being
 * read here. The seal makes sure that a verdict is taken only together with all
 * that it was stored with. (Inode storage frees memory behind the last reader,
 * and verdicts in it are replaced, never written to.)
 */
static __always_inline __u32 seal(const struct cached_verdict *v,
                                  __u32 verdict) {
  const __u64 odd = 0x9E3779B97F4A7C15ULL;
  __u64 hash = v->dentry * odd + v->parent;
  hash = hash * odd + v->parent_number;
  hash = hash * odd + v->mount;
  hash = hash * odd + v->name;
  hash = hash * odd + ((__u64)v->sequences.renames << 32 | v->sequences.mounts);
  hash = hash * odd + ((__u64)v->generation << 2 | verdict);
  hash *= odd;
  return (__u32)(hash >> 32 & ~SEALED_VERDICT) | verdict;
}

static __always_inline bool has_one_name(struct inode *inode,
                                         enum front front) {
  __u32 names = READ(front, inode, i_nlink);
  return names == 1 ||
         (names && (READ(front, inode, i_mode) & S_IFMT) == S_IFDIR);
}

/* The verdict, if it applies to this open, else -1. The caller read the
 * sequences and the generation before. */
static __always_inline int still_applies(const struct cached_verdict *stored,
                                         struct file *file,
                                         struct name_sequences sequences,
                                         __u32 generation, enum front front) {
  struct cached_verdict v = *stored;
  asm volatile("" ::: "memory"); /* v is one copy from here on */

  struct dentry *dentry = READ(front, file, f_path.dentry);
  struct dentry *parent = READ(front, dentry, d_parent);
  struct inode *folder = READ(front, parent, d_inode);
  if (v.dentry != (__u64)dentry || v.parent != (__u64)parent ||
      v.parent_number != READ(front, folder, i_ino) ||
      v.name != name_of(dentry, front) ||
      v.mount != (__u64)READ(front, file, f_path.mnt) ||
      !same_sequences(v.sequences, sequences) || v.generation != generation ||
      !has_one_name(READ(front, file, f_inode), front))
    return -1;
  if (front != FRONT_LSM && v.sealed != seal(&v, v.sealed & SEALED_VERDICT))
    return -1;
  return v.sealed & SEALED_VERDICT;
}

static __always_inline struct cached_verdict *find_verdict(struct file *file,
                                                           enum front front) {
  if (front == FRONT_LSM)
    return bpf_inode_storage_get(&inode_verdicts, file->f_inode, 0, 0);
  struct inode_key key = inode_key(READ(front, file, f_inode), front);
  return bpf_map_lookup_elem(&recent_verdicts, &key);
}

static __always_inline void forget_verdict(struct file *file,
                                           enum front front) {
  if (front == FRONT_LSM) {
    bpf_inode_storage_delete(&inode_verdicts, file->f_inode);
  } else {
    struct inode_key key = inode_key(READ(front, file, f_inode), front);
    bpf_map_delete_elem(&recent_verdicts, &key);
  }
}

/* Stores what the verdict was made for together with it. False if there is no
 * memory for it. */
static __always_inline bool store_verdict(struct file *file,
                                          struct cached_verdict *made_for,
                                          enum file_verdict verdict,
                                          enum front front) {
  made_for->sealed = seal(made_for, verdict);
  if (front == FRONT_LSM) {
    /* Replaced, not overwritten: another CPU may be reading it. */
    bpf_inode_storage_delete(&inode_verdicts, file->f_inode);
    return bpf_inode_storage_get(&inode_verdicts, file->f_inode, made_for,
                                 BPF_LOCAL_STORAGE_GET_F_CREATE);
  }
  struct inode_key key = inode_key(READ(front, file, f_inode), front);
  return !bpf_map_update_elem(&recent_verdicts, &key, made_for, BPF_ANY);
}

#endif
