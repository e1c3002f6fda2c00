/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * kernel_types.h - the parts of kernel structures that the bundled programs
 * read.
 *
 * Only the members in use are declared; libbpf relocates each access to the
 * running kernel (CO-RE). So the objects build where no kernel BTF is at hand.
 */
#ifndef BPF_WINDOW_KERNEL_TYPES_H
#define BPF_WINDOW_KERNEL_TYPES_H

#include <linux/bpf.h>
#include <stdbool.h>

#define EPERM 1
#define MAX_ERRNO 4095

#define S_IFMT 0170000
#define S_IFDIR 0040000

#define FMODE_PATH 0x4000   /* fs.h: the file was opened with O_PATH */
#define TS_COMPAT 0x0002    /* thread_info.h: in a 32-bit system call */
#define CLONE_NEWNS 0x20000 /* sched.h: with a copy of the mount namespace */

/* The number of every mount namespace that no process can be in: 0 at first,
 * later (6.18, MNT_NS_ANON_INO) a reserved one. */
#define MNT_NS_ANON_OLD 0
#define MNT_NS_ANON 0xEFFFFFF7u

#pragma clang attribute push(__attribute__((preserve_access_index)),           \
                             apply_to = record)

struct address_space;

struct qstr {
  union {
    struct {
      __u32 hash;
      __u32 len;
    };
    __u64 hash_len;
  };
  const unsigned char *name;
};

struct hlist_bl_node {
  struct hlist_bl_node **pprev;
};

struct super_block {
  __u32 s_dev;
};

struct inode {
  __u16 i_mode;
  struct super_block *i_sb;
  unsigned long i_ino;
  unsigned int i_nlink;
  __u32 i_generation;
};

struct dentry {
  struct hlist_bl_node d_hash;
  struct dentry *d_parent;
  struct qstr d_name;
  struct inode *d_inode;
};

struct vfsmount {
  struct dentry *mnt_root;
};

struct ns_common {
  unsigned int inum;
};

struct mnt_namespace {
  struct ns_common ns;
};

struct mount {
  struct mount *mnt_parent;
  struct dentry *mnt_mountpoint;
  struct vfsmount mnt;
  struct mnt_namespace *mnt_ns;
};

struct path {
  struct vfsmount *mnt;
  struct dentry *dentry;
};

struct file {
  unsigned int f_mode;
  struct inode *f_inode;
  struct path f_path;
  struct address_space *f_mapping;
};

struct fdtable {
  unsigned int max_fds;
  struct file **fd;
};

struct files_struct {
  struct fdtable *fdt;
};

struct thread_info {
  __u32 status;
};

struct task_io_accounting {
  __u64 syscr;
  __u64 syscw;
};

struct task_struct {
  struct thread_info thread_info;
  struct files_struct *files;
  unsigned long min_flt;
  unsigned long maj_flt;
  struct task_io_accounting ioac;
};

/* x86-64 */
struct pt_regs {
  unsigned long bx;
  unsigned long di;
  unsigned long orig_ax;
};

struct sock {
  __u16 sk_protocol;
};

struct sk_buff {
  char cb[48];
};

/* Lies in an sk_buff's cb. */
struct tcp_skb_cb {
  __u16 tcp_gso_segs;
};

/* Has `err` where the tracepoint has a third argument (6.17). */
struct trace_event_raw_tcp_retransmit_skb {
  int err;
};

struct gendisk {
  int major;
};

struct request_queue {
  struct gendisk *disk;
};

struct request {
  struct request_queue *q;
  unsigned int cmd_flags;
  unsigned int __data_len;
  __u64 start_time_ns;
};

struct xarray {
  void *xa_head;
};

struct xa_node {
  unsigned char shift;
  void *slots[64];
};

struct address_space {
  struct xarray i_pages;
};

struct folio {
  struct address_space *mapping;
  unsigned long index;
};

struct kiocb {
  struct file *ki_filp;
  long long ki_pos;
};

struct vm_area_struct {
  struct file *vm_file;
};

struct vm_fault {
  struct vm_area_struct *vma;
  unsigned long pgoff;
};

#pragma clang attribute pop

#endif
