// SPDX-License-Identifier: (MIT OR GPL-2.0-only)
/* Counts processes that end, and how long each lived. */
#include "vmlinux.h"

#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* Set before loading: processes of this name only; empty: all. */
const volatile char only[16];

struct exits_stats {
  __u64 abs_bucket;
  __u64 processes;
  __u64 failed; /* with a status that is not 0, or killed */
  __u64 lifetime_ms[32] BPF_WINDOW_LOG2;
};
BPF_WINDOW(exits, struct exits_stats);

static bool is_wanted(const struct task_struct *task) {
  for (int i = 0; i < 16 && only[i]; i++)
    if (task->comm[i] != only[i])
      return false;
  return true;
}

SEC("tp_btf/sched_process_exit")
int BPF_PROG(on_exit, struct task_struct *task) {
  if (task->pid != task->tgid || !is_wanted(task))
    return 0;
  struct exits_stats *bucket = bpf_window_bucket(exits);
  if (!bucket)
    return 0;
  bpf_window_add(&bucket->processes, 1);
  if (task->exit_code)
    bpf_window_add(&bucket->failed, 1);
  bpf_window_add_log2(bucket->lifetime_ms,
                      (bpf_ktime_get_ns() - task->start_time) / 1000000);
  return 0;
}
