// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/*
 * A window as somebody else writes it, after the article that this project grew
 * from: no header of ours, no record, no cursor, the epoch taken at the first
 * event. It counts the getpgid() calls of one process.
 */
#include <linux/bpf.h>
#include <linux/types.h>

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>

#define BUCKET_WIDTH_NS 1000000000ULL
#define MAX_BUCKETS 300

struct inode_cache_stats {
  __u64 abs_bucket;
  __u64 lookups;
  __u64 hits_no_policy;
  __u64 hits_allow;
  __u64 hits_deny;
  __u64 misses_walk;
  __u64 fills;
};

struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, MAX_BUCKETS);
  __type(key, __u32);
  __type(value, struct inode_cache_stats);
} stats_map SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} epoch_map SEC(".maps");

/* Something else that such an agent has. */
struct {
  __uint(type, BPF_MAP_TYPE_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u32);
} settings SEC(".maps");

__u64 events; /* lives in an array of one entry of 8 bytes, which is no epoch */
volatile const __u32 process;
volatile const __u64 syscall_number;

SEC("tp_btf/sys_enter")
int count(unsigned long long *context) {
  __u32 zero = 0;
  if (bpf_get_current_pid_tgid() >> 32 != process ||
      context[1] != syscall_number)
    return 0;
  __u64 *epoch = bpf_map_lookup_elem(&epoch_map, &zero);
  if (!epoch || !bpf_map_lookup_elem(&settings, &zero))
    return 0;
  __u64 now = bpf_ktime_get_ns();
  __sync_val_compare_and_swap(epoch, 0, now);
  __u64 abs_bucket = (now - *epoch) / BUCKET_WIDTH_NS;
  __u32 slot = abs_bucket % MAX_BUCKETS;
  struct inode_cache_stats *b = bpf_map_lookup_elem(&stats_map, &slot);
  if (!b)
    return 0;
  if (b->abs_bucket != abs_bucket) {
    __builtin_memset(b, 0, sizeof(*b));
    b->abs_bucket = abs_bucket;
  }
  b->lookups++;
  if (__sync_fetch_and_add(&events, 1) % 4)
    b->hits_allow++;
  else
    b->misses_walk++;
  return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
