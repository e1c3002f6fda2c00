/* SPDX-License-Identifier: MIT */
/*
 * test_stress.c - opens that race with renames, links, mounts and evictions.
 * Every verdict found in the cache is held against a fresh walk by the program
 * itself.
 *
 *   test_stress [FRONT [FILESYSTEM]]
 *
 * Environment: STRESS_SECONDS (default 15) for each front and file system.
 */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "expect.h"
#include "filesystem.h"
#include "tap.h"

#define OBJECT "tests/policy/checked_cache"
#define OPENERS 5
#define PAUSE_US 2000 /* in which verdicts can be cached and found again */
#define FEW_HITS 1000 /* fewer prove nothing */

static volatile bool *stop;

static void move_folder(void) {
  rename("plain/d", "secret/d");
  usleep(PAUSE_US);
  rename("secret/d", "plain/d");
}

static void move_file(void) {
  rename("plain/f", "secret/f");
  usleep(PAUSE_US);
  rename("secret/f", "plain/f");
}

static void exchange_folders(void) {
  syscall(SYS_renameat2, AT_FDCWD, "ok/x", AT_FDCWD, "secret/x",
          RENAME_EXCHANGE);
}

static void move_links(void) {
  int done = link("plain/h", "secret/h") | unlink("plain/h");
  usleep(PAUSE_US);
  done |= link("secret/h", "plain/h") | unlink("secret/h");
  (void)done; /* whoever races may fail */
}

static void make_anew(void) {
  int fd = open("secret/u", O_CREAT | O_WRONLY, 0644);
  close(fd);
  usleep(PAUSE_US);
  unlink("secret/u");
  fd = open("plain/u", O_CREAT | O_WRONLY, 0644);
  close(fd);
  usleep(PAUSE_US);
  unlink("plain/u");
}

static void bind_in_turn(void) {
  mount("plain/g", "secret/b", NULL, MS_BIND, NULL);
  usleep(PAUSE_US);
  umount2("secret/b", MNT_DETACH);
  mount("plain/g", "ok/b", NULL, MS_BIND, NULL);
  usleep(PAUSE_US);
  umount2("ok/b", MNT_DETACH);
}

static void evict(void) {
  const char *vm = getenv("IN_VM");
  usleep(100 * PAUSE_US);
  if (!vm || strcmp(vm, "1") != 0)
    return;
  int fd = open("/proc/sys/vm/drop_caches", O_WRONLY);
  if (write(fd, "2", 1) < 0)
    perror("drop_caches");
  close(fd);
}

static void (*const changes[])(void) = {
    move_folder,  move_file, exchange_folders, move_links, make_anew,
    bind_in_turn, evict,
};
#define CHANGES (sizeof(changes) / sizeof(changes[0]))

static void open_all(void) {
  static const char *const files[] = {
      "plain/d/e/f", "secret/d/e/f", "plain/f",  "secret/f",    "ok/x/f",
      "secret/x/f",  "plain/h",      "secret/h", "plain/u",     "secret/u",
      "plain/g/f",   "secret/b/f",   "ok/b/f",   "plain/quiet",
  };
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++) {
    int fd = open(files[i], O_RDONLY | O_CLOEXEC);
    if (fd >= 0)
      close(fd);
  }
}

static void start(void (*repeated)(void), useconds_t pause_us) {
  if (fork() != 0)
    return;
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  while (!*stop) {
    repeated();
    if (pause_us)
      usleep(pause_us);
  }
  _exit(0);
}

static void make_world(void) {
  static const char *const folders[] = {"plain/d", "plain/d/e", "plain/g",
                                        "ok/b",    "ok/x",      "secret/b",
                                        "secret/x"};
  static const char *const files[] = {"plain/d/e/f", "plain/f", "plain/g/f",
                                      "plain/h",     "ok/x/f",  "secret/x/f",
                                      "plain/quiet"};
  filesystem_reset();
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
    make_folder(folders[i]);
  for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
    make_file(files[i]);
}

static void stress(const char *filesystem, unsigned seconds) {
  make_world();
  *stop = false;
  uint64_t unkept = world_count("inode_uncached", "raced");
  for (size_t i = 0; i < CHANGES; i++)
    start(changes[i], PAUSE_US);
  for (int i = 0; i < OPENERS; i++)
    start(open_all, 0);
  for (unsigned i = 0; i < 10 * seconds; i++) {
    usleep(100000);
    if (i % 10 == 9) /* a new generation under way */
      world_policy(expect_rules(), false);
  }
  *stop = true;
  while (wait(NULL) > 0)
    ;
  struct watch watch = watch_state();
  tap_result(watch.wrong == 0 && watch.checked >= FEW_HITS,
             "%s %s: %u s of races, %llu checked hits, %llu wrong",
             world_front(), filesystem, seconds, watch.checked, watch.wrong);
  tap_note(
      "lookups %llu, hits %llu, misses %llu, fills %llu, raced %llu",
      (unsigned long long)world_count("inode_cache", "lookups"),
      (unsigned long long)(world_count("inode_cache", "hits_no_policy") +
                           world_count("inode_cache", "hits_allow") +
                           world_count("inode_cache", "hits_deny")),
      (unsigned long long)world_count("inode_cache", "misses_walk"),
      (unsigned long long)world_count("inode_cache", "fills"),
      (unsigned long long)(world_count("inode_uncached", "raced") - unkept));
  if (watch.wrong > 0)
    tap_note("the last wrong one: %s is %u, cached as %u", watch.wrong_path,
             watch.wrong_fresh, watch.wrong_cached);
}

static void run(const char *front, const char *filesystem, unsigned seconds) {
  const char *why = world_open(OBJECT, front);
  if (why) {
    tap_skip(why, "%s %s: races", front, filesystem);
    return;
  }
  why = filesystem_mount(filesystem);
  if (why) {
    tap_skip(why, "%s %s: races", front, filesystem);
  } else {
    world_policy(expect_rules(), false);
    stress(filesystem, seconds);
    filesystem_unmount();
  }
  world_close();
}

int main(int count, char **arguments) {
  static const char *const fronts[] = {"lsm", "fentry", "syscall"};
  static const char *const filesystems[] = {"tmpfs", "ext4"};
  const char *seconds = getenv("STRESS_SECONDS");
  const char *why = filesystem_enter();
  if (why) {
    printf("# %s\n", why);
    return 77;
  }
  stop = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
              -1, 0);
  for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
    for (size_t j = 0; j < sizeof(filesystems) / sizeof(filesystems[0]); j++)
      if ((count < 2 || strcmp(arguments[1], fronts[i]) == 0) &&
          (count < 3 || strcmp(arguments[2], filesystems[j]) == 0))
        run(fronts[i], filesystems[j], seconds ? atoi(seconds) : 15);
  rmdir(BASE);
  return tap_end();
}
