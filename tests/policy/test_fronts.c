/* SPDX-License-Identifier: MIT */
/*
 * test_fronts.c - the same plain opens give the same counters on each front,
 * and the ledgers balance: lookups = hits + misses, misses = fills + reasons
 * not to fill.
 *
 * In a virtual machine, since all opens of the machine are counted.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "expect.h"
#include "filesystem.h"
#include "tap.h"

#define OBJECT "bpf/inode_cache"
#define ROUNDS 10

struct counted {
  const char *window, *name;
  uint64_t expected;
};

/* 60, 20 and 20 files, opened ROUNDS times; 5 with two names, opened by one. */
static const struct counted counted[] = {
    {"inode_cache", "lookups", 105 * ROUNDS},
    {"inode_cache", "hits_no_policy", 60 * (ROUNDS - 1)},
    {"inode_cache", "hits_allow", 20 * (ROUNDS - 1)},
    {"inode_cache", "hits_deny", 20 * (ROUNDS - 1)},
    {"inode_cache", "misses_walk", 100 + 5 * ROUNDS},
    {"inode_cache", "fills", 100},
    {"inode_uncached", "hardlinked", 5 * ROUNDS},
    {"inode_uncached", "raced", 0},
    {"inode_uncached", "no_room", 0},
    {"inode_uncached", "unhashed", 0},
};
#define COUNTED (sizeof(counted) / sizeof(counted[0]))

static const struct {
  const char *folder;
  unsigned files;
} work[] = {{"plain", 60}, {"ok", 20}, {"secret", 20}, {"plain/linked", 5}};

static const char *file_of(size_t kind, unsigned number) {
  return text("%s/%u", work[kind].folder, number);
}

static void make_files(void) {
  filesystem_reset();
  make_folder("plain/linked");
  for (size_t kind = 0; kind < 4; kind++)
    for (unsigned i = 0; i < work[kind].files; i++)
      make_file(file_of(kind, i));
  for (unsigned i = 0; i < work[3].files; i++)
    must(link(file_of(3, i), text("plain/link%u", i)));
}

static void open_files(void) {
  for (int round = 0; round < ROUNDS; round++)
    for (size_t kind = 0; kind < 4; kind++)
      for (unsigned i = 0; i < work[kind].files; i++)
        close(must(open(file_of(kind, i), O_RDONLY)));
}

static void run(const char *front) {
  uint64_t before[COUNTED];
  const char *why = world_open(OBJECT, front);
  if (!why)
    why = filesystem_mount("tmpfs");
  if (why) {
    tap_skip(why, "%s: counters", front);
    return;
  }
  world_policy(expect_rules(), false);
  make_files();
  open("/dev/null", O_RDONLY);         /* the first roll is behind us */
  world_policy(expect_rules(), false); /* nothing of before is a hit */
  for (size_t i = 0; i < COUNTED; i++)
    before[i] = world_count(counted[i].window, counted[i].name);
  open_files();
  for (size_t i = 0; i < COUNTED; i++) {
    uint64_t count =
        world_count(counted[i].window, counted[i].name) - before[i];
    tap_result(count == counted[i].expected, "%s: %s is %llu", front,
               counted[i].name, (unsigned long long)count);
    if (count != counted[i].expected)
      tap_note("and should be %llu", (unsigned long long)counted[i].expected);
  }
  filesystem_unmount();
  world_close();
}

int main(void) {
  static const char *const fronts[] = {"lsm", "fentry", "syscall"};
  const char *vm = getenv("IN_VM");
  if (!vm || strcmp(vm, "1") != 0) {
    printf("# counts all opens of the machine: in a virtual machine only\n");
    return 77;
  }
  const char *why = filesystem_enter();
  if (why) {
    printf("# %s\n", why);
    return 77;
  }
  for (size_t i = 0; i < sizeof(fronts) / sizeof(fronts[0]); i++)
    run(fronts[i]);
  rmdir(BASE);
  return tap_end();
}
