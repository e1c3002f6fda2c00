/* SPDX-License-Identifier: MIT */
/*
 * instructions.c - what an open of a file costs with and without the inode
 * cache, and what a snapshot costs, in a virtual machine whose clock advances
 * by a nanosecond with each instruction (qemu -icount shift=0). So the clock
 * counts instructions: repeatable to a fraction of a percent, and no times.
 *
 *   instructions RESULTS.json opens BUILD_DIR
 *   instructions RESULTS.json reading
 */
#include "machine.h"
#include "object/object.h"
#include "object/policy.h"
#include "result.h"
#include "window/reader.h"
#include "window_setup.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#define BATCHES 21
#define OPENS_PER_BATCH 200

/* Six names deep, as files in people's trees are. */
#define FILE_TO_OPEN "/tmp/bench_window/srv/www/site/assets/page"

/* ---- Opens ---- */

static int make_file(const char *path) {
  char folder[256];
  for (const char *slash = strchr(path + 1, '/'); slash;
       slash = strchr(slash + 1, '/')) {
    snprintf(folder, sizeof(folder), "%.*s", (int)(slash - path), path);
    if (mkdir(folder, 0755) != 0 && errno != EEXIST)
      return -errno;
  }
  int fd = open(path, O_CREAT | O_RDWR, 0644);
  if (fd < 0)
    return -errno;
  close(fd);
  return 0;
}

/* Instructions for each open; the closes are outside of what is timed. */
static void measure_opens(struct series *series) {
  static int fds[OPENS_PER_BATCH];
  series->count = 0;
  for (int batch = 0; batch < BATCHES; batch++) {
    uint64_t start_ns = machine_now_ns();
    for (int i = 0; i < OPENS_PER_BATCH; i++)
      fds[i] = open(FILE_TO_OPEN, O_RDONLY);
    uint64_t end_ns = machine_now_ns();
    for (int i = 0; i < OPENS_PER_BATCH; i++)
      close(fds[i]);
    series_add(series, (double)(end_ns - start_ns) / OPENS_PER_BATCH);
  }
}

enum stage { NOTHING, HOOK, WALK, CACHE, COUNTED, STAGES };

static const struct {
  const char *title, *object;
} stages[STAGES] = {
    [NOTHING] = {"nothing attached", NULL},
    [HOOK] = {"the hook alone", "tests/bench/feature_hook.bpf.o"},
    [WALK] = {"policy, no cache, nothing counted",
              "tests/bench/feature_walk.bpf.o"},
    [CACHE] = {"policy and cache, nothing counted",
               "tests/bench/feature_cache.bpf.o"},
    [COUNTED] = {"policy, cache and counting, as shipped",
                 "bpf/inode_cache.bpf.o"},
};

static int make_policy(struct policy **policy, struct failure *failure) {
  static const struct {
    enum file_verdict verdict;
    const char *path;
  } rules[] = {{FILE_ALLOW, "/usr/"},
               {FILE_ALLOW, "/var/lib/"},
               {FILE_DENY, "/root/secrets/"},
               {FILE_DENY, "/etc/agent/keys"}};
  int status = policy_new(policy);
  for (size_t i = 0; i < sizeof(rules) / sizeof(*rules) && status == 0; i++)
    status =
        policy_add(*policy, rules[i].verdict, rules[i].path, "bench", failure);
  return status;
}

static int measure_stage(enum stage stage, const char *front,
                         const char *build_dir, const struct policy *policy,
                         struct series *series, struct failure *failure) {
  char path[512];
  struct object *object = NULL;
  if (stages[stage].object) {
    snprintf(path, sizeof(path), "%s/%s", build_dir, stages[stage].object);
    struct object_options options = {
        .name = "bench", .path = path, .front = front, .policy = policy};
    int status = object_start(&object, &options, failure);
    if (status != 0)
      return status;
  }
  measure_opens(series);
  if (object)
    object_stop(&object, false, NULL);
  return 0;
}

static const char *const fronts[] = {"lsm", "fentry", "syscall"};
#define FRONTS (sizeof(fronts) / sizeof(*fronts))

static void report_front(size_t front, struct series series[STAGES],
                         double median[STAGES]) {
  char title[128];
  for (enum stage s = NOTHING; s < STAGES; s++) {
    median[s] = series_quantile(&series[s], 0.5);
    snprintf(title, sizeof(title), "%s: %s", fronts[front], stages[s].title);
    result_row(&(struct result_row){.title = title,
                                    .series = &series[s],
                                    .ratio = median[s] / median[NOTHING],
                                    .drops = NAN});
  }
}

static void report_proofs(size_t front, const double median[STAGES]) {
  char title[128];
  snprintf(title, sizeof(title), "%s: a walk to a verdict from the cache",
           fronts[front]);
  result_proof(title,
               (median[WALK] - median[HOOK]) / (median[CACHE] - median[HOOK]),
               5, 1, "x");
  snprintf(title, sizeof(title),
           "%s: counting, of an open with policy and cache", fronts[front]);
  result_proof(title, 100 * (median[COUNTED] - median[CACHE]) / median[COUNTED],
               1, 0, "%");
}

static int measure_all_opens(const char *build_dir) {
  static struct series series[STAGES];
  double median[FRONTS][STAGES] = {0};
  struct policy *policy = NULL;
  struct failure failure = {""};
  if (make_file(FILE_TO_OPEN) != 0 || make_policy(&policy, &failure) != 0) {
    fprintf(stderr, "cannot prepare: %s\n", failure.text);
    return 1;
  }
  result_table(
      "feature",
      "An open of a file, same file again and again (counts, not times)",
      "instructions per open", "to nothing attached");
  for (size_t f = 0; f < FRONTS; f++) {
    int status = 0;
    for (enum stage s = NOTHING; s < STAGES && status == 0; s++)
      status =
          measure_stage(s, fronts[f], build_dir, policy, &series[s], &failure);
    if (status == 0)
      report_front(f, series, median[f]);
    else
      printf("  %s: not measured: %s\n", fronts[f], failure.text);
  }
  for (size_t f = 0; f < FRONTS; f++)
    if (median[f][COUNTED] > 0)
      report_proofs(f, median[f]);
  policy_free(&policy);
  return 0;
}

/* ---- Reading ---- */

static int measure_reading(void) {
  static struct series series;
  uint64_t totals[6], sums[6];
  struct reader *reader = NULL;
  const struct window_snapshot *snapshot;
  struct failure failure = {""};
  int ring_fd = bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "bench", 4, 7 * 8,
                               BPF_WINDOW_SLOTS, NULL);
  int epoch_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bench_epoch", 4,
                                sizeof(struct bpf_window_epoch), 1, NULL);
  int cursor_fd =
      bpf_map_create(BPF_MAP_TYPE_PERCPU_ARRAY, "bench_cursor", 4,
                     sizeof(struct bpf_window_cursor) + 6 * 8, 1, NULL);
  int status = ring_fd < 0 || epoch_fd < 0 || cursor_fd < 0 ? -errno : 0;
  if (status == 0)
    status = window_setup(epoch_fd);
  if (status == 0)
    status = reader_open(&reader, ring_fd, epoch_fd, cursor_fd, &failure);
  for (int i = 0; i < BATCHES && status == 0; i++) {
    uint64_t start_ns = machine_now_ns();
    status = reader_snapshot(reader, &snapshot, &failure);
    if (status == 0) {
      window_total_at(snapshot, 300, totals);
      window_sum(snapshot, 290, 300, sums);
      series_add(&series, (double)(machine_now_ns() - start_ns));
    }
  }
  reader_close(&reader);
  if (status != 0) {
    fprintf(stderr, "cannot read: %s %s\n", strerror(-status), failure.text);
    return 1;
  }
  char title[64];
  snprintf(title, sizeof(title), "%d possible CPUs",
           libbpf_num_possible_cpus());
  result_table("vmread", "Reading an interval (counts, not times)",
               "instructions", "");
  result_row(&(struct result_row){
      .title = title, .series = &series, .ratio = NAN, .drops = NAN});
  return 0;
}

int main(int argc, char **argv) {
  struct rlimit files = {4096, 4096};
  int status;
  if (argc < 3 || (strcmp(argv[2], "opens") == 0) != (argc == 4)) {
    fprintf(stderr, "usage: instructions RESULTS.json opens BUILD_DIR\n"
                    "       instructions RESULTS.json reading\n");
    return 2;
  }
  setrlimit(RLIMIT_NOFILE, &files);
  machine_init();
  if (result_open(argv[1]) != 0) {
    perror(argv[1]);
    return 1;
  }
  machine_report();
  if (argc == 4)
    status = measure_all_opens(argv[3]);
  else
    status = measure_reading();
  result_close();
  return status;
}
