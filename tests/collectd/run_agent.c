/* SPDX-License-Identifier: MIT */
/*
 * run_agent OBJECT_FILE FOLDER - an agent that owns a window: loads the object, pins
 * the maps of its window (over those of an agent before it), and then counts as it is
 * told, a line each: HITS_FAST HITS_SLOW MISSES EVICTIONS. Prints "ready", and
 * "counted" for each line. It leaves its pins behind.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "object/describe.h"

#define NS_PER_SECOND 1000000000LL

static void die(const char *what) {
  fprintf(stderr, "run_agent: %s: %s\n", what, strerror(errno));
  exit(1);
}

static long long clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * NS_PER_SECOND + now.tv_nsec;
}

static struct bpf_map *map_of(struct bpf_object *object, const char *name,
                              const char *suffix) {
  char full[128];
  snprintf(full, sizeof(full), "%s%s", name, suffix);
  struct bpf_map *map = bpf_object__find_map_by_name(object, full);
  if (!map)
    die(full);
  return map;
}

static void pin(struct bpf_map *map, const char *folder) {
  char path[512];
  snprintf(path, sizeof(path), "%s/%s", folder, bpf_map__name(map));
  unlink(path);
  if (bpf_map__pin(map, path) != 0)
    die(path);
}

int main(int argc, char **argv) {
  if (argc != 3)
    return 2;
  struct bpf_object *object = bpf_object__open_file(argv[1], NULL);
  if (!object || bpf_object__load(object) != 0)
    die(argv[1]);
  struct bpf_map *ring = NULL;
  bpf_object__for_each_map(ring, object) {
    if (describe_is_ring(bpf_object__btf(object), ring))
      break;
  }
  if (!ring)
    die("no window in the object");
  struct bpf_map *epoch_map = map_of(object, bpf_map__name(ring), "_epoch");
  struct bpf_window_epoch epoch;
  struct failure failure;
  if (describe_window(bpf_object__btf(object), ring, &epoch, &failure) != 0)
    die(failure.text);
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  epoch.tick_ns = (unsigned long long)tick.tv_nsec;
  epoch.epoch_ns =
      (unsigned long long)(clock_ns(CLOCK_MONOTONIC) -
                           clock_ns(CLOCK_REALTIME) % NS_PER_SECOND -
                           NS_PER_SECOND);
  unsigned zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(epoch_map), &zero, &epoch, BPF_ANY) != 0)
    die("epoch");
  mkdir(argv[2], 0700);
  /* The map of buckets last: who finds it finds the others. */
  pin(epoch_map, argv[2]);
  pin(map_of(object, bpf_map__name(ring), "_cursor"), argv[2]);
  pin(ring, argv[2]);
  int fd = bpf_program__fd(bpf_object__find_program_by_name(object, "count"));
  puts("ready");
  fflush(stdout);
  char line[256];
  while (fgets(line, sizeof(line), stdin)) {
    unsigned long long counts[4] = {0};
    sscanf(line, "%llu %llu %llu %llu", &counts[0], &counts[1], &counts[2],
           &counts[3]);
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = counts,
                .ctx_size_in = sizeof(counts));
    if (bpf_prog_test_run_opts(fd, &run) != 0 || run.retval != 0)
      die("count");
    puts("counted");
    fflush(stdout);
  }
  return 0;
}
