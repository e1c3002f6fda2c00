/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * variants.h - the table of all ways to count that are compared.
 *
 * bench.bpf.c has a function count_NAME for each and makes its programs from
 * this table; user space makes its list of rows from it.
 *
 *   V(name, family, counters, stream, programs, title)
 *
 *   family    groups rows in tables and colours in the plot
 *   counters  that one event bumps
 *   stream    how user space takes the events over, if it has to
 *   programs  EVERYWHERE, or NOT_IN_TRACING where the verifier refuses it
 *
 * What others would pick counts the same two counters, without a clock and
 * without a window: the cheapest use of each, so that the comparison favours
 * them. Only `literal` has the clock, as the article has it.
 */
#ifndef BENCH_VARIANTS_H
#define BENCH_VARIANTS_H

#define BENCH_CALLS_PER_RUN 500
#define BENCH_VARIANTS(V)                                                      \
  V(empty, base, 0, NO_STREAM, EVERYWHERE, "empty program")                    \
  V(floor, base, 1, NO_STREAM, EVERYWHERE, "bare per-CPU ++ (the floor)")      \
  V(floor_two, base, 2, NO_STREAM, EVERYWHERE, "two bare per-CPU ++")          \
  V(floor_atomic, base, 1, NO_STREAM, EVERYWHERE, "bare per-CPU atomic add")   \
  V(floor_two_atomic, base, 2, NO_STREAM, EVERYWHERE,                          \
    "two bare per-CPU atomic adds")                                            \
  V(window_one, window, 1, NO_STREAM, EVERYWHERE,                              \
    "bpf_window, one counter, plain")                                          \
  V(window_two, window, 2, NO_STREAM, EVERYWHERE,                              \
    "bpf_window, two counters, plain")                                         \
  V(window_one_atomic, window, 1, NO_STREAM, EVERYWHERE,                       \
    "bpf_window, one counter, atomic")                                         \
  V(window_two_atomic, window, 2, NO_STREAM, EVERYWHERE,                       \
    "bpf_window, two counters, atomic")                                        \
  V(literal_one, literal, 1, NO_STREAM, EVERYWHERE,                            \
    "article's design, one counter")                                           \
  V(literal_two, literal, 2, NO_STREAM, EVERYWHERE,                            \
    "article's design, two calls")                                             \
  V(percpu_hash, map, 2, NO_STREAM, EVERYWHERE, "per-CPU hash")                \
  V(hash, shared, 2, NO_STREAM, EVERYWHERE, "hash, atomic")                    \
  V(lru_hash, shared, 2, NO_STREAM, EVERYWHERE, "LRU hash, atomic")            \
  V(shared_array, shared, 2, NO_STREAM, EVERYWHERE, "shared array, atomic")    \
  V(spin_lock, shared, 2, NO_STREAM, NOT_IN_TRACING,                           \
    "shared array, spin lock")                                                 \
  V(ring_buffer, stream, 2, RING_BUFFER, EVERYWHERE,                           \
    "ring buffer, waking its reader")                                          \
  V(ring_buffer_quiet, stream, 2, RING_BUFFER_QUIET, EVERYWHERE,               \
    "ring buffer, reader polls each ms")                                       \
  V(perf_buffer, stream, 2, PERF_BUFFER, EVERYWHERE, "perf_event_output")

#endif
