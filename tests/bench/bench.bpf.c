/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * bench.bpf.c - the ways to count of variants.h, each as a program that counts
 * in a loop and as one that counts a real event.
 */
#include <bpf_window/window.bpf.h>

#include "variants.h"

char LICENSE[] SEC("license") = "GPL";

#define barrier() asm volatile("" ::: "memory")

/* The article's structure, 56 bytes. */
struct bench_stats {
  __u64 abs_bucket;
  __u64 lookups BPF_WINDOW_TOTAL;
  __u64 hits_no_policy BPF_WINDOW_HIT;
  __u64 hits_allow BPF_WINDOW_HIT;
  __u64 hits_deny BPF_WINDOW_HIT;
  __u64 misses_walk BPF_WINDOW_MISS;
  __u64 fills;
};

BPF_WINDOW(bench, struct bench_stats);

/* Every design has its own maps: none warms another's cache lines. */
#define BENCH_MAP(NAME, TYPE, ENTRIES, VALUE)                                  \
  struct {                                                                     \
    __uint(type, TYPE);                                                        \
    __uint(max_entries, ENTRIES);                                              \
    __type(key, __u32);                                                        \
    __type(value, VALUE);                                                      \
  } NAME SEC(".maps")

struct bench_pair {
  __u64 total, hits;
};

struct bench_locked_pair {
  struct bpf_spin_lock lock;
  struct bench_pair pair;
};

struct bench_event {
  __u64 total, hit;
};

BENCH_MAP(floor_map, BPF_MAP_TYPE_PERCPU_ARRAY, 1, struct bench_pair);
BENCH_MAP(literal_stats, BPF_MAP_TYPE_PERCPU_ARRAY, 300, struct bench_stats);
BENCH_MAP(literal_epoch, BPF_MAP_TYPE_ARRAY, 1, __u64);
BENCH_MAP(percpu_hash_map, BPF_MAP_TYPE_PERCPU_HASH, 300, struct bench_pair);
BENCH_MAP(hash_map, BPF_MAP_TYPE_HASH, 300, struct bench_pair);
BENCH_MAP(lru_hash_map, BPF_MAP_TYPE_LRU_HASH, 300, struct bench_pair);
BENCH_MAP(shared_array_map, BPF_MAP_TYPE_ARRAY, 1, struct bench_pair);
BENCH_MAP(spin_lock_map, BPF_MAP_TYPE_ARRAY, 1, struct bench_locked_pair);

struct {
  __uint(type, BPF_MAP_TYPE_RINGBUF);
  __uint(max_entries, 16 << 20);
} ring_buffer_map SEC(".maps"), ring_buffer_quiet_map SEC(".maps");

struct {
  __uint(type, BPF_MAP_TYPE_PERF_EVENT_ARRAY);
  __uint(key_size, 4);
  __uint(value_size, 4);
} perf_buffer_map SEC(".maps");

/* The system call that is an event; getppid, which does next to nothing. */
const volatile __u64 event_syscall;

__u64 drops; /* events that a stream had no room for */

#define COUNT(NAME)                                                            \
  static __always_inline void count_##NAME(void *ctx __attribute__((unused)))

/* ---- The floor ---- */

static __always_inline struct bench_pair *pair_of(void *map) {
  __u32 zero = 0;
  return bpf_map_lookup_elem(map, &zero);
}

COUNT(empty) {}

COUNT(floor) {
  struct bench_pair *p = pair_of(&floor_map);
  if (p)
    p->total++;
}

COUNT(floor_two) {
  struct bench_pair *p = pair_of(&floor_map);
  if (p) {
    p->total++;
    p->hits++;
  }
}

COUNT(floor_atomic) {
  struct bench_pair *p = pair_of(&floor_map);
  if (p)
    __sync_fetch_and_add(&p->total, 1);
}

static __always_inline void add_two_atomic(struct bench_pair *p) {
  if (p) {
    __sync_fetch_and_add(&p->total, 1);
    __sync_fetch_and_add(&p->hits, 1);
  }
}

COUNT(floor_two_atomic) { add_two_atomic(pair_of(&floor_map)); }

/* ---- Ours ---- */

COUNT(window_one) {
  struct bench_stats *b = bpf_window_bucket(bench);
  if (b)
    bpf_window_add_plain(&b->lookups, 1);
}

COUNT(window_two) {
  struct bench_stats *b = bpf_window_bucket(bench);
  if (b) {
    bpf_window_add_plain(&b->lookups, 1);
    bpf_window_add_plain(&b->hits_allow, 1);
  }
}

COUNT(window_one_atomic) {
  struct bench_stats *b = bpf_window_bucket(bench);
  if (b)
    bpf_window_add(&b->lookups, 1);
}

COUNT(window_two_atomic) {
  struct bench_stats *b = bpf_window_bucket(bench);
  if (b) {
    bpf_window_add(&b->lookups, 1);
    bpf_window_add(&b->hits_allow, 1);
  }
}

/* ---- The article's design, taken literally ---- */

enum literal_counter { LITERAL_LOOKUPS, LITERAL_HITS_ALLOW };

static __always_inline void literal_inc(enum literal_counter counter) {
  __u32 zero = 0;
  __u64 *epoch = bpf_map_lookup_elem(&literal_epoch, &zero);
  if (!epoch)
    return;
  __u64 abs_bucket = (bpf_ktime_get_ns() - *epoch) / BPF_WINDOW_WIDTH_NS;
  __u32 slot = abs_bucket % 300;
  struct bench_stats *b = bpf_map_lookup_elem(&literal_stats, &slot);
  if (!b)
    return;
  if (b->abs_bucket != abs_bucket) {
    __builtin_memset(b, 0, sizeof(*b));
    barrier(); /* or clang stores the label before the last counter is zero */
    b->abs_bucket = abs_bucket;
  }
  switch (counter) {
  case LITERAL_LOOKUPS:
    b->lookups++;
    break;
  case LITERAL_HITS_ALLOW:
    b->hits_allow++;
    break;
  }
}

COUNT(literal_one) { literal_inc(LITERAL_LOOKUPS); }

COUNT(literal_two) {
  literal_inc(LITERAL_LOOKUPS);
  literal_inc(LITERAL_HITS_ALLOW);
}

/* ---- What others would pick ---- */

COUNT(percpu_hash) {
  struct bench_pair *p = pair_of(&percpu_hash_map);
  if (p) {
    p->total++;
    p->hits++;
  }
}

COUNT(hash) { add_two_atomic(pair_of(&hash_map)); }

COUNT(lru_hash) { add_two_atomic(pair_of(&lru_hash_map)); }

COUNT(shared_array) { add_two_atomic(pair_of(&shared_array_map)); }

COUNT(spin_lock) {
  __u32 zero = 0;
  struct bench_locked_pair *p = bpf_map_lookup_elem(&spin_lock_map, &zero);
  if (!p)
    return;
  bpf_spin_lock(&p->lock);
  p->pair.total++;
  p->pair.hits++;
  bpf_spin_unlock(&p->lock);
}

static __always_inline void ring_output(void *map, __u64 flags) {
  struct bench_event event = {.total = 1, .hit = 1};
  if (bpf_ringbuf_output(map, &event, sizeof(event), flags))
    __sync_fetch_and_add(&drops, 1);
}

COUNT(ring_buffer) { ring_output(&ring_buffer_map, 0); }

COUNT(ring_buffer_quiet) {
  ring_output(&ring_buffer_quiet_map, BPF_RB_NO_WAKEUP);
}

COUNT(perf_buffer) {
  struct bench_event event = {.total = 1, .hit = 1};
  if (bpf_perf_event_output(ctx, &perf_buffer_map, BPF_F_CURRENT_CPU, &event,
                            sizeof(event)))
    __sync_fetch_and_add(&drops, 1);
}

/* ---- The programs ---- */

#define LOOP_PROGRAM(NAME)                                                     \
  SEC("tc") int loop_##NAME(struct __sk_buff *ctx) {                           \
    _Pragma("clang loop unroll(disable)") for (int i = 0;                      \
                                               i < BENCH_CALLS_PER_RUN; i++) { \
      count_##NAME(ctx);                                                       \
      barrier(); /* every turn counts in memory */                             \
    }                                                                          \
    return 0;                                                                  \
  }

#define EVENT_PROGRAM(NAME)                                                    \
  SEC("tp_btf/sys_enter") int event_##NAME(__u64 *ctx) {                       \
    if (ctx[1] == event_syscall)                                               \
      count_##NAME(ctx);                                                       \
    return 0;                                                                  \
  }

#define EVERYWHERE(NAME) LOOP_PROGRAM(NAME) EVENT_PROGRAM(NAME)
#define NOT_IN_TRACING(NAME) LOOP_PROGRAM(NAME)
#define PROGRAMS(NAME, FAMILY, COUNTERS, STREAM, WHERE, TITLE) WHERE(NAME)

BENCH_VARIANTS(PROGRAMS)

/* Touches every bucket of this CPU, so that a reader copies live memory. */
SEC("tc") int fill_buckets(struct __sk_buff *ctx __attribute__((unused))) {
  for (__u32 slot = 0; slot < BPF_WINDOW_SLOTS; slot++) {
    __u32 key = slot;
    struct bench_stats *b = bpf_map_lookup_elem(&bench, &key);
    if (b)
      b->lookups++;
  }
  return 0;
}
