/* SPDX-License-Identifier: MIT */
/*
 * stream.h - live readers of the ring and perf buffers: without one, a stream
 * is measured while it drops everything.
 */
#ifndef BENCH_STREAM_H
#define BENCH_STREAM_H

enum stream_kind { NO_STREAM, RING_BUFFER, RING_BUFFER_QUIET, PERF_BUFFER };

struct bench_bpf;
struct stream;

/* Starts a thread that takes over the events of that kind, on the CPU given
 * (-1: anywhere). NULL for NO_STREAM, or if it cannot be had. */
struct stream *stream_start(enum stream_kind kind, const struct bench_bpf *bpf,
                            int cpu);

/* Ends the thread and returns how many events the buffer had no room for, as
 * user space was told (what the program itself saw is in its `drops`). */
unsigned long stream_stop(struct stream **stream);

#endif
