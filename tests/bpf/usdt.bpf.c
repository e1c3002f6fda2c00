/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A probe that libbpf holds together itself: there is no link for it in the kernel. */
#include <linux/bpf.h>
#include <linux/ptrace.h>
#include <stdbool.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf/usdt.bpf.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct catch_stats {
  __u64 abs_bucket;
  __u64 catches;
};
BPF_WINDOW(catches, struct catch_stats);

SEC("usdt/libstdc++.so.6:libstdcxx:catch")
int on_catch(void *context) {
  struct catch_stats *bucket = bpf_window_bucket(catches);
  if (bucket)
    bpf_window_add(&bucket->catches, 1);
  return 0;
}
