/* SPDX-License-Identifier: MIT */
/* case_limits.c - paths too long or too deep to judge, and rules that change */
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

#include "cases.h"
#include "expect.h"

static void descend(const char *name, int times) {
  while (times-- > 0) {
    make_folder(name);
    must(chdir(name));
  }
}

/* Steps of the rest: the names of BASE, "secret", the file, and the mounts from
 * this one to the first of the namespace, of which newer kernels have one more.
 */
#define STEPS_OF_THE_REST 8

static void deepest_path(void) {
  must(chdir("secret"));
  descend("d", 64 - STEPS_OF_THE_REST);
  make_file("f");
  warm("f", FILE_DENY);
}

static void path_too_deep(void) {
  must(chdir("secret"));
  descend("d", 65);
  make_file("f");
  expect_unkept("f", FILE_NO_POLICY, UNKEPT_TOO_DEEP);
}

/* A walk that came to no end leaves behind, in the CPU's buffer, the beginning
 * of the path before it and its own text: here they make up a denied path. */
static void path_too_deep_behind_a_denied_one(void) {
  stay_on_a_cpu();
  must(chdir("plain"));
  descend("d", 65);
  descend("run", 1);
  descend(strrchr(BASE, '/') + 1, 1);
  descend("secret", 1);
  make_file("f");
  make_file(BASE "/secret/f");
  for (int i = 0; i < 5; i++) {
    world_policy(expect_rules(), false); /* so that it is walked */
    expect(BASE "/secret/f", FILE_DENY);
    expect("f", FILE_NO_POLICY);
  }
}

static void path_too_long(void) {
  char name[256];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  must(chdir("secret"));
  descend(name, 20);
  make_file("f");
  expect_unkept("f", FILE_NO_POLICY, UNKEPT_TOO_DEEP);
}

static void longest_path(void) {
  char name[256];
  memset(name, 'n', sizeof(name) - 1);
  name[sizeof(name) - 1] = '\0';
  must(chdir("secret"));
  descend(name, 15); /* 3840 bytes, and BASE */
  make_file("f");
  warm("f", FILE_DENY);
}

static void policy_changed(void) {
  struct policy *other;
  struct failure failure = {""};
  make_file("secret/f");
  make_file("plain/f");
  warm("secret/f", FILE_DENY);
  warm("plain/f", FILE_NO_POLICY);
  if (policy_new(&other) != 0 ||
      policy_add(other, FILE_ALLOW, BASE "/secret/", "test", &failure) != 0 ||
      policy_add(other, FILE_DENY, BASE "/", "test", &failure) != 0)
    fail("%s", failure.text);
  world_policy(other, false);
  expect("secret/f", FILE_ALLOW);
  warm("secret/f", FILE_ALLOW);
  expect("plain/f", FILE_DENY);
  world_policy(NULL, false);
  expect("secret/f", FILE_NO_POLICY);
  warm("secret/f", FILE_NO_POLICY);
  world_policy(expect_rules(), false);
  expect("secret/f", FILE_DENY);
}

/* As whoever changes rules leaves them if stopped in between. */
static void policy_being_changed(void) {
  make_file("secret/f");
  warm("secret/f", FILE_DENY);
  struct file_policy_state state = world_state();
  state.generation |= FILE_POLICY_CHANGING;
  world_set_state(&state);
  expect_unkept("secret/f", FILE_DENY, UNKEPT_RACED);
  world_policy(expect_rules(), false); /* goes on from there */
  warm("secret/f", FILE_DENY);
}

const struct tap_case limit_cases[] = {
    {"path of nearly 64 steps", deepest_path},
    {"path of more than 64 steps", path_too_deep},
    {"path of more than 64 steps behind a denied one",
     path_too_deep_behind_a_denied_one},
    {"path of nearly 4 KiB", longest_path},
    {"path of 5 KiB", path_too_long},
    {"policy reload", policy_changed},
    {"policy being changed", policy_being_changed},
    {NULL, NULL},
};
