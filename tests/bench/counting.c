/* SPDX-License-Identifier: MIT */
#include "counting.h"

#include "machine.h"
#include "variants.h"

#include <math.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "tests/bench/bench.skel.h"

/* Lengths of one measurement: long against the clock, short against the time
 * that the kernel leaves a process alone. */
#define LOOP_NS 250e3
#define ALL_NS 400e3
#define EVENT_CHUNKS 24
#define EVENTS_PER_CHUNK 500
/* Attempts at a measurement without losing the CPU meanwhile; if there is none,
 * the shortest counts. */
#define ATTEMPTS 6

#define ROW(NAME, FAMILY, COUNTERS, STREAM, WHERE, TITLE)                      \
  {.name = #NAME,                                                              \
   .family = #FAMILY,                                                          \
   .title = TITLE,                                                             \
   .counters = COUNTERS,                                                       \
   .stream = STREAM},

struct variant variants[] = {BENCH_VARIANTS(ROW)};
const int variant_count = sizeof(variants) / sizeof(*variants);

struct variant *variant_named(const char *name) {
  for (int i = 0; i < variant_count; i++)
    if (strcmp(variants[i].name, name) == 0)
      return &variants[i];
  fprintf(stderr, "no variant %s\n", name);
  abort();
}

static struct bpf_program *program_of(const struct bench_bpf *bpf,
                                      const char *kind,
                                      const struct variant *variant) {
  char name[64];
  snprintf(name, sizeof(name), "%s_%s", kind, variant->name);
  return bpf_object__find_program_by_name(bpf->obj, name);
}

/* Runs a program `repeat` times; ns per call of the counting in its loop. */
static double run(int program_fd, int repeat) {
  unsigned char packet[64] = {0};
  LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
              .data_size_in = sizeof(packet), .repeat = repeat);
  if (bpf_prog_test_run_opts(program_fd, &options) != 0)
    return NAN;
  return (double)options.duration / BENCH_CALLS_PER_RUN;
}

/* Repeats that take about that long. */
static int repeats_for(int program_fd, double duration_ns) {
  double run_ns = run(program_fd, 3) * BENCH_CALLS_PER_RUN;
  int repeat = (int)(duration_ns / (run_ns + 1));
  return repeat < 2 ? 2 : repeat;
}

/* CPU 0 of ours measures; a stream is read on the last one. */
static int reading_cpu(void) {
  int cpus[MACHINE_MAX_CPUS], count = machine_cpus(cpus);
  return count > 1 ? cpus[count - 1] : -1;
}

static void account(struct losses *losses, const struct bench_bpf *bpf,
                    unsigned long lost, double sent) {
  losses->dropped += (double)bpf->bss->drops + (double)lost;
  losses->sent += sent;
}

/* ---- One CPU ---- */

static double alone(struct bench_bpf *bpf, int program_fd, int repeat) {
  double best_ns = INFINITY;
  bool preempted = true;
  for (int attempt = 0; preempted && attempt < ATTEMPTS; attempt++) {
    long preemptions = machine_preemptions();
    bpf->bss->drops = 0;
    best_ns = fmin(best_ns, run(program_fd, repeat));
    preempted = machine_preemptions() != preemptions;
  }
  return best_ns;
}

void counting_loop_round(struct bench_bpf *bpf) {
  int cpus[MACHINE_MAX_CPUS], reader_cpu = reading_cpu();
  machine_cpus(cpus);
  for (int i = 0; i < variant_count; i++) {
    struct variant *variant = &variants[i];
    int fd = bpf_program__fd(program_of(bpf, "loop", variant));
    struct stream *stream = stream_start(variant->stream, bpf, reader_cpu);
    machine_pin(cpus[0]);
    int repeat = repeats_for(fd, LOOP_NS);
    double ns = alone(bpf, fd, repeat);
    unsigned long lost = stream_stop(&stream);
    account(&variant->loop_losses, bpf, lost,
            (double)repeat * BENCH_CALLS_PER_RUN);
    series_add(&variant->loop, ns);
    machine_unpin();
  }
}

/* ---- All CPUs at once ---- */

struct crowd {
  int program_fd, repeat;
  pthread_barrier_t start;
  atomic_int measuring;
  atomic_int preempted;
};

struct worker {
  struct crowd *crowd;
  int cpu;
  double ns;
  pthread_t thread;
};

static void *work(void *argument) {
  struct worker *worker = argument;
  struct crowd *crowd = worker->crowd;
  machine_pin(worker->cpu);
  run(crowd->program_fd, 2);
  pthread_barrier_wait(&crowd->start);
  long preemptions = machine_preemptions();
  worker->ns = run(crowd->program_fd, crowd->repeat);
  if (machine_preemptions() != preemptions)
    crowd->preempted++;
  crowd->measuring--;
  /* Whoever is done goes on, so that the last is not measured alone. */
  while (crowd->measuring > 0)
    run(crowd->program_fd, 2);
  return NULL;
}

/* Mean over the CPUs. Says whether any was taken away meanwhile. */
static double all_at_once(int program_fd, int repeat, bool *preempted) {
  int cpus[MACHINE_MAX_CPUS], count = machine_cpus(cpus);
  static struct worker workers[MACHINE_MAX_CPUS];
  double sum = 0;
  struct crowd crowd = {
      .program_fd = program_fd, .repeat = repeat, .measuring = count};
  pthread_barrier_init(&crowd.start, NULL, (unsigned)count);
  for (int i = 0; i < count; i++) {
    workers[i] = (struct worker){.crowd = &crowd, .cpu = cpus[i]};
    if (pthread_create(&workers[i].thread, NULL, work, &workers[i]) != 0)
      abort();
  }
  for (int i = 0; i < count; i++) {
    pthread_join(workers[i].thread, NULL);
    sum += workers[i].ns;
  }
  pthread_barrier_destroy(&crowd.start);
  *preempted = crowd.preempted > 0;
  return sum / count;
}

void counting_all_round(struct bench_bpf *bpf) {
  int cpus[MACHINE_MAX_CPUS], count = machine_cpus(cpus);
  for (int i = 0; i < variant_count; i++) {
    struct variant *variant = &variants[i];
    int fd = bpf_program__fd(program_of(bpf, "loop", variant));
    struct stream *stream = stream_start(variant->stream, bpf, -1);
    machine_pin(cpus[0]);
    int repeat = repeats_for(fd, ALL_NS);
    series_add(&variant->alone, alone(bpf, fd, repeat));
    machine_unpin();
    double best_ns = INFINITY;
    bool preempted = true;
    int attempt = 0;
    bpf->bss->drops = 0;
    while (preempted && attempt++ < ATTEMPTS)
      best_ns = fmin(best_ns, all_at_once(fd, repeat, &preempted));
    unsigned long lost = stream_stop(&stream);
    account(&variant->all_losses, bpf, lost,
            (double)attempt * repeat * count * BENCH_CALLS_PER_RUN);
    series_add(&variant->all, best_ns);
  }
}

/* ---- Real events ---- */

/* ns per system call: the least of some chunks, as whatever disturbs makes them
 * longer. */
static double system_call_ns(void) {
  static struct series chunks;
  chunks.count = 0;
  for (int chunk = 0; chunk < EVENT_CHUNKS; chunk++) {
    uint64_t start_ns = machine_now_ns();
    for (int i = 0; i < EVENTS_PER_CHUNK; i++)
      syscall(SYS_getppid);
    series_add(&chunks,
               (double)(machine_now_ns() - start_ns) / EVENTS_PER_CHUNK);
  }
  return series_quantile(&chunks, 0);
}

static double with_attached(struct bpf_program *program) {
  struct bpf_link *link = bpf_program__attach(program);
  if (!link)
    return NAN;
  double ns = system_call_ns();
  bpf_link__destroy(link);
  return ns;
}

void counting_event_round(struct bench_bpf *bpf, int round) {
  int cpus[MACHINE_MAX_CPUS], reader_cpu = reading_cpu();
  struct bpf_program *empty = program_of(bpf, "event", variant_named("empty"));
  machine_cpus(cpus);
  for (int i = 0; i < variant_count; i++) {
    struct variant *variant = &variants[i];
    struct bpf_program *program = program_of(bpf, "event", variant);
    if (!program)
      continue;
    struct stream *stream = stream_start(variant->stream, bpf, reader_cpu);
    machine_pin(cpus[0]);
    bpf->bss->drops = 0;
    /* Which of the two goes first changes from round to round. */
    double first = with_attached(round % 2 ? empty : program);
    double second = with_attached(round % 2 ? program : empty);
    unsigned long lost = stream_stop(&stream);
    account(&variant->event_losses, bpf, lost, EVENT_CHUNKS * EVENTS_PER_CHUNK);
    series_add(&variant->event, round % 2 ? second - first : first - second);
    machine_unpin();
  }
}
