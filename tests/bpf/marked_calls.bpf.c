/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Counts prctl(MARK, ...) calls: events that nobody but a test makes. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct marked_stats {
  __u64 abs_bucket;
#ifdef MISSPELT
  __u64 calls BPF_WINDOW_TAG("totl");
#else
  __u64 calls BPF_WINDOW_TOTAL;
#endif
#ifdef OTHER_COUNTERS
  __u64 others;
#endif
#ifdef SHORT_BUCKETS /* so that the ring spans three seconds */
} BPF_WINDOW_BUCKET_NS(10000000);
#else
};
#endif
BPF_WINDOW(marked, struct marked_stats);

#define MARK 0x77696e64

/* Registers of struct pt_regs, x86-64 and arm64: the first argument of the call. */
struct pt_regs {
#ifdef __TARGET_ARCH_arm64
  __u64 regs[31];
#else
  __u64 di;
#endif
} __attribute__((preserve_access_index));

static __always_inline __u64 first_argument(struct pt_regs *regs) {
#ifdef __TARGET_ARCH_arm64
  return regs->regs[0];
#else
  return regs->di;
#endif
}

SEC("tp_btf/sys_enter")
int on_call(__u64 *arguments) {
  if (first_argument((struct pt_regs *)arguments[0]) != MARK)
    return 0;
  struct marked_stats *bucket = bpf_window_bucket(marked);
  if (!bucket)
    return 0;
  bpf_window_add(&bucket->calls, 1);
#ifdef OTHER_PROGRAM
  asm volatile("r0 = 1" ::: "r0");
#endif
  return 0;
}
