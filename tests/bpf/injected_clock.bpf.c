/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A window whose clocks are variables of the test. Runs by BPF_PROG_TEST_RUN. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

__u64 clock_ns, clock_tick;
#define BPF_WINDOW_NOW_NS() (*(volatile __u64 *)&clock_ns)
#define BPF_WINDOW_TICK() (*(volatile __u64 *)&clock_tick)
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct counter_stats {
  __u64 abs_bucket;
  __u64 events BPF_WINDOW_TOTAL;
  __u64 hits BPF_WINDOW_HIT;
  __u64 misses BPF_WINDOW_MISS;
  __u64 sizes[4];
};
BPF_WINDOW(counter, struct counter_stats);

SEC("tc")
int count(struct __sk_buff *packet) {
  struct counter_stats *bucket = bpf_window_bucket(counter);
  if (!bucket)
    return 0;
  bpf_window_add(&bucket->events, 1);
  bpf_window_add_plain(&bucket->misses, 1);
  bpf_window_add(&bucket->sizes[packet->len & 3], 1);
  return 1;
}
