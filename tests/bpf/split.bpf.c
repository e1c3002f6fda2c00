/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* An array that splits events by an index which nobody bounds, of every type; and the
 * forms that docs/instrument.md has besides bpf_window_at. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

struct split_stats {
  __u64 abs_bucket;
  __u64 of_u8[8], of_s32[8], of_u32[8], of_s64[8], of_u64[8];
  __u64 of_one[1], of_many[5];
  __u64 of_condition[8], of_mask[8];
};
BPF_WINDOW(split, struct split_stats);

SEC("syscall")
int count(__u64 *index) {
  struct split_stats *b = bpf_window_bucket(split);
  if (!b)
    return 1;
  bpf_window_add(bpf_window_at(b->of_u8, *(__u8 *)index), 1);
  bpf_window_add(bpf_window_at(b->of_s32, *(__s32 *)index), 1);
  bpf_window_add(bpf_window_at(b->of_u32, *(__u32 *)index), 1);
  bpf_window_add(bpf_window_at(b->of_s64, *(__s64 *)index), 1);
  bpf_window_add(bpf_window_at(b->of_u64, *index), 1);
  bpf_window_add(bpf_window_at(b->of_one, *index), 1);
  bpf_window_add_plain(bpf_window_at(b->of_many, *index), 1);
  __u64 k = *index;
  if (k < 8)
    bpf_window_add(&b->of_condition[k], 1);
  bpf_window_add(&b->of_mask[k & 7], 1);
  return 0;
}
