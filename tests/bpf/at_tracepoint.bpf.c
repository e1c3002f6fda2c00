/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A window that is counted at a tracepoint, which is attached by way of tracefs. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct at_tracepoint_stats {
  __u64 abs_bucket;
  __u64 calls BPF_WINDOW_TOTAL;
};

BPF_WINDOW(at_tracepoint, struct at_tracepoint_stats);

SEC("tracepoint/raw_syscalls/sys_enter")
int count_call(void *context) {
  (void)context;
  struct at_tracepoint_stats *bucket = bpf_window_bucket(at_tracepoint);
  if (bucket)
    bpf_window_add(&bucket->calls, 1);
  return 0;
}
