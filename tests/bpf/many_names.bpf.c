/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Windows whose names the kernel cuts, or almost; and two of another design, of which one
 * has two maps that may be its epoch. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct names_stats {
  __u64 abs_bucket;
  __u64 events;
};
BPF_WINDOW(names_of_14_ch, struct names_stats);
BPF_WINDOW(names_of_15_chr, struct names_stats);
BPF_WINDOW(names_of_16_chrs, struct names_stats);
BPF_WINDOW(request_latency_read, struct names_stats);
BPF_WINDOW(request_latency_write, struct names_stats);

SEC("syscall")
int count(void *context) {
  bpf_window_bucket(names_of_14_ch);
  bpf_window_bucket(names_of_15_chr);
  bpf_window_bucket(names_of_16_chrs);
  bpf_window_bucket(request_latency_read);
  bpf_window_bucket(request_latency_write);
  return 0;
}

#ifndef OURS_ALONE
#define MAP(NAME, TYPE, ENTRIES, VALUE)                                        \
  struct {                                                                     \
    __uint(type, TYPE);                                                        \
    __uint(max_entries, ENTRIES);                                              \
    __type(key, __u32);                                                        \
    __type(value, VALUE);                                                      \
  } NAME SEC(".maps")
MAP(clear_ring, BPF_MAP_TYPE_PERCPU_ARRAY, 300, struct names_stats);
MAP(unclear_ring, BPF_MAP_TYPE_PERCPU_ARRAY, 300, struct names_stats);
MAP(started, BPF_MAP_TYPE_ARRAY, 1, __u64);
MAP(stopped, BPF_MAP_TYPE_ARRAY, 1, __u64);
__u64 seen; /* in a map of one entry of eight bytes */

SEC("syscall")
int clear(void *context) {
  __u32 zero = 0;
  seen++;
  return bpf_map_lookup_elem(&clear_ring, &zero) &&
         bpf_map_lookup_elem(&started, &zero);
}

SEC("syscall")
int unclear(void *context) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(&unclear_ring, &zero) &&
         bpf_map_lookup_elem(&started, &zero) &&
         bpf_map_lookup_elem(&stopped, &zero);
}
#endif
