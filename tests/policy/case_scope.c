/* SPDX-License-Identifier: MIT */
/*
 * case_scope.c - a policy for one mount namespace. It is the case's own, which
 * stands for the host's; the last case of each list takes the real one.
 */
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

static uint32_t own_namespace(void) {
  uint32_t number;
  must(policy_own_namespace(&number));
  return number;
}

static void only_here(void) {
  world_scope(expect_rules(), false, own_namespace());
}

/* In a child. */
static void elsewhere(void (*opens)(void)) {
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

static void rules_hold(void) {
  warm("secret/f", FILE_DENY);
  warm("secret/allowed", FILE_ALLOW);
  warm("plain/f", FILE_NO_POLICY);
}

static void no_rule_holds(void) {
  expect("secret/f", FILE_NO_POLICY);
  warm("secret/f", FILE_NO_POLICY);
  expect("secret/allowed", FILE_NO_POLICY);
  expect("plain/f", FILE_NO_POLICY);
}

static void make_files(void) {
  make_file("secret/f");
  make_file("secret/allowed");
  make_file("plain/f");
}

static void both_sides(void) {
  make_files();
  only_here();
  rules_hold();
  for (int i = 0; i < 3; i++) {
    elsewhere(no_rule_holds);
    expect("secret/f", FILE_DENY); /* last seen from elsewhere */
    rules_hold();
  }
}

/* It is where the file's mount is that counts, not where the process is. */
static int folder_here;

static void file_of_the_other_side(void) {
  no_rule_holds();
  expect(text("/proc/self/fd/%d/secret/f", folder_here), FILE_DENY);
  warm(text("/proc/self/fd/%d/secret/f", folder_here), FILE_DENY);
  no_rule_holds();
}

static void crossing(void) {
  make_files();
  only_here();
  folder_here = must(open(".", O_PATH | O_DIRECTORY));
  elsewhere(file_of_the_other_side);
}

/* The child's paths are void with the scope under which they were made. */
static void scope_ends(void) {
  no_rule_holds();
  world_policy(expect_rules(), false);
  expect("secret/f", FILE_DENY);
  rules_hold();
  world_scope(expect_rules(), false, own_namespace());
  expect("secret/f", FILE_DENY);
  rules_hold();
}

static void changed_scope(void) {
  make_files();
  world_policy(expect_rules(), false);
  elsewhere(rules_hold);
  only_here();
  elsewhere(scope_ends);
  expect("secret/f", FILE_NO_POLICY); /* it is the child's now */
}

/* Mounts of the scope that lie where copies lay. Which lies where another lay
 * cannot be known, so each round opens each file through another one. */
#define MOUNTS 16

static void open_copies(void) {
  for (int i = 0; i < MOUNTS; i++)
    expect(text("secret/%d/%d", i, i), FILE_NO_POLICY);
}

static void bind_at(const char *place) {
  must(mount("plain/g", place, NULL, MS_BIND, NULL));
}

static void memory_used_again(void) {
  stay_on_a_cpu();
  make_folder("plain/g");
  for (int i = 0; i < MOUNTS; i++) {
    make_file(text("plain/g/%d", i));
    make_folder(text("secret/%d", i));
    make_folder(text("secret/new%d", i));
    bind_at(text("secret/%d", i));
  }
  only_here();
  for (int round = 0; round < MOUNTS; round++) {
    elsewhere(open_copies);
    wait_for_memory();
    for (int i = 0; i < MOUNTS; i++)
      bind_at(text("secret/new%d", i));
    for (int i = 0; i < MOUNTS; i++)
      expect(text("secret/new%d/%d", (i + round) % MOUNTS, i), FILE_DENY);
    for (int i = 0; i < MOUNTS; i++)
      must(umount2(text("secret/new%d", i), 0));
    wait_for_memory();
  }
}

static void go_deep(void) {
  for (int i = 0; i < 65; i++) {
    make_folder("d");
    must(chdir("d"));
  }
  make_file("f");
}

static void open_deep(void) { warm("f", FILE_NO_POLICY); }

/* What is not walked cannot be too deep. */
static void deep_elsewhere(void) {
  must(chdir("secret"));
  go_deep();
  only_here();
  expect_unkept("f", FILE_NO_POLICY, UNKEPT_TOO_DEEP);
  elsewhere(open_deep);
}

static void lazily_unmounted(void) {
  make_folder("secret/m");
  must(mount("policy", "secret/m", "tmpfs", 0, NULL));
  make_file("secret/m/f");
  only_here();
  warm("secret/m/f", FILE_DENY);
  int folder = must(open("secret/m", O_PATH));
  must(umount2("secret/m", MNT_DETACH));
  expect_unkept(text("/proc/self/fd/%d/f", folder), FILE_NO_POLICY,
                UNKEPT_UNREACHABLE);
}

/* ---- The real host, beside which the case is a container ---- */

static struct policy *host_rules;
static char host_folder[] = "/run/bpf_window_scope.XXXXXX";

static void remove_host_folder(void) {
  const char *const names[] = {"secret/f", "link", "secret", ""};
  umount2(text("%s/secret", host_folder), MNT_DETACH);
  for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
    remove(text("%s/%s", host_folder, names[i]));
}

/* /run is one file system to both. */
static void make_host_folder(void) {
  struct failure failure;
  if (!mkdtemp(host_folder))
    fail("cannot make %s: %m", host_folder);
  must(chdir(host_folder));
  make_folder("secret");
  make_file("secret/f");
  if (policy_new(&host_rules) != 0 ||
      policy_add(host_rules, FILE_DENY, text("%s/secret/", host_folder), "test",
                 &failure) != 0)
    fail("%s", failure.text);
}

/* In a child, so that the folder goes whatever becomes of it. host: the host's
 * namespace, as an open file. */
static void beside_the_host(void (*work)(int host)) {
  int status;
  int host = open("/proc/1/ns/mnt", O_RDONLY);
  if (host < 0)
    skip("cannot open /proc/1/ns/mnt: %m");
  if (!policy_in_first_pid_namespace())
    skip("the host's process 1 cannot be seen here");
  make_host_folder();
  pid_t child = must(fork());
  if (child == 0) {
    work(host);
    _exit(0);
  }
  waitpid(child, &status, 0);
  must(chdir("/"));
  remove_host_folder();
  if (status != 0)
    _exit(1);
}

static void scope_is_the_host(bool enforce) {
  uint32_t number;
  struct failure failure;
  if (policy_host_namespace(&number, &failure) != 0)
    fail("%s", failure.text);
  world_scope(host_rules, enforce, number);
}

static void open_on_the_host(int host) {
  const char *file = text("%s/secret/f", host_folder);
  scope_is_the_host(false);
  expect(file, FILE_NO_POLICY);
  warm(file, FILE_NO_POLICY);
  must(setns(host, CLONE_NEWNS));
  expect(file, FILE_DENY);
  warm(file, FILE_DENY);
}

static void real_host(void) { beside_the_host(open_on_the_host); }

/* Where process 1 is another one its namespace is not the host's. */
static void own_process_numbers(void) {
  uint32_t number = 0;
  struct failure failure = {""};
  must(unshare(CLONE_NEWPID));
  int status;
  pid_t child = must(fork());
  if (child == 0) {
    if (policy_host_namespace(&number, &failure) != -ENOTSUP || number != 0 ||
        !strstr(failure.text, "Scope \"host\""))
      fail("the host is %u in a PID namespace: %s", number, failure.text);
    _exit(0);
  }
  must(waitpid(child, &status, 0));
  if (status != 0)
    _exit(1);
}

const struct tap_case scope_cases[] = {
    {"scope: on either side", both_sides},
    {"scope: the file's mount decides, not the process", crossing},
    {"scope: changed", changed_scope},
    {"scope: mounts in the memory of others", memory_used_again},
    {"scope: no depth elsewhere", deep_elsewhere},
    {"scope: lazy umount", lazily_unmounted},
    {"scope: the host, from a container", real_host},
    {"scope: no host in a PID namespace", own_process_numbers},
    {NULL, NULL},
};

/* ---- Enforcing ---- */

static void opens_fail(const char *path) {
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd >= 0 || errno != EPERM)
    fail("%s is not denied", path);
}

static void opens(const char *path, int flags) {
  int fd = open(path, flags | O_CLOEXEC, 0644);
  if (fd < 0)
    fail("%s cannot be opened: %m", path);
  close(fd);
}

static void escape(void) {
  opens_fail("secret/f"); /* its mark */
  opens_fail("secret");
  if (rename("secret/f", "plain/f") == 0)
    fail("a marked file is renamed elsewhere");
  opens("secret/new", O_CREAT | O_RDWR);
  opens("secret/new", O_RDONLY);
}

/* What cannot be judged need not be here. */
static void open_deep_enforced(void) { opens("f", O_RDONLY); }

static void enforced_here(void) {
  make_file("secret/f");
  world_scope(expect_rules(), true, own_namespace());
  opens_fail("secret/f");
  elsewhere(escape);
  opens_fail("secret/f");
  opens_fail("secret/new");
  if (open("secret/newer", O_CREAT | O_RDWR, 0644) >= 0 || errno != EPERM)
    fail("a file is made in a denied folder");
  world_policy(expect_rules(), false);
}

static void deep_enforced(void) {
  must(chdir("plain"));
  go_deep();
  world_scope(expect_rules(), true, own_namespace());
  opens_fail("f");
  elsewhere(open_deep_enforced);
  world_policy(expect_rules(), false);
}

/* The one who marks is in the container, what is marked on the host: the name
 * "link" is denied to both. */
static void mark_on_the_host(int host) {
  must(link("secret/f", "link"));
  must(mount("policy", "secret", "tmpfs", 0, NULL));
  make_file("secret/f"); /* by the rule's path, but not on the host */
  scope_is_the_host(true);
  opens("secret/f", O_RDONLY);
  opens_fail("link");
  must(setns(host, CLONE_NEWNS));
  opens_fail(text("%s/secret/f", host_folder));
  opens_fail(text("%s/link", host_folder));
  world_policy(expect_rules(), false);
}

static void real_host_marked(void) { beside_the_host(mark_on_the_host); }

const struct tap_case scope_enforced_cases[] = {
    {"enforcing in a scope: open and create", enforced_here},
    {"enforcing in a scope: paths too deep to judge", deep_enforced},
    {"enforcing in a scope: marks of the host, made in a container",
     real_host_marked},
    {NULL, NULL},
};
