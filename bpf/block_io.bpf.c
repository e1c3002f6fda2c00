/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * block_io.bpf.c - the requests that block devices have finished, and how long
 * each took. docs/block_io.md says what each counter means.
 *
 * No request is remembered: the kernel itself notes in a request when it was
 * made, for the times in /proc/diskstats, and so one hook at its end is enough.
 * It runs in interrupts and in processes alike: all adds are atomic.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

/* What is watched: everything; a test may define it to be certain devices. */
#ifndef BLOCK_IO_WATCHES
#define BLOCK_IO_WATCHES(request) true
#endif

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* linux/blk_types.h */
#define REQ_OP_MASK 0xff
#define REQ_OP_READ 0
#define REQ_OP_WRITE 1

/* reads + writes + others = the sum of latency_us + untimed */
struct block_io_stats {
  __u64 abs_bucket;
  __u64 reads;
  __u64 writes;
  __u64 others;
  __u64 read_bytes;
  __u64 written_bytes;
  __u64 errors;
  __u64 untimed;
  __u64 latency_us[28] BPF_WINDOW_LOG2; /* the last: from 134 s on */
};
BPF_WINDOW(block_io, struct block_io_stats);

/* status: blk_status_t, an int before 5.16; 0 is success in both. */
SEC("tp_btf/block_rq_complete")
int BPF_PROG(complete, struct request *request, int status,
             unsigned int bytes) {
  if (!BLOCK_IO_WATCHES(request))
    return 0;
  struct block_io_stats *bucket = bpf_window_bucket(block_io);
  if (!bucket)
    return 0;
  __u32 operation = request->cmd_flags & REQ_OP_MASK;
  if (status)
    bpf_window_add(&bucket->errors, 1);
  else if (operation == REQ_OP_READ)
    bpf_window_add(&bucket->read_bytes, bytes);
  else if (operation == REQ_OP_WRITE)
    bpf_window_add(&bucket->written_bytes, bytes);
  if (bytes < request->__data_len)
    return 0; /* a part; the rest will come */

  if (operation == REQ_OP_READ)
    bpf_window_add(&bucket->reads, 1);
  else if (operation == REQ_OP_WRITE)
    bpf_window_add(&bucket->writes, 1);
  else
    bpf_window_add(&bucket->others, 1);
  __u64 start_ns = request->start_time_ns;
  __u64 now_ns = bpf_ktime_get_ns();
  if (start_ns && start_ns <= now_ns)
    bpf_window_add_log2(bucket->latency_us, (now_ns - start_ns) / 1000);
  else
    bpf_window_add(&bucket->untimed, 1);
  return 0;
}
