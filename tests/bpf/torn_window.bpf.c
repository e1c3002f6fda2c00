/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* A ring without its epoch and cursor. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct torn_stats {
  __u64 abs_bucket;
  __u64 events;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 300);
  __type(key, __u32);
  __type(value, struct torn_stats);
} torn SEC(".maps");

SEC("tc")
int nothing(struct __sk_buff *packet) {
  (void)packet;
  return 0;
}
