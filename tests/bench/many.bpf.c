/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A window of ten counters; many.sh makes many of it, with other names. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct many_stats {
  __u64 abs_bucket;
  __u64 c0, c1, c2, c3, c4, c5, c6, c7, c8, c9;
};
BPF_WINDOW(many_x, struct many_stats);

SEC("tp_btf/sched_process_exit")
int on_exit(__u64 *arguments) {
  struct many_stats *bucket = bpf_window_bucket(many_x);
  if (bucket)
    bpf_window_add(&bucket->c0, 1);
  return 0;
}
