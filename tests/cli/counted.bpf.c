// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/*
 * A window made with the project's header, for the tests of the command. The
 * program counts as often as its context says; it runs by BPF_PROG_RUN only.
 */
#include <linux/bpf.h>

#include <bpf_window/window.bpf.h>

struct counted {
  __u64 abs_bucket;
  __u64 lookups BPF_WINDOW_TOTAL;
  __u64 hits_fast BPF_WINDOW_HIT;
  __u64 hits_slow BPF_WINDOW_HIT;
#ifdef MANY_COUNTERS /* none of them a miss; names as clang takes them */
  __u64 misses;
  __u64 part[60];
  __u64 größe, a$b;
#else
  __u64 misses BPF_WINDOW_MISS;
#endif
#ifdef OTHER_COUNTERS
  __u64 spilled;
#else
  __u64 evictions;
#endif
};
BPF_WINDOW(counted, struct counted);

struct counts {
  __u64 hits_fast, hits_slow, misses, evictions;
};

SEC("syscall")
int count(struct counts *counts) {
  struct counted *bucket = bpf_window_bucket(counted);
  if (!bucket)
    return 1;
  bpf_window_add(&bucket->lookups,
                 counts->hits_fast + counts->hits_slow + counts->misses);
  bpf_window_add(&bucket->hits_fast, counts->hits_fast);
  bpf_window_add(&bucket->hits_slow, counts->hits_slow);
  bpf_window_add(&bucket->misses, counts->misses);
#ifdef OTHER_COUNTERS
  bpf_window_add(&bucket->spilled, counts->evictions);
#else
  bpf_window_add(&bucket->evictions, counts->evictions);
#endif
  return 0;
}

char LICENSE[] SEC("license") = "Dual MIT/GPL";
