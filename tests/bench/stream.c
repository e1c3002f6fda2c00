/* SPDX-License-Identifier: MIT */
#include "stream.h"

#include "machine.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "tests/bench/bench.skel.h"

#define PERF_PAGES_PER_CPU 1024
#define WAIT_MS 2
#define POLL_US 1000

struct stream {
  enum stream_kind kind;
  int cpu;
  volatile bool stop, ready;
  unsigned long events, lost;
  struct ring_buffer *ring;
  struct perf_buffer *perf;
  pthread_t thread;
};

static int on_ring(void *context, void *data, size_t size) {
  (void)data;
  (void)size;
  ((struct stream *)context)->events++;
  return 0;
}

static void on_perf(void *context, int cpu, void *data, __u32 size) {
  (void)cpu;
  (void)data;
  (void)size;
  ((struct stream *)context)->events++;
}

static void on_lost(void *context, int cpu, __u64 count) {
  (void)cpu;
  ((struct stream *)context)->lost += count;
}

static void *run(void *argument) {
  struct stream *stream = argument;
  machine_give_up_priority();
  if (stream->cpu >= 0)
    machine_pin(stream->cpu);
  stream->ready = true;
  while (!stream->stop) {
    if (stream->kind == PERF_BUFFER)
      perf_buffer__poll(stream->perf, WAIT_MS);
    else if (stream->kind == RING_BUFFER)
      ring_buffer__poll(stream->ring, WAIT_MS);
    else {
      usleep(POLL_US);
      ring_buffer__consume(stream->ring);
    }
  }
  if (stream->perf)
    perf_buffer__consume(stream->perf);
  if (stream->ring)
    ring_buffer__consume(stream->ring);
  return NULL;
}

struct stream *stream_start(enum stream_kind kind, const struct bench_bpf *bpf,
                            int cpu) {
  if (kind == NO_STREAM)
    return NULL;
  struct stream *stream = calloc(1, sizeof(*stream));
  if (!stream)
    return NULL;
  stream->kind = kind;
  stream->cpu = cpu;
  if (kind == PERF_BUFFER)
    stream->perf =
        perf_buffer__new(bpf_map__fd(bpf->maps.perf_buffer_map),
                         PERF_PAGES_PER_CPU, on_perf, on_lost, stream, NULL);
  else
    stream->ring = ring_buffer__new(
        bpf_map__fd(kind == RING_BUFFER ? bpf->maps.ring_buffer_map
                                        : bpf->maps.ring_buffer_quiet_map),
        on_ring, stream, NULL);
  if ((!stream->perf && !stream->ring) ||
      pthread_create(&stream->thread, NULL, run, stream) != 0) {
    perf_buffer__free(stream->perf);
    ring_buffer__free(stream->ring);
    free(stream);
    return NULL;
  }
  while (!stream->ready)
    usleep(20);
  return stream;
}

unsigned long stream_stop(struct stream **stream) {
  if (!*stream)
    return 0;
  (*stream)->stop = true;
  pthread_join((*stream)->thread, NULL);
  unsigned long lost = (*stream)->lost;
  perf_buffer__free((*stream)->perf);
  ring_buffer__free((*stream)->ring);
  free(*stream);
  *stream = NULL;
  return lost;
}
