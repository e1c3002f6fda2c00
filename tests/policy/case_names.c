/* SPDX-License-Identifier: MIT */
/* case_names.c - the verdict follows the name: renames, links, removals */
#include <fcntl.h>
#include <linux/fs.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

static void file_renamed(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  must(rename("secret/f", "plain/f"));
  expect("plain/f", FILE_NO_POLICY);
  warm("plain/f", FILE_NO_POLICY);
  must(rename("plain/f", "ok/g"));
  expect("ok/g", FILE_ALLOW);
  warm("ok/g", FILE_ALLOW);
  must(rename("ok/g", "exact"));
  expect("exact", FILE_DENY);
}

static void renamed_within_its_folder(void) {
  make_file("secret/allowed");
  warm("secret/allowed", FILE_ALLOW);
  must(rename("secret/allowed", "secret/allowee"));
  expect("secret/allowee", FILE_DENY);
}

static void parent_renamed(void) {
  make_folder("plain/d");
  make_file("plain/d/f");
  warm("plain/d/f", FILE_NO_POLICY);
  must(rename("plain/d", "secret/d"));
  expect("secret/d/f", FILE_DENY);
  warm("secret/d/f", FILE_DENY);
  must(rename("secret/d", "ok/e"));
  expect("ok/e/f", FILE_ALLOW);
}

static void distant_parent_renamed(void) {
  make_folder("plain/a");
  make_folder("plain/a/b");
  make_folder("plain/a/b/c");
  make_file("plain/a/b/c/f");
  warm("plain/a/b/c/f", FILE_NO_POLICY);
  must(rename("plain/a", "secret/a"));
  expect("secret/a/b/c/f", FILE_DENY);
}

static void renamed_while_open(void) {
  make_folder("plain/d");
  make_file("plain/d/f");
  int folder = must(open("plain/d", O_PATH | O_DIRECTORY));
  warm("plain/d/f", FILE_NO_POLICY);
  must(rename("plain/d", "secret/d"));
  watch_me();
  int fd = must(openat(folder, "f", O_RDONLY));
  expect_event("f in the renamed folder", fd, FILE_DENY);
}

static void folders_exchanged(void) {
  make_file("secret/f");
  make_file("ok/f");
  warm("secret/f", FILE_DENY);
  warm("ok/f", FILE_ALLOW);
  must(syscall(SYS_renameat2, AT_FDCWD, "secret", AT_FDCWD, "ok",
               RENAME_EXCHANGE));
  expect("secret/f", FILE_DENY);
  expect("ok/f", FILE_ALLOW);
}

static void renamed_by_a_32_bit_call(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  compat_call(38 /* rename */, "secret/f", "plain/f");
  expect("plain/f", FILE_NO_POLICY);
}

static void hard_link(void) {
  make_file("plain/f");
  warm("plain/f", FILE_NO_POLICY);
  must(link("plain/f", "secret/f"));
  expect_unkept("secret/f", FILE_DENY, UNKEPT_HARDLINKED);
  expect_unkept("plain/f", FILE_NO_POLICY, UNKEPT_HARDLINKED);
  must(unlink("plain/f"));
  warm("secret/f", FILE_DENY);
}

/* The memory of removed names goes to new ones: of many, and the last first, to
 * some in the very place of the old one. */
#define REMADE 16

/* Folder and name both in the memory of others: the salted hash is the same
 * then, and the folder's number alone tells. */
static void folder_in_the_memory_of_another(void) {
  stay_on_a_cpu();
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < REMADE; i++) {
      make_folder(text("plain/%d", i));
      make_file(text("plain/%d/f", i));
      expect(text("plain/%d/f", i), FILE_NO_POLICY);
      must(link(text("plain/%d/f", i), text("ok/%d", i)));
    }
    for (int i = 0; i < REMADE; i++) {
      must(unlink(text("plain/%d/f", i)));
      must(rmdir(text("plain/%d", i)));
    }
    wait_for_memory();
    for (int i = REMADE - 1; i >= 0; i--) {
      make_folder(text("secret/%d", i));
      must(link(text("ok/%d", i), text("secret/%d/f", i)));
    }
    for (int i = 0; i < REMADE; i++) {
      must(unlink(text("ok/%d", i)));
      expect(text("secret/%d/f", i), FILE_DENY);
      must(unlink(text("secret/%d/f", i)));
      must(rmdir(text("secret/%d", i)));
    }
  }
}

/* No rename, and each file has one name whenever it is opened, always in the
 * same folder: only what is in the dentry's memory is another name. */
static void allow_first_names(void) {
  struct policy *rules;
  struct failure failure = {""};
  if (policy_new(&rules) != 0 ||
      policy_add(rules, FILE_DENY, BASE "/secret/", "test", &failure) != 0)
    fail("%s", failure.text);
  for (int i = 0; i < REMADE; i++)
    if (policy_add(rules, FILE_ALLOW, text(BASE "/secret/first%02d", i), "test",
                   &failure) != 0)
      fail("%s", failure.text);
  world_policy(rules, false);
}

static void name_in_the_memory_of_another(void) {
  allow_first_names();
  stay_on_a_cpu();
  for (int round = 0; round < 20; round++) {
    for (int i = 0; i < REMADE; i++) {
      const char *first = text("secret/first%02d", i);
      make_file(first);
      expect(first, FILE_ALLOW);
      must(link(first, text("secret/other%02d", i)));
      must(unlink(first));
    }
    wait_for_memory();
    for (int i = 0; i < REMADE; i++) {
      must(link(text("secret/other%02d", i), text("secret/third%02d", i)));
      must(unlink(text("secret/other%02d", i)));
      expect(text("secret/third%02d", i), FILE_DENY);
    }
    for (int i = 0; i < REMADE; i++)
      must(unlink(text("secret/third%02d", i)));
  }
}

static void removed_and_number_used_again(void) {
  struct stat before, after;
  for (int i = 0; i < 20; i++) {
    make_file("secret/f");
    must(stat("secret/f", &before));
    warm("secret/f", FILE_DENY);
    must(unlink("secret/f"));
    make_file("plain/f");
    must(stat("plain/f", &after));
    expect("plain/f", FILE_NO_POLICY);
    must(unlink("plain/f"));
  }
}

static void removed_and_made_again(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  must(unlink("secret/f"));
  make_file("secret/f");
  expect("secret/f", FILE_DENY);
  warm("secret/f", FILE_DENY);
}

static void removed_and_opened_again_by_descriptor(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  int fd = must(open("secret/f", O_RDONLY));
  must(unlink("secret/f"));
  expect_unkept(text("/proc/self/fd/%d", fd), FILE_DENY, UNKEPT_UNHASHED);
}

static void removed_folder_opened_again_by_descriptor(void) {
  make_folder("secret/d");
  warm("secret/d", FILE_DENY);
  int fd = must(open("secret/d", O_RDONLY | O_DIRECTORY));
  must(rmdir("secret/d"));
  expect_unkept(text("/proc/self/fd/%d", fd), FILE_DENY, UNKEPT_UNHASHED);
}

static void nameless_file(void) {
  watch_me();
  int fd = open("secret", O_TMPFILE | O_RDWR, 0600);
  if (fd < 0)
    skip("no O_TMPFILE on this file system");
  expect_event("O_TMPFILE in secret", fd, FILE_DENY);
  expect_unkept(text("/proc/self/fd/%d", fd), FILE_DENY, UNKEPT_UNHASHED);
  must(linkat(AT_FDCWD, text("/proc/self/fd/%d", fd), AT_FDCWD, "plain/f",
              AT_SYMLINK_FOLLOW));
  expect("plain/f", FILE_NO_POLICY);
  warm("plain/f", FILE_NO_POLICY);
}

const struct tap_case name_cases[] = {
    {"rename of the file", file_renamed},
    {"rename within the folder", renamed_within_its_folder},
    {"rename of the parent folder", parent_renamed},
    {"rename of a distant parent", distant_parent_renamed},
    {"rename of a folder that is held open", renamed_while_open},
    {"exchange of two folders", folders_exchanged},
    {"rename by a 32-bit call", renamed_by_a_32_bit_call},
    {"hard link, opened by both names", hard_link},
    {"second name's folder in the memory of the first's",
     folder_in_the_memory_of_another},
    {"second name in the memory of the first", name_in_the_memory_of_another},
    {"unlink, inode number used again", removed_and_number_used_again},
    {"unlink and create", removed_and_made_again},
    {"unlinked, opened again by descriptor",
     removed_and_opened_again_by_descriptor},
    {"removed folder, opened again by descriptor",
     removed_folder_opened_again_by_descriptor},
    {"O_TMPFILE, then given a name", nameless_file},
    {NULL, NULL},
};
