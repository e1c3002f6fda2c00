/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * Histograms of the numbers that a test hands in: to `count` by BPF_PROG_RUN, or to
 * `on_call` by prctl(MARK, NUMBER).
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct numbers {
  __u64 abs_bucket;
  __u64 events BPF_WINDOW_TOTAL;
#ifdef HISTOGRAM_OF_ONE
  __u64 number_us BPF_WINDOW_LOG2; /* no array: to be refused */
#else
  __u64 number_us[30] BPF_WINDOW_LOG2;
  __u64 coarse[2] BPF_WINDOW_LOG2;
  __u64 fine[64] BPF_WINDOW_LOG2;
#endif
};
BPF_WINDOW(numbers, struct numbers);

static __always_inline int add(__u64 number) {
  struct numbers *b = bpf_window_bucket(numbers);
  if (!b)
    return 1;
  bpf_window_add(&b->events, 1);
#ifndef HISTOGRAM_OF_ONE
  bpf_window_add_log2(b->number_us, number);
  bpf_window_add_log2(b->coarse, number);
  bpf_window_add_log2_plain(b->fine, number);
#endif
  return 0;
}

SEC("syscall")
int count(__u64 *number) { return add(*number); }

#define MARK 0x68697374

/* Registers of struct pt_regs, x86-64 and arm64: the first two arguments of a call. */
struct pt_regs {
#ifdef __TARGET_ARCH_arm64
  __u64 regs[31];
#else
  __u64 di, si;
#endif
} __attribute__((preserve_access_index));

SEC("tp_btf/sys_enter")
int on_call(__u64 *arguments) {
  struct pt_regs *regs = (struct pt_regs *)arguments[0];
#ifdef __TARGET_ARCH_arm64
  __u64 mark = regs->regs[0], number = regs->regs[1];
#else
  __u64 mark = regs->di, number = regs->si;
#endif
  if (mark == MARK)
    add(number);
  return 0;
}
