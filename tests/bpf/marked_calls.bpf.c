/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Counts prctl(MARK, ...) calls: events that nobody but a test makes. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

#include "marked.bpf.h"

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

SEC("tp_btf/sys_enter")
int on_call(__u64 *arguments) {
  if (!is_marked(arguments))
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
