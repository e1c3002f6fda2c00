/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* An array of counters: a marked call counts in two of its four. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

#include "marked.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#ifndef PARTS
#define PARTS 4
#endif
struct array_stats {
  __u64 abs_bucket;
  __u64 calls BPF_WINDOW_TOTAL;
  __u64 part[PARTS];
#ifdef NAMED_TWICE
  __u64 part_3; /* as the last of the array */
#endif
#ifdef WIDE_BUCKETS
} BPF_WINDOW_BUCKET_NS(2000000000);
#else
};
#endif
BPF_WINDOW(parts, struct array_stats);

SEC("tp_btf/sys_enter")
int on_call(__u64 *arguments) {
  struct array_stats *bucket;
  if (!is_marked(arguments) || !(bucket = bpf_window_bucket(parts)))
    return 0;
  bpf_window_add(&bucket->calls, 1);
  bpf_window_add(&bucket->part[1], 1);
  bpf_window_add(&bucket->part[3], 3);
  return 0;
}

/* Not loaded, as nobody asks for it: it could not be. */
SEC("?fentry/there_is_no_such_function")
int never(void *context) { return 0; }
