/* SPDX-License-Identifier: MIT */
/*
 * make_window OBJECT_FILE FOLDER [WIDTH_NS] < SCHEDULE - pins a window with a known past.
 *
 * Loads the object, sets its epoch so that AGE_BUCKETS have passed, and writes
 * the schedule into its ring, one bucket (of a second, if no width is given) per line:
 *
 *   BUCKETS_AGO CPU COUNT...      counts in the order of the bucket's fields
 *   retired CPU COUNT...          counts of recycled buckets
 *
 * BUCKETS_AGO may exceed the ring: that is a bucket left over from an earlier
 * lap. Prints the wall-clock second at which bucket "0 ago" begins.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "object/describe.h"

#define AGE_BUCKETS 1000
#define NS_PER_SECOND 1000000000LL

static void die(const char *what) {
  fprintf(stderr, "make_window: %s: %s\n", what, strerror(errno));
  exit(1);
}

static int64_t clock_ns(clockid_t clock) {
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
  if (bpf_map__pin(map, path) != 0)
    die(path);
}

/* Adds counts to what one CPU has at a key, behind `head` words. */
static void add(struct bpf_map *map, uint32_t key, int cpu, uint64_t label,
                uint32_t head, uint32_t values, char *text) {
  size_t words = head + values;
  uint64_t *all = calloc(libbpf_num_possible_cpus(), words * sizeof(*all));
  uint64_t *mine = all + cpu * words;
  if (bpf_map_lookup_elem(bpf_map__fd(map), &key, all) != 0)
    die("look-up");
  if (label)
    mine[0] = label;
  for (uint32_t i = 0; i < values; i++)
    mine[head + i] += strtoull(text, &text, 10);
  if (bpf_map_update_elem(bpf_map__fd(map), &key, all, BPF_ANY) != 0)
    die("update");
  free(all);
}

int main(int argc, char **argv) {
  if (argc != 3 && argc != 4)
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
  struct bpf_map *cursor = map_of(object, bpf_map__name(ring), "_cursor");

  struct failure failure;
  struct bpf_window_epoch epoch;
  if (describe_window(bpf_object__btf(object), ring, &epoch, &failure) != 0)
    die(failure.text);
  int64_t real_ns = clock_ns(CLOCK_REALTIME);
  int64_t mono_ns = clock_ns(CLOCK_MONOTONIC);
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  epoch.tick_ns = tick.tv_nsec;
  epoch.width_ns = argc == 4 ? strtoull(argv[3], NULL, 10) : NS_PER_SECOND;
  epoch.epoch_ns =
      mono_ns - real_ns % NS_PER_SECOND - AGE_BUCKETS * epoch.width_ns;
  uint32_t zero = 0;
  if (bpf_map_update_elem(bpf_map__fd(epoch_map), &zero, &epoch, BPF_ANY) != 0)
    die("epoch");

  char line[4096];
  while (fgets(line, sizeof(line), stdin)) {
    int ago, cpu, length;
    if (sscanf(line, "retired %d %n", &cpu, &length) == 1) {
      add(cursor, 0, cpu, 0, 2, epoch.values, line + length);
    } else if (sscanf(line, "%d %d %n", &ago, &cpu, &length) == 2) {
      uint64_t label = AGE_BUCKETS - ago;
      add(ring, label % BPF_WINDOW_SLOTS, cpu, label, 1, epoch.values,
          line + length);
    }
  }

  mkdir(argv[2], 0700);
  pin(ring, argv[2]);
  pin(epoch_map, argv[2]);
  pin(cursor, argv[2]);
  struct bpf_program *program;
  bpf_object__for_each_program(program, object) {
    char path[512];
    snprintf(path, sizeof(path), "%s/%s", argv[2], bpf_program__name(program));
    if (bpf_program__autoload(program) && bpf_program__pin(program, path) != 0)
      die(path);
  }
  printf("%lld\n", (long long)(real_ns / NS_PER_SECOND));
  bpf_object__close(object);
  return 0;
}
