/* SPDX-License-Identifier: MIT */
#include "race_load.h"

#include "place.h"

#include <errno.h>
#include <linux/perf_event.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <bpf_window/layout.h>

#define CALLS_PER_RUN 500 /* as in race.bpf.c */
#define RUNS_PER_CALL 20

struct looper {
  struct race *race;
  int cpu;
  uint64_t calls;
  pthread_t thread;
};

struct race {
  struct bpf_object *object;
  int cpus[RACE_MAX_CPUS], cpu_count;
  int loop_fd;
  volatile bool stop;
  struct looper loopers[RACE_MAX_CPUS];
  struct bpf_link *links[RACE_MAX_CPUS];
};

uint64_t race_now_ns(void) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

int race_map(const struct race *race, const char *name) {
  return bpf_object__find_map_fd_by_name(race->object, name);
}

static int write_epoch(const struct race *race, bool fast, uint64_t width_ns) {
  static struct bpf_window_epoch epoch;
  static const char *const names[RACE_VALUES] = {[RACE_LABEL_SUM] = "label_sum",
                                                 [RACE_EVENTS] = "events",
                                                 [RACE_LOOPED] = "looped",
                                                 [RACE_INTERRUPTING] =
                                                     "interrupting"};
  struct timespec tick;
  uint32_t zero = 0;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  epoch = (struct bpf_window_epoch){
      /* Long ago, so that numbers of buckets dwarf the counts in one. */
      .epoch_ns = 1,
      .width_ns = fast ? width_ns : BPF_WINDOW_WIDTH_NS,
      .tick_ns = fast ? 1 : (uint64_t)tick.tv_nsec,
      .format = BPF_WINDOW_FORMAT,
      .slots = BPF_WINDOW_SLOTS,
      .counters = RACE_VALUES,
      .values = RACE_VALUES};
  for (int i = 0; i < RACE_VALUES; i++) {
    strcpy(epoch.counter[i].name, names[i]);
    epoch.counter[i].values = 1;
  }
  return bpf_map_update_elem(race_map(race, "race_epoch"), &zero, &epoch,
                             BPF_ANY);
}

struct race *race_open(bool fast, uint64_t width_ns) {
  struct race *race = calloc(1, sizeof(*race));
  cpu_set_t usable;
  if (!race)
    return NULL;
  sched_getaffinity(0, sizeof(usable), &usable);
  for (int cpu = 0; cpu < CPU_SETSIZE && race->cpu_count < RACE_MAX_CPUS; cpu++)
    if (CPU_ISSET(cpu, &usable))
      race->cpus[race->cpu_count++] = cpu;
  race->object = bpf_object__open(
      place_object(fast ? "tests/bpf/race_fast" : "tests/bpf/race"));
  if (!race->object || bpf_object__load(race->object) != 0 ||
      write_epoch(race, fast, width_ns) != 0)
    race_close(&race);
  return race;
}

void race_close(struct race **race) {
  if (*race)
    bpf_object__close((*race)->object);
  free(*race);
  *race = NULL;
}

/* ---- Load ---- */

static void *loop(void *argument) {
  struct looper *looper = argument;
  cpu_set_t set;
  unsigned char packet[64] = {0};
  LIBBPF_OPTS(bpf_test_run_opts, options, .data_in = packet,
              .data_size_in = sizeof(packet), .repeat = RUNS_PER_CALL);
  CPU_ZERO(&set);
  CPU_SET(looper->cpu, &set);
  sched_setaffinity(0, sizeof(set), &set);
  while (!looper->race->stop)
    if (bpf_prog_test_run_opts(looper->race->loop_fd, &options) == 0)
      looper->calls += RUNS_PER_CALL * CALLS_PER_RUN;
  return NULL;
}

static struct bpf_link *interrupt(const struct bpf_program *program, int cpu,
                                  uint64_t period_ns) {
  struct perf_event_attr attributes = {.size = sizeof(attributes),
                                       .type = PERF_TYPE_SOFTWARE,
                                       .config = PERF_COUNT_SW_CPU_CLOCK,
                                       .sample_period = period_ns};
  int event_fd = (int)syscall(SYS_perf_event_open, &attributes, -1, cpu, -1, 0);
  return event_fd < 0 ? NULL
                      : bpf_program__attach_perf_event(program, event_fd);
}

int race_start(struct race *race, bool atomic, uint64_t period_ns) {
  struct bpf_program *program = bpf_object__find_program_by_name(
      race->object, atomic ? "interrupt_atomic" : "interrupt_plain");
  race->loop_fd = bpf_program__fd(bpf_object__find_program_by_name(
      race->object, atomic ? "loop_atomic" : "loop_plain"));
  race->stop = false;
  for (int i = 0; i < race->cpu_count; i++) {
    struct looper *looper = &race->loopers[i];
    *looper = (struct looper){.race = race, .cpu = race->cpus[i]};
    race->links[i] = interrupt(program, looper->cpu, period_ns);
    if (!race->links[i])
      return -errno;
    if (pthread_create(&looper->thread, NULL, loop, looper) != 0)
      return -EAGAIN;
  }
  return 0;
}

void race_stop(struct race *race) {
  race->stop = true;
  for (int i = 0; i < race->cpu_count; i++) {
    if (race->loopers[i].thread)
      pthread_join(race->loopers[i].thread, NULL);
    race->loopers[i].thread = 0;
  }
  for (int i = 0; i < race->cpu_count; i++) {
    bpf_link__destroy(race->links[i]);
    race->links[i] = NULL;
  }
  usleep(20000); /* an interruption that had begun ends */
}

/* ---- What they say they counted ---- */

uint64_t race_looped(const struct race *race) {
  uint64_t calls = 0;
  for (int i = 0; i < race->cpu_count; i++)
    calls += race->loopers[i].calls;
  return calls;
}

uint64_t race_interruptions(const struct race *race) {
  uint64_t per_cpu[RACE_MAX_CPUS * 4] = {0}, sum = 0;
  uint32_t zero = 0;
  int possible = libbpf_num_possible_cpus();
  bpf_map_lookup_elem(race_map(race, "interruptions"), &zero, per_cpu);
  for (int cpu = 0; cpu < possible; cpu++)
    sum += per_cpu[cpu];
  return sum;
}

uint64_t race_rolls(const struct race *race) {
  const struct bpf_map *map;
  uint64_t rolls = 0;
  uint32_t zero = 0;
  bpf_object__for_each_map(map,
                           race->object) if (strstr(bpf_map__name(map), ".bss"))
      bpf_map_lookup_elem(bpf_map__fd(map), &zero, &rolls);
  return rolls;
}
