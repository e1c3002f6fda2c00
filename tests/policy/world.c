/* SPDX-License-Identifier: MIT */
#include "world.h"

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf_window/layout.h>

#include "object/load.h"
#include "tap.h"
#include "window/reader.h"

#define MAX_LINKS 16
#define MAX_COUNTERS 16
#define SECOND_NS 1000000000ULL

static const uint32_t zero = 0;

static struct {
  char front[16];
  struct load_file file;
  struct bpf_object *object;
  struct bpf_link *link[MAX_LINKS];
  unsigned links;
  int policy_fd, state_fd, watch_fd, watched_fd;
} world;

static uint64_t now_ns(clockid_t clock,
                       int (*read)(clockid_t, struct timespec *)) {
  struct timespec time;
  read(clock, &time);
  return time.tv_sec * SECOND_NS + time.tv_nsec;
}

static int map_fd(const char *name) {
  return bpf_object__find_map_fd_by_name(world.object, name);
}

static int set_up_window(const char *name, struct failure *failure) {
  char epoch[64];
  struct bpf_window_epoch record;
  struct bpf_map *ring = bpf_object__find_map_by_name(world.object, name);
  int status =
      describe_window(bpf_object__btf(world.object), ring, &record, failure);
  if (status != 0)
    return status;
  record.epoch_ns = now_ns(CLOCK_MONOTONIC, clock_gettime) - 2 * SECOND_NS;
  record.width_ns = SECOND_NS;
  record.tick_ns = now_ns(CLOCK_MONOTONIC_COARSE, clock_getres);
  snprintf(epoch, sizeof(epoch), "%s_epoch", name);
  return bpf_map_update_elem(map_fd(epoch), &zero, &record, BPF_ANY)
             ? failure_set(failure, -errno, "cannot write %s", epoch)
             : 0;
}

static int attach(struct failure *failure) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, world.object) {
    if (!bpf_program__autoload(program))
      continue;
    struct bpf_link *link = bpf_program__attach(program);
    if (!link)
      return load_explain(-errno, bpf_program__name(program), failure);
    world.link[world.links++] = link;
  }
  return 0;
}

static int load(const char *object, const char *front,
                struct failure *failure) {
  char path[512];
  const char *build = getenv("BUILD_DIR");
  snprintf(path, sizeof(path), "%s/%s.bpf.o", build ? build : ".", object);
  int status = load_read_file(&world.file, object, path, failure);
  if (status == 0)
    status = load_open(&world.file, &world.object, failure);
  if (status == 0)
    status = load_select_front(world.object, front, failure);
  struct bpf_map *marks =
      status == 0 ? bpf_object__find_map_by_name(world.object, "file_marks")
                  : NULL;
  if (marks && bpf_map__set_max_entries(marks, WORLD_MARKS) != 0)
    status = failure_set(failure, -EINVAL, "cannot limit the marks");
  if (status == 0)
    status = load_into_kernel(world.object, failure);
  if (status == 0)
    status = set_up_window("inode_cache", failure);
  if (status == 0)
    status = set_up_window("inode_uncached", failure);
  return status == 0 ? attach(failure) : status;
}

const char *world_open(const char *object, const char *front) {
  static struct failure failure;
  snprintf(world.front, sizeof(world.front), "%s", front);
  if (load(object, front, &failure) != 0) {
    world_close();
    /* The kernels of the virtual machines have every front. */
    if (getenv("IN_VM"))
      tap_result(false, "%s: %s is loaded", front, object);
    return failure.text;
  }
  world.policy_fd = map_fd("file_policy");
  world.state_fd = map_fd("file_policy_state");
  world.watch_fd = map_fd("watch");
  world.watched_fd = map_fd("watched");
  return NULL;
}

void world_close(void) {
  while (world.links > 0)
    bpf_link__destroy(world.link[--world.links]);
  bpf_object__close(world.object);
  world.object = NULL;
  load_free_file(&world.file);
}

const char *world_front(void) { return world.front; }

bool front_is(const char *front) { return strcmp(world.front, front) == 0; }

uint64_t world_count(const char *window, const char *counter) {
  char epoch[64], cursor[64];
  struct failure failure;
  struct reader *reader;
  const struct window_snapshot *snapshot;
  uint64_t totals[MAX_COUNTERS];
  snprintf(epoch, sizeof(epoch), "%s_epoch", window);
  snprintf(cursor, sizeof(cursor), "%s_cursor", window);
  if (reader_open(&reader, map_fd(window), map_fd(epoch), map_fd(cursor),
                  &failure) != 0 ||
      reader_snapshot(reader, &snapshot, &failure) != 0) {
    tap_note("%s", failure.text);
    exit(2);
  }
  const struct bpf_window_epoch *record = reader_epoch(reader);
  window_total_at(
      snapshot,
      window_open_bucket(record, now_ns(CLOCK_MONOTONIC, clock_gettime)) + 1,
      totals);
  uint32_t value;
  if (window_values_of(record, counter, &value) != 1) {
    tap_note("the window has no counter %s", counter);
    exit(2);
  }
  uint64_t total = totals[value];
  reader_close(&reader);
  return total;
}

static void need(int status, const struct failure *failure) {
  if (status == 0)
    return;
  printf("Bail out! %s\n", failure->text);
  exit(2);
}

static void install(const struct policy *policy, bool enforce,
                    uint32_t namespace) {
  struct failure failure;
  const struct policy_terms terms = {enforce, namespace};
  need(
      policy_install(policy, world.policy_fd, world.state_fd, &terms, &failure),
      &failure);
}

void world_install(const struct policy *policy, bool enforce) {
  install(policy, enforce, 0);
}

int world_mark(const struct policy *policy, struct failure *failure) {
  return policy_mark(policy, world.state_fd, failure);
}

void world_scope(const struct policy *policy, bool enforce,
                 uint32_t namespace) {
  struct failure failure;
  install(policy, enforce, namespace);
  if (enforce)
    need(world_mark(policy, &failure), &failure);
}

void world_policy(const struct policy *policy, bool enforce) {
  world_scope(policy, enforce, 0);
}

struct file_policy_state world_state(void) {
  struct file_policy_state state = {0};
  bpf_map_lookup_elem(world.state_fd, &zero, &state);
  return state;
}

void world_set_state(const struct file_policy_state *state) {
  bpf_map_update_elem(world.state_fd, &zero, state, BPF_ANY);
}

/* ---- The watch ---- */

struct watch watch_state(void) {
  struct watch watch = {0};
  bpf_map_lookup_elem(world.watch_fd, &zero, &watch);
  return watch;
}

void watch_me(void) {
  struct watch watch = watch_state();
  watch.process = getpid();
  watch.events = 0;
  bpf_map_update_elem(world.watch_fd, &zero, &watch, BPF_ANY);
}

struct watched_event watch_event(unsigned n) {
  struct watched_event event = {0};
  uint32_t place = n % WATCHED_EVENTS;
  bpf_map_lookup_elem(world.watched_fd, &place, &event);
  return event;
}
