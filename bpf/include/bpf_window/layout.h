/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * layout.h - the bytes of a window, shared by BPF programs and user space.
 *
 * A window is three maps, whose names derive from the first one's name X:
 *
 *   X          PERCPU_ARRAY, BPF_WINDOW_SLOTS entries. The author's struct:
 *              `__u64 abs_bucket` first, behind it only __u64 counters (or
 *              arrays of them). Entry abs_bucket % BPF_WINDOW_SLOTS holds the
 *              counts of the bucket with that label; label 0 means "never used".
 *   X_epoch    ARRAY, one entry, struct bpf_window_epoch. Written once before
 *              the programs are attached, then frozen.
 *   X_cursor   PERCPU_ARRAY, one entry: struct bpf_window_cursor and behind it
 *              one __u64 per counter, the counts retired from recycled buckets.
 *
 * All integers are in the machine's byte order. All times are CLOCK_MONOTONIC.
 */
#ifndef BPF_WINDOW_LAYOUT_H
#define BPF_WINDOW_LAYOUT_H

#ifndef __VMLINUX_H__
#include <linux/types.h>
#endif

/* Buckets in the ring of each CPU. At the usual width: five minutes. */
#define BPF_WINDOW_SLOTS 300

/* The usual width of a bucket: one second. */
#define BPF_WINDOW_WIDTH_NS 1000000000ULL

/*
 * A bucket's number is (now - epoch_ns) / width_ns. User space sets epoch_ns at
 * least one width into the past, so that number 0 is never a bucket in use. Soon
 * after a boot that may be before it: differences are modulo 2^64.
 */

#define BPF_WINDOW_FORMAT 1
#define BPF_WINDOW_MAX_COUNTERS 64 /* fields of a bucket, without the label */
#define BPF_WINDOW_MAX_VALUES 512  /* __u64s of a bucket, without the label */
#define BPF_WINDOW_NAME_SIZE 40    /* a field's name with its NUL */

/* bpf_window_cursor.end_tick while a CPU's bucket is being changed. */
#define BPF_WINDOW_ROLLING (~0ULL)

/* What a field counts; it decides the types and ratios that follow from it. */
enum bpf_window_role {
  BPF_WINDOW_ROLE_PLAIN = 0,
  BPF_WINDOW_ROLE_TOTAL = 1, /* every event: the denominator of a ratio */
  BPF_WINDOW_ROLE_HIT = 2,
  BPF_WINDOW_ROLE_MISS = 3,
  BPF_WINDOW_ROLE_LOG2 = 4, /* an array of 2 to 64: a histogram, see below */
};
#define BPF_WINDOW_ROLES 5

/*
 * Slot i of a histogram counts the events whose value v has floor(log2(v)) = i:
 * from 2^i up to, but without, 2^(i+1). Slot 0 has the zeroes too, the last slot
 * everything from its 2^i upwards.
 */
#define BPF_WINDOW_LOG2_MIN_SLOTS 2
#define BPF_WINDOW_LOG2_MAX_SLOTS 64

/* One field of the bucket, 48 bytes. */
struct bpf_window_counter {
  char name[BPF_WINDOW_NAME_SIZE];
  __u32 role;   /* enum bpf_window_role */
  __u32 values; /* __u64s in the field: 1, or the length of an array */
};

/*
 * The epoch's record: all that is needed to read a pinned window without the
 * object that it came from. A window whose epoch map holds the first two members
 * only (16 bytes), or the first alone (8 bytes, width one second), can be read
 * too; its counters then have no names but those of the bucket's BTF.
 */
struct bpf_window_epoch {
  __u64 epoch_ns; /* CLOCK_MONOTONIC instant at which bucket 0 begins */
  __u64 width_ns; /* width of a bucket; 0: not set up, nothing is counted */
  __u64
      tick_ns; /* length of a jiffy, from clock_getres(CLOCK_MONOTONIC_COARSE) */
  __u64 layout;   /* hash of the fields' names, roles and lengths, in order */
  __u32 format;   /* BPF_WINDOW_FORMAT */
  __u32 slots;    /* BPF_WINDOW_SLOTS */
  __u32 counters; /* entries used in counter[] */
  __u32 values;   /* __u64s behind the label: sum of counter[].values */
  struct bpf_window_counter counter[BPF_WINDOW_MAX_COUNTERS];
};

/* The head of a CPU's cursor; the retired counts follow it. */
struct bpf_window_cursor {
  __u64 end_tick; /* jiffy at which the bucket ends, or BPF_WINDOW_ROLLING */
  __u32 slot;     /* entry of X in which this CPU counts now: a key as it is */
  __u32 unused;
};

#endif
