/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* An object in which nothing is a window. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 300);
  __type(key, __u32);
  __type(value, __u64);
} numbers SEC(".maps");

SEC("tc")
int nothing(struct __sk_buff *packet) {
  (void)packet;
  return 0;
}
