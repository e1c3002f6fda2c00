/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * window.bpf.h - count a feature's events into a rolling window, inside a BPF
 * program, for the price of a few instructions.
 *
 *   struct my_stats {
 *     __u64 abs_bucket;
 *     __u64 requests BPF_WINDOW_TOTAL;
 *     __u64 hits BPF_WINDOW_HIT;
 *     __u64 misses BPF_WINDOW_MISS;
 *   };
 *   BPF_WINDOW(my_stats, struct my_stats);
 *
 *   struct my_stats *b = bpf_window_bucket(my_stats);
 *   if (b) {
 *     bpf_window_add(&b->requests, 1);
 *     bpf_window_add(&b->hits, 1);
 *   }
 *
 * Include it behind vmlinux.h, or behind nothing: it then takes its types from
 * <linux/bpf.h>. Compile with `-target bpf -mcpu=v3 -g -O2`; v3 is for the
 * value-returning atomics of the roll (kernel 5.12), -g for the BTF from which
 * the counters' names and roles are read. Kernels: 5.15 and newer,
 * on arm64 5.18, whose JIT is the first to have those atomics.
 *
 * How it works. Each CPU has 300 buckets and a cursor, which says which bucket
 * is open and at which jiffy it ends. Counting compares the jiffies with that
 * end and adds to the open bucket. Only past the end is the clock read, to find
 * the next bucket; this is the roll, about once a second on a busy CPU:
 *
 *      slot  46    47    48         a CPU counting in second 347
 *          +-----+-----+-----+
 *     ...  | 346 | 347 |  48 | ...  slot 48 still holds second 48; the roll into
 *          +-----+-----+-----+      348 adds its counts to `retired`, zeroes and
 *                   ^ cursor        relabels it, and only then moves the cursor
 *
 * The contract (tests name the clause that they check):
 *
 *  I1  Slot. The bucket numbered n is in slot n % 300; after 300 buckets the slot
 *      is used again, and the label tells the laps apart.
 *  I2  Nothing is lost. For each counter: retired + the sum of all 300 buckets =
 *      the sum of all that was added, on each CPU, at any time that no roll is in
 *      progress there. Recycling moves counts to `retired`, never drops them.
 *  I3  One roller. Of several contexts on a CPU that find the bucket ended, one
 *      rolls; the others count into the bucket that is still open. None waits.
 *  I4  Label before use. A bucket takes counts only after its counters were
 *      zeroed and its label set; the cursor is published last.
 *  I5  Labels come from the clock at the roll; an event is labelled late by at
 *      most one jiffy, or, in a context that was itself interrupted, by as long as
 *      it was interrupted.
 *  I6  bpf_window_add never loses a count, whatever interrupts or preempts it.
 *      bpf_window_add_plain may, if anything on the same CPU counts in between.
 *  I7  An idle CPU costs nothing and changes nothing: its old buckets stay with
 *      their old labels until it counts again.
 *  I8  Before user space has written the epoch (width_ns 0), bpf_window_bucket
 *      returns NULL and nothing is counted.
 *
 * Memory per possible CPU: 300 * sizeof(bucket) + 16 + 8 * counters bytes; for
 * six counters 16.9 KB.
 */
#ifndef BPF_WINDOW_WINDOW_BPF_H
#define BPF_WINDOW_WINDOW_BPF_H

#ifndef __VMLINUX_H__
#include <linux/bpf.h>
#endif
#include <bpf/bpf_helpers.h>

#include "layout.h"

/* The clocks. A test defines its own before it includes this header. */
#ifndef BPF_WINDOW_TICK
#define BPF_WINDOW_TICK() bpf_jiffies64()
#endif
#ifndef BPF_WINDOW_NOW_NS
#define BPF_WINDOW_NOW_NS() bpf_ktime_get_ns()
#endif

/*
 * Roles of a bucket's fields, kept as BTF declaration tags. A compiler without
 * btf_decl_tag (clang before 14) drops them: the counters are plain then.
 */
#if __has_attribute(btf_decl_tag)
#define BPF_WINDOW_TAG(text) __attribute__((btf_decl_tag("bpf_window:" text)))
#else
#define BPF_WINDOW_TAG(text)
#endif
#define BPF_WINDOW_TOTAL BPF_WINDOW_TAG("total")
#define BPF_WINDOW_HIT BPF_WINDOW_TAG("hit")
#define BPF_WINDOW_MISS BPF_WINDOW_TAG("miss")

/*
 * On an array of 2 to 64 __u64: a histogram of a magnitude such as a latency. Slot i
 * counts values from 2^i up to, but without, 2^(i+1); slot 0 zeroes too, the last
 * slot all that is larger. From it follow percentiles. Put the unit into the name:
 *
 *   __u64 latency_us[30] BPF_WINDOW_LOG2;
 *   ...
 *   bpf_window_add_log2(b->latency_us, ns / 1000);
 *
 * In collectd slot 10 is `derive-latency_us-10_ge_1024`: the slot's number in two
 * digits, so that names sort by it, and the smallest value that it counts.
 */
#define BPF_WINDOW_LOG2 BPF_WINDOW_TAG("log2")

/*
 * An object may offer its hook in several ways, of which a kernel has perhaps
 * one. Programs and maps tagged with a front are loaded only with that front; the
 * loader tries the fronts in the order in which the programs name them, and takes
 * the first that the kernel accepts. What has no tag is always loaded.
 */
#define BPF_WINDOW_FRONT(name) BPF_WINDOW_TAG("front=" #name)

/*
 * Behind the closing brace of the bucket's struct: its width in ns, if that is not a
 * second. The ring then spans 300 times that.
 */
#define BPF_WINDOW_BUCKET_NS(ns) BPF_WINDOW_TAG("bucket_ns=" #ns)

/* A program that is wanted only where /proc/kallsyms tells the address of this
 * kernel symbol, or only where it does not. */
#define BPF_WINDOW_WITH_KSYM(symbol) BPF_WINDOW_TAG("with_ksym=" #symbol)
#define BPF_WINDOW_WITHOUT_KSYM(symbol) BPF_WINDOW_TAG("without_ksym=" #symbol)

/*
 * BPF_WINDOW(NAME, TYPE) declares the maps NAME, NAME_epoch and NAME_cursor and
 * the code of their roll. TYPE is the author's bucket.
 */
#define BPF_WINDOW(NAME, TYPE)                                                 \
  _Static_assert(__builtin_offsetof(TYPE, abs_bucket) == 0 &&                  \
                     sizeof(TYPE) % sizeof(__u64) == 0 &&                      \
                     sizeof(TYPE) > sizeof(__u64),                             \
                 "a bucket is `__u64 abs_bucket` and __u64 counters");         \
  _Static_assert(BPF_WINDOW_VALUES(TYPE) <= BPF_WINDOW_MAX_VALUES,             \
                 "a bucket has at most BPF_WINDOW_MAX_VALUES counters");       \
  struct {                                                                     \
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                   \
    __uint(max_entries, BPF_WINDOW_SLOTS);                                     \
    __type(key, __u32);                                                        \
    __type(value, TYPE);                                                       \
  } NAME SEC(".maps");                                                         \
  struct {                                                                     \
    __uint(type, BPF_MAP_TYPE_ARRAY);                                          \
    __uint(max_entries, 1);                                                    \
    __type(key, __u32);                                                        \
    __type(value, struct bpf_window_epoch);                                    \
  } NAME##_epoch SEC(".maps");                                                 \
  struct bpf_window_cursor_of_##NAME {                                         \
    struct bpf_window_cursor head;                                             \
    __u64 retired[BPF_WINDOW_VALUES(TYPE)];                                    \
  };                                                                           \
  struct {                                                                     \
    __uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);                                   \
    __uint(max_entries, 1);                                                    \
    __type(key, __u32);                                                        \
    __type(value, struct bpf_window_cursor_of_##NAME);                         \
  } NAME##_cursor SEC(".maps");                                                \
  static __noinline __attribute__((unused)) int NAME##__roll(__u64 tick) {     \
    return bpf_window__roll(&NAME, &NAME##_epoch, &NAME##_cursor,              \
                            BPF_WINDOW_VALUES(TYPE), tick);                    \
  }                                                                            \
  static __always_inline __attribute__((unused)) TYPE *NAME##__bucket(void) {  \
    __u32 zero = 0;                                                            \
    struct bpf_window_cursor *cursor =                                         \
        bpf_map_lookup_elem(&NAME##_cursor, &zero);                            \
    if (!cursor)                                                               \
      return 0;                                                                \
    __u64 tick = BPF_WINDOW_TICK();                                            \
    if (tick >= BPF_WINDOW__LOAD(cursor->end_tick)) {                          \
      if (NAME##__roll(tick))                                                  \
        return 0;                                                              \
      asm volatile(""); /* or clang lays a jump into the path of the others */ \
    }                                                                          \
    /* The key is read from the cursor itself: no copy on the stack. */        \
    return bpf_map_lookup_elem(&NAME, &cursor->slot);                          \
  }                                                                            \
  _Static_assert(1, "")

/* Number of __u64 counters behind the label of a bucket. */
#define BPF_WINDOW_VALUES(TYPE) (sizeof(TYPE) / sizeof(__u64) - 1)

/*
 * The bucket in which this CPU counts now, or NULL (I8). Take it once per event
 * and bump several counters on it; do not keep it across a sleep.
 */
#define bpf_window_bucket(NAME) NAME##__bucket()

/*
 * Adds n to a counter of a bucket, exactly (I6): one atomic add. For every hook
 * that can be preempted or interrupted by another program that counts in the same
 * window: LSM, fentry, perf events, and whatever you are not sure of.
 */
static __always_inline void bpf_window_add(__u64 *counter, __u64 n) {
  __sync_fetch_and_add(counter, n);
}

/* The same without the atomic: for hooks that cannot nest on a CPU. */
static __always_inline void bpf_window_add_plain(__u64 *counter, __u64 n) {
  *counter += n;
}

/*
 * The slot of a value in a histogram of so many slots (a constant): always below
 * `slots`, in a form that the verifier can tell.
 */
static __always_inline __u32 bpf_window_log2(__u64 value, __u32 slots) {
  __u32 slot = 0; /* by halving: clang 14 hangs at __builtin_clzll for BPF */
  for (__u32 half = 32; half; half /= 2) {
    if (value >> half) {
      value >>= half;
      slot += half;
    }
  }
  /* What is compared is what is used: clang would compare a copy. */
  asm volatile("" : "+r"(slot));
  if (slot >= slots)
    slot = slots - 1;
  asm volatile("" : "+r"(slot));
  return slot;
}

/* Counts one event of that value in a histogram, an array member of a bucket; exactly,
 * as bpf_window_add does (I6), or with the second for hooks that cannot nest. */
#define bpf_window_add_log2(HISTOGRAM, value)                                  \
  bpf_window_add(BPF_WINDOW__LOG2_SLOT(HISTOGRAM, value), 1)
#define bpf_window_add_log2_plain(HISTOGRAM, value)                            \
  bpf_window_add_plain(BPF_WINDOW__LOG2_SLOT(HISTOGRAM, value), 1)

/*
 * The counter of an array member of a bucket at an index, in a form that the verifier can
 * tell; the last of them at every index beyond, negative ones too:
 *
 *   __u64 requests[8];
 *   ...
 *   bpf_window_add(bpf_window_at(b->requests, tenant), 1);
 */
#define bpf_window_at(ARRAY, index)                                            \
  (&(ARRAY)[bpf_window__bound(index, BPF_WINDOW__LENGTH(ARRAY))])

/* ---- Private from here on: names with two underscores. ---- */

/* The elements of an array member. A pointer has no length: it is refused. */
#define BPF_WINDOW__LENGTH(ARRAY)                                              \
  ({                                                                           \
    _Static_assert(                                                            \
        !__builtin_types_compatible_p(typeof(ARRAY), typeof(&(ARRAY)[0])),     \
        "not an array member of the bucket");                                  \
    sizeof(ARRAY) / sizeof(__u64);                                             \
  })

static __always_inline __u64 bpf_window__bound(__u64 index, __u64 length) {
  asm volatile("" : "+r"(index)); /* as in bpf_window_log2 */
  if (index >= length)
    index = length - 1;
  asm volatile("" : "+r"(index));
  return index;
}

#define BPF_WINDOW__LOG2_SLOT(HISTOGRAM, value)                                \
  (&(HISTOGRAM)[bpf_window_log2(value, BPF_WINDOW__LENGTH(HISTOGRAM))])

/* A load or store that the compiler neither repeats, merges nor moves past another
 * such access. Between two contexts of one CPU no stronger order is needed. */
#define BPF_WINDOW__LOAD(place) (*(volatile typeof(place) *)&(place))
#define BPF_WINDOW__STORE(place, value)                                        \
  (*(volatile typeof(place) *)&(place) = (value))

/*
 * Makes the bucket of this instant the open one. Returns 0 if there is an open
 * bucket afterwards, be it the old one (another context is rolling), else -1.
 */
static __always_inline int bpf_window__roll(void *ring, void *epochs,
                                            void *cursors, __u32 values,
                                            __u64 tick) {
  __u32 zero = 0;
  struct bpf_window_epoch *epoch = bpf_map_lookup_elem(epochs, &zero);
  struct bpf_window_cursor *cursor = bpf_map_lookup_elem(cursors, &zero);
  if (!epoch || !cursor || !epoch->width_ns || !epoch->tick_ns)
    return -1;

  /* I3: whoever changes end_tick from an end that is past to ROLLING has the
   * lock of this CPU. An interrupting context sees ROLLING, which is never past,
   * and goes on in the open bucket. */
  __u64 end = BPF_WINDOW__LOAD(cursor->end_tick);
  if (tick < end || __sync_val_compare_and_swap(&cursor->end_tick, end,
                                                BPF_WINDOW_ROLLING) != end)
    return 0;

  __u64 width_ns = epoch->width_ns;
  __u64 age_ns = BPF_WINDOW_NOW_NS() - epoch->epoch_ns;
  __u64 number = age_ns / width_ns;
  __u32 slot = number % BPF_WINDOW_SLOTS;
  __u64 *bucket = bpf_map_lookup_elem(ring, &slot);
  if (bucket && BPF_WINDOW__LOAD(bucket[0]) != number) {
    __u64 *retired = (__u64 *)(cursor + 1);
    /* I2: the exchange takes all that was counted up to it; a late add of an
     * interrupted context lands behind it and stays in the bucket. */
    for (__u32 i = 0; i < values; i++)
      BPF_WINDOW__STORE(retired[i],
                        BPF_WINDOW__LOAD(retired[i]) +
                            __sync_lock_test_and_set(&bucket[1 + i], 0));
    /* I4: behind the exchanges; volatile, or clang stores it before them. */
    BPF_WINDOW__STORE(bucket[0], number);
  }
  BPF_WINDOW__STORE(cursor->slot, slot);

  /* I5: rounded up, the jiffy that ends the bucket is at most one late. The
   * exchange publishes the slot and releases the lock. */
  __u64 left_ns = (number + 1) * width_ns - age_ns;
  end = tick + (left_ns + epoch->tick_ns - 1) / epoch->tick_ns;
  __sync_lock_test_and_set(&cursor->end_tick, end);
  return 0;
}

#endif
