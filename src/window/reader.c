/* SPDX-License-Identifier: MIT */
#include "reader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "clock.h"

struct reader {
  uint32_t ring_id;
  int ring_fd, cursor_fd; /* cursor_fd -1: a window without cursor */
  bool batch;             /* the kernel reads per-CPU arrays in batches */
  struct bpf_window_epoch epoch;
  struct window_snapshot snapshot;
  struct reader_statistics statistics;
  uint64_t *buckets;
  uint64_t *cursors, *cursors_before;
  uint32_t *keys;
};

static size_t bucket_size(const struct reader *reader) {
  return (1 + reader->snapshot.values) * sizeof(uint64_t);
}

static size_t cursor_size(const struct reader *reader) {
  return sizeof(struct bpf_window_cursor) +
         reader->snapshot.values * sizeof(uint64_t);
}

/* ---- Opening ---- */

static int map_info(int fd, const char *what, struct bpf_map_info *info,
                    struct failure *failure) {
  uint32_t size = sizeof(*info);
  memset(info, 0, sizeof(*info));
  if (bpf_obj_get_info_by_fd(fd, info, &size) != 0)
    return failure_set(failure, -errno, "%s is no BPF map: %s", what,
                       strerror(errno));
  return 0;
}

static int check_ring(struct reader *reader, struct bpf_map_info *ring,
                      struct failure *failure) {
  int status = map_info(reader->ring_fd, "the ring", ring, failure);
  if (status != 0)
    return status;
  if (ring->type != BPF_MAP_TYPE_PERCPU_ARRAY ||
      ring->max_entries != BPF_WINDOW_SLOTS || ring->value_size % 8 != 0 ||
      ring->value_size < 16)
    return failure_set(failure, -EINVAL,
                       "map %s is no window: it must be a per-CPU array of %d "
                       "entries, each of a label and counters of 8 bytes",
                       ring->name, BPF_WINDOW_SLOTS);
  reader->ring_id = ring->id;
  reader->snapshot.values = ring->value_size / 8 - 1;

  const char *problem = window_epoch_problem(&reader->epoch);
  if (!problem && reader->epoch.values != reader->snapshot.values)
    problem = "another number of counters than the ring";
  if (problem)
    return failure_set(failure, -EINVAL, "the record of window %s has %s",
                       ring->name, problem);
  return 0;
}

static int check_cursor(const struct reader *reader, const char *ring_name,
                        struct failure *failure) {
  struct bpf_map_info cursor;
  if (reader->cursor_fd < 0)
    return 0;
  int status = map_info(reader->cursor_fd, "the cursor", &cursor, failure);
  if (status == 0 &&
      (cursor.type != BPF_MAP_TYPE_PERCPU_ARRAY || cursor.max_entries != 1 ||
       cursor.value_size != cursor_size(reader)))
    status = failure_set(failure, -EINVAL,
                         "map %s is no cursor of window %s: it must be a "
                         "per-CPU array of one entry of %zu bytes",
                         cursor.name, ring_name, cursor_size(reader));
  return status;
}

static int read_epoch(int epoch_fd, struct bpf_window_epoch *record,
                      struct failure *failure) {
  struct bpf_map_info epoch;
  int status = map_info(epoch_fd, "the epoch", &epoch, failure);
  if (status != 0)
    return status;
  if (epoch.type != BPF_MAP_TYPE_ARRAY || epoch.max_entries != 1 ||
      epoch.value_size != sizeof(*record))
    return failure_set(failure, -EINVAL,
                       "map %s is no epoch of a window (format %d): it must be "
                       "an array of one entry of %zu bytes",
                       epoch.name, BPF_WINDOW_FORMAT, sizeof(*record));
  uint32_t zero = 0;
  if (bpf_map_lookup_elem(epoch_fd, &zero, record) != 0)
    return failure_set(failure, -errno, "cannot read the epoch %s: %s",
                       epoch.name, strerror(errno));
  return 0;
}

static int allocate(struct reader *reader) {
  struct window_snapshot *snapshot = &reader->snapshot;
  reader->buckets =
      calloc((size_t)snapshot->slots * snapshot->cpus, bucket_size(reader));
  reader->cursors = calloc(snapshot->cpus, cursor_size(reader));
  reader->cursors_before = calloc(snapshot->cpus, cursor_size(reader));
  reader->keys = calloc(snapshot->slots, sizeof(*reader->keys));
  if (!reader->buckets || !reader->cursors || !reader->cursors_before ||
      !reader->keys)
    return -ENOMEM;
  snapshot->buckets = reader->buckets;
  snapshot->cursors = reader->cursor_fd < 0 ? NULL : reader->cursors;
  return 0;
}

int reader_open_described(struct reader **out, int ring_fd, int cursor_fd,
                          const struct bpf_window_epoch *record,
                          struct failure *failure) {
  int status = clock_check(failure);
  if (status != 0)
    return status;
  int cpus = libbpf_num_possible_cpus();
  if (cpus < 0)
    return failure_set(failure, cpus, "cannot tell the possible CPUs: %s",
                       strerror(-cpus));
  struct reader *reader = calloc(1, sizeof(*reader));
  if (!reader)
    return failure_set(failure, -ENOMEM, "out of memory");
  reader->batch = true;
  reader->epoch = *record;
  reader->snapshot.slots = BPF_WINDOW_SLOTS;
  reader->snapshot.cpus = (uint32_t)cpus;
  reader->ring_fd = fcntl(ring_fd, F_DUPFD_CLOEXEC, 0);
  reader->cursor_fd = cursor_fd < 0 ? -1 : fcntl(cursor_fd, F_DUPFD_CLOEXEC, 0);

  struct bpf_map_info ring;
  if (reader->ring_fd < 0 || (cursor_fd >= 0 && reader->cursor_fd < 0))
    status =
        failure_set(failure, -errno, "cannot keep the map's descriptor: %s",
                    strerror(errno));
  if (status == 0)
    status = check_ring(reader, &ring, failure);
  if (status == 0)
    status = check_cursor(reader, ring.name, failure);
  if (status == 0 && allocate(reader) != 0)
    status = failure_set(failure, -ENOMEM, "out of memory");
  if (status != 0) {
    reader_close(&reader);
    return status;
  }
  *out = reader;
  return 0;
}

int reader_open(struct reader **reader, int ring_fd, int epoch_fd,
                int cursor_fd, struct failure *failure) {
  struct bpf_window_epoch record;
  int status = read_epoch(epoch_fd, &record, failure);
  if (status == 0)
    status =
        reader_open_described(reader, ring_fd, cursor_fd, &record, failure);
  return status;
}

static int open_pin(const char *path, const char *suffix,
                    struct failure *failure) {
  char full[512];
  if (snprintf(full, sizeof(full), "%s%s", path, suffix) >= (int)sizeof(full))
    return failure_set(failure, -ENAMETOOLONG, "%s%s: path too long", path,
                       suffix);
  LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(full, &options);
  if (fd < 0)
    return failure_set(
        failure, fd, "cannot open the pin %s: %s%s", full, strerror(-fd),
        fd == -EPERM || fd == -EACCES
            ? " (needs root, or CAP_BPF and access to the folder)"
        : fd == -ENOENT ? " (is it loaded?)"
                        : "");
  return fd;
}

int reader_open_pinned(struct reader **reader, const char *path,
                       struct failure *failure) {
  int ring_fd = -1, epoch_fd = -1, cursor_fd = -1;
  int status = ring_fd = open_pin(path, "", failure);
  if (status >= 0)
    status = epoch_fd = open_pin(path, "_epoch", failure);
  if (status >= 0)
    status = cursor_fd = open_pin(path, "_cursor", failure);
  if (status >= 0)
    status = reader_open(reader, ring_fd, epoch_fd, cursor_fd, failure);
  int fds[] = {ring_fd, epoch_fd, cursor_fd};
  for (size_t i = 0; i < sizeof(fds) / sizeof(*fds); i++)
    if (fds[i] >= 0)
      close(fds[i]);
  return status;
}

void reader_close(struct reader **reader) {
  if (!*reader)
    return;
  if ((*reader)->ring_fd >= 0)
    close((*reader)->ring_fd);
  if ((*reader)->cursor_fd >= 0)
    close((*reader)->cursor_fd);
  free((*reader)->buckets);
  free((*reader)->cursors);
  free((*reader)->cursors_before);
  free((*reader)->keys);
  free(*reader);
  *reader = NULL;
}

const struct bpf_window_epoch *reader_epoch(const struct reader *reader) {
  return &reader->epoch;
}

uint32_t reader_ring_id(const struct reader *reader) { return reader->ring_id; }

const struct reader_statistics *reader_statistics(const struct reader *reader) {
  return &reader->statistics;
}

/* ---- Copying ---- */

static int copy_cursors(struct reader *reader, uint64_t *to) {
  uint32_t zero = 0;
  if (reader->cursor_fd < 0)
    return 0;
  return bpf_map_lookup_elem(reader->cursor_fd, &zero, to) == 0 ? 0 : -errno;
}

static int copy_buckets(struct reader *reader) {
  if (reader->batch) {
    uint32_t next, count = reader->snapshot.slots;
    LIBBPF_OPTS(bpf_map_batch_opts, options);
    if (bpf_map_lookup_batch(reader->ring_fd, NULL, &next, reader->keys,
                             reader->buckets, &count, &options) == 0)
      return 0;
    /* At the end of the map the kernel may say ENOENT with all copied. */
    if (errno == ENOENT && count == reader->snapshot.slots)
      return 0;
    if (errno != EINVAL && errno != ENOTSUP && errno != 524 /* ENOTSUPP */)
      return -errno;
    reader->batch = false;
  }
  size_t row = reader->snapshot.cpus * (1 + reader->snapshot.values);
  for (uint32_t slot = 0; slot < reader->snapshot.slots; slot++)
    if (bpf_map_lookup_elem(reader->ring_fd, &slot,
                            reader->buckets + slot * row) != 0)
      return -errno;
  return 0;
}

/* Whether no CPU rolled between the two copies of the cursors: a roll leaves
 * another end behind, and a roll in progress shows as ROLLING (I3). */
static bool cursors_stood_still(const struct reader *reader) {
  size_t words = cursor_size(reader) / sizeof(uint64_t);
  if (reader->cursor_fd < 0)
    return true;
  for (uint32_t cpu = 0; cpu < reader->snapshot.cpus; cpu++) {
    uint64_t before = reader->cursors_before[cpu * words];
    uint64_t after = reader->cursors[cpu * words];
    if (before != after || after == BPF_WINDOW_ROLLING)
      return false;
  }
  return true;
}

int reader_snapshot(struct reader *reader,
                    const struct window_snapshot **snapshot,
                    struct failure *failure) {
  for (int attempt = 0; attempt < READER_ATTEMPTS; attempt++) {
    int status = copy_cursors(reader, reader->cursors_before);
    if (status == 0)
      status = copy_buckets(reader);
    if (status == 0)
      status = copy_cursors(reader, reader->cursors);
    if (status != 0)
      return failure_set(failure, status, "cannot read the window's maps: %s",
                         strerror(-status));
    if (cursors_stood_still(reader)) {
      reader->statistics.snapshots++;
      *snapshot = &reader->snapshot;
      return 0;
    }
    reader->statistics.retries++;
  }
  return failure_set(
      failure, -EAGAIN,
      "no consistent copy in %d attempts: a CPU moved to another "
      "bucket each time",
      READER_ATTEMPTS);
}
