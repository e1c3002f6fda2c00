/* SPDX-License-Identifier: MIT */
/* case_mounts.c - the verdict follows the mount tree: binds, moves, roots,
 * namespaces */
#include <fcntl.h>
#include <linux/mount.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

/* glibc's sys/mount.h and linux/mount.h contradict each other before 2.37 */
int mount(const char *, const char *, const char *, unsigned long,
          const void *);
int umount2(const char *, int);
#define MS_BIND 4096
#define MS_MOVE 8192
#define MNT_DETACH 2

static void bind(const char *from, const char *to) {
  must(mount(from, to, NULL, MS_BIND, NULL));
}

static void mount_tmpfs(const char *at) {
  must(mount("policy", at, "tmpfs", 0, NULL));
}

static void folder_bound(void) {
  make_folder("plain/g");
  make_file("plain/g/f");
  make_folder("secret/b");
  warm("plain/g/f", FILE_NO_POLICY);
  bind("plain/g", "secret/b");
  expect("secret/b/f", FILE_DENY);
  warm("secret/b/f", FILE_DENY);
  expect("plain/g/f", FILE_NO_POLICY);
}

static void file_bound(void) {
  make_file("plain/f");
  make_file("ok/f");
  warm("plain/f", FILE_NO_POLICY);
  warm("ok/f", FILE_ALLOW);
  bind("plain/f", "ok/f");
  expect("ok/f", FILE_ALLOW);
  warm("ok/f", FILE_ALLOW);
  expect("plain/f", FILE_NO_POLICY);
  must(umount2("ok/f", 0));
  expect("ok/f", FILE_ALLOW);
}

static void mount_moved(void) {
  make_folder("plain/m");
  make_folder("secret/m");
  mount_tmpfs("plain/m");
  make_file("plain/m/f");
  warm("plain/m/f", FILE_NO_POLICY);
  must(mount("plain/m", "secret/m", NULL, MS_MOVE, NULL));
  expect("secret/m/f", FILE_DENY);
}

static void unmounted(void) {
  make_folder("plain/g");
  make_file("plain/g/f");
  make_folder("secret/b");
  bind("plain/g", "secret/b");
  warm("secret/b/f", FILE_DENY);
  must(umount2("secret/b", 0));
  expect("plain/g/f", FILE_NO_POLICY);
  /* The next mount may well lie in the memory of that one. */
  make_folder("ok/b");
  for (int i = 0; i < 10; i++) {
    bind("plain/g", "ok/b");
    expect("ok/b/f", FILE_ALLOW);
    warm("ok/b/f", FILE_ALLOW);
    must(umount2("ok/b", 0));
    bind("plain/g", "secret/b");
    expect("secret/b/f", FILE_DENY);
    warm("secret/b/f", FILE_DENY);
    must(umount2("secret/b", 0));
  }
}

static void unmounted_lazily(void) {
  make_folder("secret/m");
  mount_tmpfs("secret/m");
  make_file("secret/m/f");
  warm("secret/m/f", FILE_DENY);
  int folder = must(open("secret/m", O_PATH));
  must(umount2("secret/m", MNT_DETACH));
  expect_unkept(text("/proc/self/fd/%d/f", folder), FILE_NO_POLICY,
                UNKEPT_UNREACHABLE);
}

static void tree_cloned(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  int tree = syscall(SYS_open_tree, AT_FDCWD, "secret", OPEN_TREE_CLONE);
  if (tree < 0)
    skip("no open_tree: %m");
  expect_unkept(text("/proc/self/fd/%d/f", tree), FILE_NO_POLICY,
                UNKEPT_UNREACHABLE);
  make_folder("ok/t");
  must(syscall(SYS_move_mount, tree, "", AT_FDCWD, "ok/t",
               MOVE_MOUNT_F_EMPTY_PATH));
  expect("ok/t/f", FILE_ALLOW);
}

static void chrooted(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  must(chroot("secret"));
  must(chdir("/"));
  expect("/f", FILE_DENY);
}

static void root_pivoted(void) {
  make_folder("plain/root");
  mount_tmpfs("plain/root");
  must(chdir("plain/root"));
  make_folder("old");
  make_folder("run");
  make_folder(text("./%s", &BASE[1]));
  make_folder(text("./%s/secret", &BASE[1]));
  const char *file = text("./%s/secret/f", &BASE[1]);
  make_file(file);
  warm(file, FILE_NO_POLICY);
  must(syscall(SYS_pivot_root, ".", "old"));
  must(chdir("/"));
  expect(BASE "/secret/f", FILE_DENY);
  must(umount2("/old", MNT_DETACH));
  expect(BASE "/secret/f", FILE_DENY);
}

static void namespace_copied(void) {
  make_file("plain/f");
  make_file("secret/f");
  warm("plain/f", FILE_NO_POLICY);
  int before = must(open(".", O_PATH | O_DIRECTORY));
  must(unshare(CLONE_NEWNS));
  bind("plain/f", "secret/f");
  expect("secret/f", FILE_DENY);
  warm("secret/f", FILE_DENY);
  expect("plain/f", FILE_NO_POLICY);
  /* The old mount is still there, in the namespace of the parent. */
  expect(text("/proc/self/fd/%d/plain/f", before), FILE_NO_POLICY);
}

/* Mounts of short-lived namespaces, in memory that is used over and over. */
static void namespaces_come_and_go(void) {
  make_folder("plain/g");
  make_file("plain/g/f");
  make_folder("secret/b");
  make_folder("ok/b");
  for (int i = 0; i < 20; i++) {
    const char *at = i % 2 ? "secret/b" : "ok/b";
    enum file_verdict verdict = i % 2 ? FILE_DENY : FILE_ALLOW;
    pid_t child = must(fork());
    if (child == 0) {
      must(unshare(CLONE_NEWNS));
      bind("plain/g", at);
      expect(text("%s/f", at), verdict);
      warm(text("%s/f", at), verdict);
      _exit(0);
    }
    int status;
    must(waitpid(child, &status, 0));
    if (status != 0)
      _exit(1);
  }
}

/* The same, but all mounts are copies, made with the namespace: nobody mounts
 * anything between the verdicts of the one and the opens in the next. Which
 * copy lies where another one lay cannot be known, so each round opens each
 * file through another one. */
#define COPIES 16

static int copies_round;

static void in_namespace_of_its_own(void (*opens)(void)) {
  int status;
  pid_t child = must(fork());
  if (child == 0) {
    must(unshare(CLONE_NEWNS));
    opens();
    _exit(0);
  }
  must(waitpid(child, &status, 0));
  if (status != 0)
    _exit(1);
}

static void open_in_secret(void) {
  for (int i = 0; i < COPIES; i++)
    expect(text("secret/%d/%d", i, i), FILE_DENY);
}

static void open_in_ok(void) {
  for (int i = 0; i < COPIES; i++)
    expect(text("ok/%d/%d", (i + copies_round) % COPIES, i), FILE_ALLOW);
}

static void copies_in_the_memory_of_others(void) {
  stay_on_a_cpu();
  make_folder("plain/g");
  for (int i = 0; i < COPIES; i++) {
    make_file(text("plain/g/%d", i));
    make_folder(text("ok/%d", i));
    make_folder(text("secret/%d", i));
  }
  for (int i = 0; i < COPIES; i++)
    bind("plain/g", text("ok/%d", i));
  for (int i = 0; i < COPIES; i++)
    bind("plain/g", text("secret/%d", i));
  for (copies_round = 0; copies_round < COPIES; copies_round++) {
    in_namespace_of_its_own(open_in_secret);
    wait_for_memory();
    in_namespace_of_its_own(open_in_ok);
    wait_for_memory();
  }
}

/* The overlay has no rule. Its layers hold the path of a denied file, seen from
 * their own root: whoever judges the layer's file denies a read of the overlay.
 */
static void mount_overlay(void) {
  const char *folders[] = {"lower",
                           "upper",
                           "work",
                           "merged",
                           "lower/run",
                           "lower" BASE,
                           "lower" BASE "/secret"};
  make_folder("plain/o");
  must(chdir("plain/o"));
  for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
    make_folder(folders[i]);
  make_file("lower" BASE "/secret/f");
  make_file("lower" BASE "/secret/g");
  if (mount("policy", "merged", "overlay", 0,
            "lowerdir=lower,upperdir=upper,workdir=work") < 0)
    skip("no overlay here: %m");
}

static void overlay_read(void) {
  mount_overlay();
  expect("merged" BASE "/secret/f", FILE_NO_POLICY);
  warm("merged" BASE "/secret/f", FILE_NO_POLICY);
  expect("lower" BASE "/secret/f", FILE_NO_POLICY);
}

static void overlay_copied_up(void) {
  mount_overlay();
  warm("merged" BASE "/secret/f", FILE_NO_POLICY);
  watch_me();
  int fd = must(open("merged" BASE "/secret/f", O_RDWR));
  expect_event("overlay, for writing", fd, FILE_NO_POLICY);
  watch_me();
  must(write(fd, "y", 1));
  if (was_seen())
    fail("a write to an overlay's file is taken for an open");
  close(fd);
  expect("merged" BASE "/secret/f", FILE_NO_POLICY);
  warm("merged" BASE "/secret/f", FILE_NO_POLICY);
}

static void overlay_mapped(void) {
  mount_overlay();
  warm("merged" BASE "/secret/g", FILE_NO_POLICY);
  int fd = must(open("merged" BASE "/secret/g", O_RDONLY));
  watch_me();
  char *mapped = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE, fd, 0);
  if (mapped == MAP_FAILED || mapped[0] != 'x')
    fail("cannot map a file of the overlay");
  if (was_seen())
    fail("a mapping of an overlay's file is taken for an open");
}

const struct tap_case mount_cases[] = {
    {"bind mount of a folder", folder_bound},
    {"bind mount of a file", file_bound},
    {"moved mount", mount_moved},
    {"umount, mounted again elsewhere", unmounted},
    {"lazy umount", unmounted_lazily},
    {"open_tree clone, detached and attached", tree_cloned},
    {"chroot", chrooted},
    {"pivot_root", root_pivoted},
    {"new mount namespace", namespace_copied},
    {"mount namespaces that come and go", namespaces_come_and_go},
    {"mounts copied into the memory of others", copies_in_the_memory_of_others},
    {"overlay, read", overlay_read},
    {"overlay, copied up", overlay_copied_up},
    {"overlay, mapped", overlay_mapped},
    {NULL, NULL},
};
