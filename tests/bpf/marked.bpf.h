/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* marked.bpf.h - what a prctl(MARK, ...) call is: an event that nobody but a test makes. */
#ifndef TESTS_MARKED_BPF_H
#define TESTS_MARKED_BPF_H

#define MARK 0x77696e64

/* Registers of struct pt_regs, x86-64 and arm64: the first argument of the call. */
struct pt_regs {
#ifdef __TARGET_ARCH_arm64
  __u64 regs[31];
#else
  __u64 di;
#endif
} __attribute__((preserve_access_index));

/* For SEC("tp_btf/sys_enter"). */
static __always_inline int is_marked(__u64 *arguments) {
  struct pt_regs *regs = (struct pt_regs *)arguments[0];
#ifdef __TARGET_ARCH_arm64
  return regs->regs[0] == MARK;
#else
  return regs->di == MARK;
#endif
}

#endif
