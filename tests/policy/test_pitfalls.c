/* SPDX-License-Identifier: MIT */
/*
 * test_pitfalls.c - every known way to make a cached verdict wrong, on each
 * front that the kernel has and on two file systems.
 *
 *   test_pitfalls [FRONT [FILESYSTEM [CASE]]]
 *
 * Denies opens only with IN_VM=1 in the environment.
 */
#include <fcntl.h>
#include <linux/membarrier.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"
#include "filesystem.h"

#define OBJECT "tests/policy/checked_cache"

static const char *only_front, *only_filesystem, *only_case;

bool in_vm(void) {
  const char *value = getenv("IN_VM");
  return value && strcmp(value, "1") == 0;
}

void drop_dentries(void) {
  if (!in_vm())
    skip("drops the machine's caches: in a virtual machine only");
  sync();
  int fd = must(open("/proc/sys/vm/drop_caches", O_WRONLY));
  must(write(fd, "2", 1));
  close(fd);
}

void stay_on_a_cpu(void) {
  cpu_set_t cpus;
  CPU_ZERO(&cpus);
  CPU_SET(sched_getcpu(), &cpus);
  must(sched_setaffinity(0, sizeof(cpus), &cpus));
}

void wait_for_memory(void) {
  must(syscall(SYS_membarrier, MEMBARRIER_CMD_GLOBAL, 0, 0));
  usleep(10000); /* what waits for the grace period comes behind it */
}

static bool is_wanted(const char *only, const char *name) {
  return !only || strcmp(only, name) == 0;
}

static void run_cases(const char *filesystem, const struct tap_case *cases) {
  char group[64];
  snprintf(group, sizeof(group), "%s %s", world_front(), filesystem);
  for (; cases->name; cases++) {
    if (!is_wanted(only_case, cases->name))
      continue;
    filesystem_reset();
    tap_run(group, cases);
    world_policy(expect_rules(), false); /* whatever the case left */
  }
}

static void run_all(const char *filesystem) {
  run_cases(filesystem, name_cases);
  run_cases(filesystem, mount_cases);
  run_cases(filesystem, file_cases);
  run_cases(filesystem, limit_cases);
  run_cases(filesystem, scope_cases);
  struct watch watch = watch_state();
  tap_result(watch.wrong == 0,
             "%s %s: %llu cached verdicts equal a fresh walk's", world_front(),
             filesystem, watch.checked);
  if (watch.wrong > 0)
    tap_note("%llu do not; the last: %s is %u, cached as %u", watch.wrong,
             watch.wrong_path, watch.wrong_fresh, watch.wrong_cached);
  if (!front_is("lsm"))
    return;
  if (in_vm()) {
    run_cases(filesystem, enforce_cases);
    run_cases(filesystem, scope_enforced_cases);
  } else
    tap_skip("denies opens: in a virtual machine only", "lsm %s: enforcing",
             filesystem);
}

static void run_front(const char *front, const char *filesystem) {
  const char *why = world_open(OBJECT, front);
  if (why) {
    tap_skip(why, "%s %s", front, filesystem);
    return;
  }
  why = filesystem_mount(filesystem);
  if (why) {
    tap_skip(why, "%s %s", front, filesystem);
  } else {
    world_policy(expect_rules(), false);
    run_all(filesystem);
    filesystem_unmount();
  }
  world_close();
}

int main(int count, char **arguments) {
  static const char *const fronts[] = {"lsm", "fentry", "syscall"};
  static const char *const filesystems[] = {"tmpfs", "ext4"};
  only_front = count > 1 ? arguments[1] : NULL;
  only_filesystem = count > 2 ? arguments[2] : NULL;
  only_case = count > 3 ? arguments[3] : NULL;
  const char *why = filesystem_enter();
  if (why) {
    printf("# %s\n", why);
    return 77;
  }
  for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
    for (size_t j = 0; j < sizeof(filesystems) / sizeof(filesystems[0]); j++)
      if (is_wanted(only_front, fronts[i]) &&
          is_wanted(only_filesystem, filesystems[j]))
        run_front(fronts[i], filesystems[j]);
  rmdir(BASE);
  return tap_end();
}
