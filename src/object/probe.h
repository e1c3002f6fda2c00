/* SPDX-License-Identifier: MIT */
/*
 * probe.h - what this kernel offers. Reads files and asks for capabilities; loads
 * nothing and changes nothing.
 */
#ifndef BPF_WINDOW_PROBE_H
#define BPF_WINDOW_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The oldest kernel with all that a window needs: value-returning atomics (5.12)
 * and batched reads of per-CPU arrays (5.13), in a long-term release. */
#define PROBE_KERNEL_MAJOR 5
#define PROBE_KERNEL_MINOR 15

enum probe_answer { PROBE_NO, PROBE_YES, PROBE_UNKNOWN };

struct probe_kernel {
  char release[65];   /* as uname -r */
  bool new_enough;    /* 5.15 or newer */
  bool btf;           /* /sys/kernel/btf/vmlinux is there */
  char lsm_list[256]; /* active security modules; empty if not readable */
  enum probe_answer bpf_lsm; /* "bpf" is in that list */
  bool securityfs;           /* is mounted at /sys/kernel/security */
  bool tracefs;              /* is mounted where libbpf looks for tracepoints */
  char lockdown
      [32];     /* none, integrity, confidentiality; empty if not readable */
  bool cap_bpf; /* effective CAP_BPF, or CAP_SYS_ADMIN */
  bool cap_perfmon; /* effective CAP_PERFMON, or CAP_SYS_ADMIN */
};

void probe_kernel(struct probe_kernel *kernel);

/* The version of libbpf in use, such as "1.1". */
const char *probe_libbpf_version(void);

/* Whether programs can refer to a kernel symbol: it is in /proc/kallsyms, with an
 * address that we may see. */
bool probe_symbol(const char *name);

/* What the kernel has set aside for a map; 0 if it does not say. */
uint64_t probe_map_bytes(int map_fd);

/* Whether a path, or the nearest parent that exists, is on a bpffs. */
bool probe_on_bpffs(const char *path);

#endif
