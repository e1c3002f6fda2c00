/* SPDX-License-Identifier: MIT */
#include "reading.h"

#include "machine.h"
#include "window/reader.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/bench.skel.h"

#define VALUES 6
#define BUCKET_WORDS (1 + VALUES)
/* Attempts at a measurement without losing the CPU meanwhile. */
#define ATTEMPTS 6
#define INTERVAL_BUCKETS 10
/* An interval, the open bucket and the one that is settling. */
#define NEWEST_BUCKETS 12

/* What the readings work on. */
struct subject {
  const struct bench_bpf *bpf;
  struct reader *reader;
  const struct window_snapshot *snapshot;
  int ring_fd;
  uint64_t *buffer; /* room for all buckets of all CPUs */
  const char *article;
};

/* ---- Parts ---- */

static int batch(int map_fd, uint32_t first, uint32_t count, void *values) {
  static uint32_t keys[BPF_WINDOW_SLOTS];
  uint32_t next, before_first = first - 1, wanted = count;
  LIBBPF_OPTS(bpf_map_batch_opts, options);
  if (bpf_map_lookup_batch(map_fd, first ? &before_first : NULL, &next, keys,
                           values, &count, &options) != 0 &&
      errno != ENOENT)
    return -errno;
  return count == wanted ? 0 : -EIO;
}

/* What a collector works out at an edge. */
static void sum_interval(const struct window_snapshot *snapshot,
                         uint64_t edge) {
  uint64_t totals[VALUES], sums[VALUES];
  window_total_at(snapshot, edge, totals);
  window_sum(snapshot, edge - INTERVAL_BUCKETS, edge, sums);
}

static int read_snapshot(struct subject *subject) {
  struct failure failure;
  return reader_snapshot(subject->reader, &subject->snapshot, &failure);
}

static int read_interval(struct subject *subject) {
  int status = read_snapshot(subject);
  if (status == 0)
    sum_interval(
        subject->snapshot,
        window_settled_edge(reader_epoch(subject->reader), machine_now_ns()));
  return status;
}

static int read_newest(struct subject *subject) {
  return batch(subject->ring_fd, 100, NEWEST_BUCKETS, subject->buffer);
}

static int read_single(struct subject *subject) {
  for (uint32_t slot = 0; slot < BPF_WINDOW_SLOTS; slot++)
    if (bpf_map_lookup_elem(subject->ring_fd, &slot, subject->buffer) != 0)
      return -errno;
  return 0;
}

static int read_article(struct subject *subject) {
  return system(subject->article) == 0 ? 0 : -EIO;
}

static int start_shell(struct subject *subject) {
  (void)subject;
  return system(":") == 0 ? 0 : -EIO;
}

/* An expensive reading is taken in every so-manieth round only. */
static const struct {
  const char *title;
  int (*take)(struct subject *subject);
  int every;
} readings[READINGS] = {
    [READING_INTERVAL] = {"an interval: snapshot, totals, sums", read_interval,
                          1},
    [READING_SNAPSHOT] = {"snapshot alone (batch of 300)", read_snapshot, 1},
    [READING_NEWEST] = {"only the 12 newest buckets (batch)", read_newest, 1},
    [READING_SINGLE] = {"300 single look-ups", read_single, 1},
    [READING_ARTICLE] = {"article: bpftool -j map dump | python3", read_article,
                         5},
    [READING_SHELL] = {"the shell that starts the article's", start_shell, 5},
};
struct series reading[READINGS];

const char *reading_title(enum reading which) { return readings[which].title; }

const int reading_size_cpus[READING_SIZES] = {2, 16, 64, 128, 192, 256};
struct series reading_size_copy[READING_SIZES];
struct series reading_size_interval[READING_SIZES];

static double microseconds_since(uint64_t start_ns) {
  return (double)(machine_now_ns() - start_ns) / 1e3;
}

/* ---- This machine ---- */

/* Counts in every bucket on every CPU; leaves this thread on the first one. */
static void fill_buckets(const struct bench_bpf *bpf) {
  int cpus[MACHINE_MAX_CPUS], count = machine_cpus(cpus);
  unsigned char packet[64] = {0};
  LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
              .data_size_in = sizeof(packet));
  for (int i = count - 1; i >= 0; i--) {
    machine_pin(cpus[i]);
    bpf_prog_test_run_opts(bpf_program__fd(bpf->progs.fill_buckets), &options);
  }
}

static int measure(enum reading which, struct subject *subject) {
  int status = 0;
  double best_us = INFINITY;
  for (int attempt = 0; attempt < ATTEMPTS && status == 0; attempt++) {
    fill_buckets(subject->bpf);
    long preemptions = machine_preemptions();
    uint64_t start_ns = machine_now_ns();
    status = readings[which].take(subject);
    best_us = fmin(best_us, microseconds_since(start_ns));
    if (machine_preemptions() == preemptions)
      break;
  }
  series_add(&reading[which], best_us);
  return status;
}

int reading_rounds(struct bench_bpf *bpf, int rounds, const char *article) {
  struct failure failure;
  struct subject subject = {
      .bpf = bpf,
      .ring_fd = bpf_map__fd(bpf->maps.bench),
      .buffer = calloc((size_t)libbpf_num_possible_cpus() * BPF_WINDOW_SLOTS,
                       BUCKET_WORDS * 8),
      .article = article};
  int status = subject.buffer ? 0 : -ENOMEM;
  if (status == 0)
    status = reader_open(&subject.reader, subject.ring_fd,
                         bpf_map__fd(bpf->maps.bench_epoch),
                         bpf_map__fd(bpf->maps.bench_cursor), &failure);
  for (int round = 0; round < rounds; round++)
    for (enum reading r = 0; r < READINGS && status == 0; r++)
      if (round % readings[r].every == 0 && (article || r != READING_ARTICLE))
        status = measure(r, &subject);
  reader_close(&subject.reader);
  free(subject.buffer);
  machine_unpin();
  return status;
}

/* ---- Machines with more CPUs ---- */

static int measure_size(int map_fd, const struct window_snapshot *snapshot,
                        void *buffer, struct series *copy,
                        struct series *interval) {
  double copy_us = INFINITY, interval_us = INFINITY;
  for (int attempt = 0; attempt < ATTEMPTS; attempt++) {
    long preemptions = machine_preemptions();
    uint64_t start_ns = machine_now_ns();
    int status = batch(map_fd, 0, BPF_WINDOW_SLOTS, buffer);
    if (status != 0)
      return status;
    copy_us = fmin(copy_us, microseconds_since(start_ns));
    sum_interval(snapshot, BPF_WINDOW_SLOTS);
    interval_us = fmin(interval_us, microseconds_since(start_ns));
    if (machine_preemptions() == preemptions)
      break;
  }
  series_add(copy, copy_us);
  series_add(interval, interval_us);
  return 0;
}

int reading_size_rounds(int rounds) {
  int possible = libbpf_num_possible_cpus(), status = 0;
  for (int i = 0; i < READING_SIZES; i++) {
    int cpus = reading_size_cpus[i];
    size_t value_size = BUCKET_WORDS * 8UL * (size_t)cpus / (size_t)possible;
    if (value_size < 8 || value_size % 8 != 0)
      continue; /* not to be had on this machine */
    int map_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "bench_size", 4,
                                (uint32_t)value_size, BPF_WINDOW_SLOTS, NULL);
    uint64_t *buffer = calloc((size_t)possible * BPF_WINDOW_SLOTS, value_size);
    if (map_fd < 0 || !buffer)
      status = -ENOMEM;
    const struct window_snapshot snapshot = {.slots = BPF_WINDOW_SLOTS,
                                             .cpus = (uint32_t)cpus,
                                             .values = VALUES,
                                             .buckets = buffer};
    for (int round = 0; round < rounds && status == 0; round++)
      status = measure_size(map_fd, &snapshot, buffer, &reading_size_copy[i],
                            &reading_size_interval[i]);
    free(buffer);
    if (map_fd >= 0)
      close(map_fd);
  }
  return status;
}
