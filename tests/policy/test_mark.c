/* SPDX-License-Identifier: MIT */
/*
 * test_mark.c - which files the marker opens, and what it leaves behind. No
 * program is attached that denies: what it opens is opened. What marks do is
 * seen in case_enforce.c.
 */
#include <bpf/bpf.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/inotify.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "object/object.h"
#include "object/policy.h"
#include "tap.h"

#define FILES 1000
#define ROUNDS 20

static const __u32 zero = 0;

static int make_state(void) {
  const struct file_policy_state state = {
      .generation = 4, .marks_since = 2, .enforce = 1};
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", sizeof(zero),
                          sizeof(state), 1, NULL);
  if (fd >= 0)
    must(bpf_map_update_elem(fd, &zero, &state, BPF_ANY));
  return fd;
}

static struct file_policy_state state_of(int fd) {
  struct file_policy_state state;
  must(bpf_map_lookup_elem(fd, &zero, &state));
  return state;
}

/* A tmpfs of the case's own. */
static void make_place(void) {
  must(mkdir("/run/bpf_window_mark", 0700) == 0 || errno == EEXIST ? 0 : -1);
  must(mount("mark", "/run/bpf_window_mark", "tmpfs", 0, NULL));
  must(chdir("/run/bpf_window_mark"));
}

static struct policy *deny(const char *path) {
  struct policy *policy;
  struct failure failure;
  must(policy_new(&policy));
  if (policy_add(policy, FILE_DENY, path, "test", &failure) != 0)
    fail("%s", failure.text);
  return policy;
}

static void make_file(const char *path) {
  close(must(open(path, O_CREAT | O_WRONLY, 0600)));
}

/* Watches opens of what is in a folder. */
static int watch(const char *folder) {
  int inotify = must(inotify_init1(IN_NONBLOCK));
  must(inotify_add_watch(inotify, folder, IN_OPEN));
  return inotify;
}

/* How many opens there were since the last time of what is called so; NULL: by
 * any name. */
static unsigned opens(int inotify, const char *name) {
  char room[8192] __attribute__((aligned(__alignof__(struct inotify_event))));
  unsigned count = 0;
  ssize_t length;
  while ((length = read(inotify, room, sizeof(room))) > 0)
    for (char *at = room; at < room + length;) {
      const struct inotify_event *event = (const void *)at;
      count += event->len > 0 && (!name || strcmp(event->name, name) == 0);
      at += sizeof(*event) + event->len;
    }
  return count;
}

/* ---- What it leaves behind ---- */

static void verdicts_are_void(void) {
  struct failure failure = {""};
  int fd = must(make_state());
  if (policy_mark(deny("/nowhere/x"), fd, &failure) != 0)
    skip("%s", failure.text); /* in a PID namespace */
  struct file_policy_state state = state_of(fd);
  if (state.generation != 6 || state.marks_since != 4 || state.marker != 0)
    fail("generation %llu, marks since %llu, marker %u",
         (unsigned long long)state.generation,
         (unsigned long long)state.marks_since, state.marker);
}

static void check_in_a_namespace(int fd) {
  struct failure failure = {""};
  int status = policy_mark(deny("/nowhere/x"), fd, &failure);
  struct file_policy_state state = state_of(fd);
  if (status != -ENOTSUP || state.generation != 6 || state.marks_since != 4)
    fail("status %d, generation %llu, marks since %llu", status,
         (unsigned long long)state.generation,
         (unsigned long long)state.marks_since);
}

static void marks_are_void_in_a_namespace(void) {
  int status, fd = must(make_state());
  must(unshare(CLONE_NEWPID));
  pid_t child = must(fork());
  if (child == 0) {
    check_in_a_namespace(fd);
    _exit(0);
  }
  must(waitpid(child, &status, 0));
  if (status != 0)
    _exit(1);
}

/* ---- What it opens ---- */

/* A pipe that the rule reaches by a link only is another path to the kernel. */
static void pipes_behind_links_are_left(void) {
  struct failure failure = {""};
  make_place();
  must(mkdir("real", 0700));
  must(mkdir("real/d", 0700));
  must(mkfifo("real/d/pipe", 0600));
  make_file("real/d/f");
  must(symlink("real", "link"));
  int inotify = watch("real/d");
  if (policy_mark(deny("/run/bpf_window_mark/link/d/"), must(make_state()),
                  &failure) != 0)
    skip("%s", failure.text);
  if (opens(inotify, "pipe") != 0)
    fail("a pipe is opened that no program would deny");
  if (policy_mark(deny("/run/bpf_window_mark/real/d/"), must(make_state()),
                  &failure) != 0)
    fail("%s", failure.text);
  if (opens(inotify, "pipe") != 1)
    fail("a denied pipe is not opened, so that it has no mark");
}

static struct work {
  pthread_barrier_t *begin;
  struct policy *policy;
  int state_fd;
} work[2];

static void *mark_in_turn(void *context) {
  struct work *mine = context;
  struct failure failure = {""};
  pthread_barrier_wait(mine->begin);
  return (void *)(intptr_t)policy_mark(mine->policy, mine->state_fd, &failure);
}

/* Read threads of collectd do, when files of rules change. */
static void two_at_a_time(void) {
  pthread_barrier_t begin;
  char path[64];
  make_place();
  for (int i = 0; i < 2; i++) {
    snprintf(path, sizeof(path), "%d", i);
    must(mkdir(path, 0700));
    for (int f = 0; f < FILES; f++) {
      snprintf(path, sizeof(path), "%d/%d", i, f);
      make_file(path);
    }
    snprintf(path, sizeof(path), "/run/bpf_window_mark/%d/", i);
    work[i] = (struct work){&begin, deny(path), must(make_state())};
  }
  int inotify[2] = {watch("0"), watch("1")};
  pthread_barrier_init(&begin, NULL, 2);
  for (int round = 0; round < ROUNDS; round++) {
    pthread_t thread[2];
    void *status[2];
    for (int i = 0; i < 2; i++)
      must(-pthread_create(&thread[i], NULL, mark_in_turn, &work[i]));
    for (int i = 0; i < 2; i++)
      pthread_join(thread[i], &status[i]);
    if (status[0] || status[1])
      skip("files cannot be marked in a PID namespace");
    for (int i = 0; i < 2; i++) {
      unsigned opened = opens(inotify[i], NULL);
      if (opened != FILES)
        fail("round %d: %u of %d files are opened", round, opened, FILES);
    }
  }
}

/* Enforce, and a front that cannot deny: then nothing must be opened. */
static void no_front_that_denies(void) {
  char path[512];
  const char *build = getenv("BUILD_DIR");
  struct object *object = NULL;
  struct failure failure = {""};
  make_place();
  must(mkdir("d", 0700));
  make_file("d/f");
  must(mkfifo("d/pipe", 0600));
  snprintf(path, sizeof(path), "%s/bpf/inode_cache.bpf.o", build ? build : ".");
  const struct object_options options = {.name = "inode_cache",
                                         .path = path,
                                         .front = "syscall",
                                         .policy =
                                             deny("/run/bpf_window_mark/d/"),
                                         .terms = {.enforce = true}};
  int inotify = watch("d");
  object_log_libbpf(NULL);
  if (object_start(&object, &options, &failure) != 0)
    skip("%s", failure.text);
  unsigned opened = opens(inotify, NULL);
  object_stop(&object, false, &failure);
  if (opened > 0)
    fail("%u denied files are really opened", opened);
}

int main(void) {
  static const struct tap_case cases[] = {
      {"verdicts are void when files are marked", verdicts_are_void},
      {"marks are void in a PID namespace", marks_are_void_in_a_namespace},
      {"pipes behind symbolic links are left alone",
       pipes_behind_links_are_left},
      {"two objects at a time", two_at_a_time},
      {"no front that denies: nothing is opened", no_front_that_denies},
  };
  int fd = make_state();
  if (geteuid() != 0 || fd < 0) {
    printf("# needs root: %m\n");
    return 77;
  }
  for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
    tap_run("mark", &cases[i]);
  rmdir("/run/bpf_window_mark");
  return tap_end();
}
