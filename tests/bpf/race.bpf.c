/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * A window that is counted in from two contexts of a CPU at once: a loop, and a
 * perf event that interrupts it. With FAST_CLOCK, buckets are as narrow as the
 * test says, down to microseconds, so that rolls are interrupted as well.
 */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

__u64 rolls;

/* The clock is read once for each roll that has won. */
static __always_inline __u64 roll_clock_ns(void) {
  __sync_fetch_and_add(&rolls, 1);
  return bpf_ktime_get_ns();
}
#define BPF_WINDOW_NOW_NS() roll_clock_ns()
#ifdef FAST_CLOCK
#define BPF_WINDOW_TICK() bpf_ktime_get_ns() /* with a tick of 1 ns */
#endif
#include <bpf_window/window.bpf.h>

char LICENSE[] SEC("license") = "GPL";

#define CALLS_PER_RUN 500
#define barrier() asm volatile("" ::: "memory")

/* label_sum grows by the bucket's own number for each event. In a bucket that
 * has closed, label_sum = number * events, or the copy of it is torn. */
struct race_stats {
  __u64 abs_bucket;
  __u64 label_sum;
  __u64 events BPF_WINDOW_TOTAL;
  __u64 looped;
  __u64 interrupting;
};
BPF_WINDOW(race, struct race_stats);

/* Interruptions, counted apart from the window. */
struct {
  __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
  __uint(max_entries, 1);
  __type(key, __u32);
  __type(value, __u64);
} interruptions SEC(".maps");

static __always_inline void count_interruption(void) {
  __u32 zero = 0;
  __u64 *count = bpf_map_lookup_elem(&interruptions, &zero);
  if (count)
    __sync_fetch_and_add(count, 1);
}

#define PROGRAMS(NAME, ADD)                                                    \
  SEC("tc") int loop_##NAME(struct __sk_buff *packet) {                        \
    (void)packet;                                                              \
    for (int i = 0; i < CALLS_PER_RUN; i++) {                                  \
      struct race_stats *b = bpf_window_bucket(race);                          \
      if (b) {                                                                 \
        ADD(&b->label_sum, b->abs_bucket);                                     \
        ADD(&b->events, 1);                                                    \
        ADD(&b->looped, 1);                                                    \
      }                                                                        \
      barrier();                                                               \
    }                                                                          \
    return 0;                                                                  \
  }                                                                            \
  SEC("perf_event") int interrupt_##NAME(void *context) {                      \
    (void)context;                                                             \
    struct race_stats *b = bpf_window_bucket(race);                            \
    if (b) {                                                                   \
      ADD(&b->label_sum, b->abs_bucket);                                       \
      ADD(&b->events, 1);                                                      \
      ADD(&b->interrupting, 1);                                                \
    }                                                                          \
    count_interruption();                                                      \
    return 0;                                                                  \
  }

PROGRAMS(atomic, bpf_window_add)
PROGRAMS(plain, bpf_window_add_plain)
