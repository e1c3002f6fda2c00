/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* Names that could be taken for those of something else. Counts marked calls. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

#include "marked.bpf.h"

char LICENSE[] SEC("license") = "Dual MIT/GPL";

#ifdef SELF
#define CALLS self_calls
#else
#define CALLS calls
#endif

struct awkward_stats {
  __u64 abs_bucket;
  __u64 CALLS;
};
BPF_WINDOW(cdn_edge, struct awkward_stats);
#ifdef COLLIDING /* whose edge would be pinned as cdn_edge */
BPF_WINDOW(cdn, struct awkward_stats);
#endif

SEC("tp_btf/sys_enter")
int on_call(__u64 *arguments) {
  if (!is_marked(arguments))
    return 0;
  struct awkward_stats *bucket = bpf_window_bucket(cdn_edge);
  if (bucket)
    bpf_window_add(&bucket->CALLS, 1);
#ifdef COLLIDING
  bucket = bpf_window_bucket(cdn);
  if (bucket)
    bpf_window_add(&bucket->CALLS, 1);
#endif
  return 0;
}
