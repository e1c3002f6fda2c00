/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* An iterator: a link that is no tracepoint's. It does nothing. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

char LICENSE[] SEC("license") = "Dual MIT/GPL";

SEC("iter/task")
int each_task(void *context) {
  (void)context;
  return 0;
}
