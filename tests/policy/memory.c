/* SPDX-License-Identifier: MIT */
/*
 * memory.c - what the verdicts on many files cost in kernel memory, and that it
 * is given back with the inodes. Not one of the suite's tests: it takes
 * minutes, and a machine of its own (IN_VM=1).
 *
 *   memory [FILES]    default 1000000
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "expect.h"
#include "filesystem.h"
#include "tap.h"

#define OBJECT "bpf/inode_cache"
#define FILES_IN_FOLDER 1000
#define LRU_LIMIT_KIB 8192 /* 16384 entries, made when the map is */

static long files = 1000000;

/* Kernel memory that is not given back on demand: verdicts are part of it, the
 * inodes and dentries themselves are not. */
static long unreclaimable_kib(void) {
  char line[128];
  long kib = -1;
  FILE *file = fopen("/proc/meminfo", "r");
  while (file && fgets(line, sizeof(line), file))
    sscanf(line, "SUnreclaim: %ld kB", &kib);
  if (file)
    fclose(file);
  return kib;
}

static void drop_caches(void) {
  sync();
  int fd = must(open("/proc/sys/vm/drop_caches", O_WRONLY));
  must(write(fd, "2", 1));
  close(fd);
  sleep(2); /* grace periods */
}

static void for_all_files(int flags) {
  char name[64];
  for (long i = 0; i < files; i++) {
    if (i % FILES_IN_FOLDER == 0) {
      snprintf(name, sizeof(name), "plain/%ld", i / FILES_IN_FOLDER);
      mkdir(name, 0755);
    }
    snprintf(name, sizeof(name), "plain/%ld/%ld", i / FILES_IN_FOLDER, i);
    close(must(open(name, flags, 0644)));
  }
}

static void measure(const char *front) {
  drop_caches();
  for_all_files(O_RDONLY); /* the inodes are there in any case */
  long before = unreclaimable_kib();
  const char *why = world_open(OBJECT, front);
  if (why) {
    tap_skip(why, "%s: memory", front);
    return;
  }
  world_policy(expect_rules(), false);
  long loaded = unreclaimable_kib();
  for_all_files(O_RDONLY);
  long full = unreclaimable_kib();
  unsigned long long fills = world_count("inode_cache", "fills");
  drop_caches();
  long dropped = unreclaimable_kib();
  tap_note(
      "%s: %ld KiB, with the object %ld, with %llu verdicts %ld (%.0f bytes "
      "each), caches dropped %ld",
      front, before, loaded, fills, full, 1024.0 * (full - loaded) / fills,
      dropped);
  if (front_is("lsm"))
    tap_result(dropped - loaded < (full - loaded) / 10,
               "lsm: verdicts go with their inodes");
  else
    tap_result(full - loaded < LRU_LIMIT_KIB, "%s: verdicts are bounded",
               front);
  world_close();
}

int main(int count, char **arguments) {
  const char *vm = getenv("IN_VM");
  if (!vm || strcmp(vm, "1") != 0) {
    printf("# drops the machine's caches: in a virtual machine only\n");
    return 77;
  }
  if (count > 1)
    files = atol(arguments[1]);
  setenv("MKFS_OPTIONS", "-N 1200000", 1);
  const char *why = filesystem_enter();
  if (!why)
    why = filesystem_mount("ext4");
  if (why) {
    printf("# %s\n", why);
    return 77;
  }
  filesystem_reset();
  for_all_files(O_CREAT | O_WRONLY);
  measure("lsm");
  measure("fentry");
  measure("syscall");
  filesystem_unmount();
  rmdir(BASE);
  return tap_end();
}
