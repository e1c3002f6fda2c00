/* SPDX-License-Identifier: MIT */
/*
 * do_part PART PINS: does one part of what the plugin and the command do with objects,
 * into which a fault is injected (see fail_nth.c, FAULT_WAIT). If it fails, it says why
 * and does it again, which must succeed: a fault strikes once. Prints what came of it.
 * Exit status 0; 1 if it failed the first time; 4 if the second time, too; 77 where the
 * part cannot be done, with the reason.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "../bpf/place.h"
#include "collectd/account.h"
#include "object/census.h"
#include "object/discover.h"
#include "object/inspect.h"
#include "object/locate.h"
#include "object/object.h"
#include "object/policy.h"
#include "object/probe_hook.h"
#include "object/statistics.h"
#include "window/clock.h"

static struct pins_root *root;
static struct object *object;
static struct policy *policy;
static int policy_fd = -1, state_fd = -1;
static const struct policy_terms terms = {.namespace = 1};
static char path[PINS_PATH_SIZE], folder[64];

static void die(const char *what) {
  fprintf(stderr, "do_part: %s: %s\n", what, strerror(errno));
  exit(3);
}

static void sound(int status, const struct failure *failure) {
  if (status == 0)
    return;
  fprintf(stderr, "do_part: before any fault: %s\n", failure->text);
  exit(3);
}

/* ---- What there is before ---- */

static void start_object(void) {
  struct failure failure = {""};
  struct object_options options = {.name = "marked",
                                   .path =
                                       place_object("tests/bpf/marked_calls"),
                                   .pins = root};
  sound(object_start(&object, &options, &failure), &failure);
  pins_object_path(pins_path(root), "marked", "marked", path);
}

static void start_and_lose_pins(void) {
  struct failure failure = {""};
  start_object();
  sound(pins_remove(pins_path(root), "marked", &failure), &failure);
}

/* The record is not whole then: the window is found by its programs. */
static void start_and_lose_cursor(void) {
  char cursor[PINS_PATH_SIZE];
  start_object();
  pins_object_path(pins_path(root), "marked", "marked_cursor", cursor);
  unlink(cursor);
}

static void pin_a_watch_of_another_version(void) {
  char other[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), PINS_WATCH_FOLDER, "", other);
  mkdir(other, 0700);
  pins_object_path(pins_path(root), PINS_WATCH_FOLDER, "theirs", other);
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "other", 4, 8, 1, NULL);
  if (fd < 0 || bpf_obj_pin(fd, other) != 0)
    die(other);
  close(fd);
}

static void nothing(void) {}

/* As bpf/policy_match.bpf.h declares them. */
static void make_policy(void) {
  LIBBPF_OPTS(bpf_map_create_opts, inner, .map_flags = BPF_F_NO_PREALLOC);
  int trie =
      bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "rules",
                     sizeof(struct file_rule_key), sizeof(__u32), 1, &inner);
  LIBBPF_OPTS(bpf_map_create_opts, outer, .inner_map_fd = (__u32)trie);
  policy_fd =
      bpf_map_create(BPF_MAP_TYPE_ARRAY_OF_MAPS, "policy", 4, 4, 1, &outer);
  state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", 4,
                            sizeof(struct file_policy_state), 1, NULL);
  strcpy(folder, "/tmp/bpf_window_part.XXXXXX");
  if (trie < 0 || policy_fd < 0 || state_fd < 0 || !mkdtemp(folder))
    die("policy");
  close(trie);
  char rule[128];
  struct failure failure = {""};
  for (int i = 0; i < 2; i++) {
    snprintf(rule, sizeof(rule), "%s/%d", folder, i);
    int fd = open(rule, O_CREAT | O_WRONLY, 0600);
    if (fd < 0)
      die(rule);
    close(fd);
  }
  snprintf(rule, sizeof(rule), "%s/", folder);
  sound(policy_new(&policy), &failure);
  sound(policy_add(policy, FILE_DENY, rule, "here", &failure), &failure);
  sound(policy_add(policy, FILE_ALLOW, "/tmp/allowed", "here", &failure),
        &failure);
}

static char policy_pin[PINS_PATH_SIZE], state_pin[PINS_PATH_SIZE];

static void install_policy(void) {
  struct failure failure = {""};
  make_policy();
  sound(policy_install(policy, policy_fd, state_fd, &terms, &failure),
        &failure);
  char in[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", "", in);
  mkdir(in, 0700);
  pins_object_path(pins_path(root), "marked", POLICY_MAP, policy_pin);
  pins_object_path(pins_path(root), "marked", POLICY_STATE_MAP, state_pin);
  if (bpf_obj_pin(policy_fd, policy_pin) != 0 ||
      bpf_obj_pin(state_fd, state_pin) != 0)
    die(policy_pin);
}

/* ---- Parts ---- */

static int mend(struct failure *failure) {
  int status = object_mend_pins(object, failure);
  if (status < 0)
    return status;
  char record[PINS_PATH_SIZE];
  pins_object_path(pins_path(root), "marked", PINS_RECORD, record);
  puts(access(record, F_OK) == 0 ? "whole" : "not whole");
  return 0;
}

static int drop(struct failure *failure) {
  int status = pins_remove(pins_path(root), "marked", failure);
  if (status == 0)
    puts(access(path, F_OK) == 0 ? "still there" : "gone");
  return status;
}

static int watch(struct failure *failure) {
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info);
  int fd = pins_open_watch(root, "theirs", failure);
  if (fd < 0)
    return fd;
  unsetenv("FAULT_BEGUN");
  bpf_obj_get_info_by_fd(fd, &info, &size);
  printf("%zu\n", info.value_size / sizeof(struct pins_watch));
  close(fd);
  return 0;
}

static int install(struct failure *failure) {
  struct file_policy_state state = {0};
  uint32_t zero = 0;
  int status = policy_install(policy, policy_fd, state_fd, &terms, failure);
  if (status != 0)
    return status;
  unsetenv("FAULT_BEGUN");
  bpf_map_lookup_elem(state_fd, &zero, &state);
  printf("%s, namespace %u\n",
         state.generation & FILE_POLICY_CHANGING ? "half changed" : "changed",
         state.namespace);
  return 0;
}

static int uninstall(struct failure *failure) {
  int status = policy_install(NULL, policy_fd, state_fd, &terms, failure);
  if (status == 0)
    puts("no rules");
  return status;
}

static int read_rules(struct failure *failure) {
  struct policy_in_force in_force;
  int status = policy_read_pinned(policy_pin, state_pin, &in_force, failure);
  if (status != 0)
    return status;
  puts(policy_same(in_force.policy, policy) ? "the same" : "others");
  policy_free(&in_force.policy);
  return 0;
}

/* No program is attached: nothing is denied, and the files are opened for nothing. */
static int mark(struct failure *failure) {
  struct file_policy_state state = {0};
  uint32_t zero = 0;
  int status = policy_mark(policy, state_fd, failure);
  if (status == -ENOTSUP) {
    printf("%s\n", failure->text);
    exit(77);
  }
  if (status != 0)
    return status;
  unsetenv("FAULT_BEGUN");
  bpf_map_lookup_elem(state_fd, &zero, &state);
  printf("marker %u, %s\n", state.marker,
         state.generation & FILE_POLICY_CHANGING ? "half changed" : "changed");
  if (!state.marks_since || state.marks_since >= state.generation)
    puts("marks of before hold, or verdicts");
  return 0;
}

static int read_file(struct failure *failure) {
  char file[128];
  struct policy *read = NULL;
  snprintf(file, sizeof(file), "%s/0", folder);
  FILE *out = fopen(file, "we");
  if (!out)
    return failure_set(failure, -errno, "%s: %s", file, strerror(errno));
  for (int i = 0; i < 40; i++)
    fprintf(out, "deny /a/%d\nallow \"/b/%d/\"\n", i, i);
  fclose(out);
  int status = policy_new(&read);
  if (status != 0)
    return failure_set(failure, status, "out of memory");
  status = policy_read_file(read, file, failure);
  if (status == 0)
    status = policy_check_safe(read, NULL, failure);
  size_t rules = 0;
  while (policy_rule(read, rules))
    rules++;
  if (status == 0)
    printf("%zu rules\n", rules);
  policy_free(&read);
  return status;
}

/* What cannot be looked at is left out: then it is not found, which is no failure. */
static int walk(struct failure *failure) {
  struct census *census = NULL;
  struct discover_window *windows = NULL;
  struct reader *reader = NULL;
  size_t count = 0;
  int status = census_take(&census, pins_path(root), failure);
  if (status == 0)
    status = discover_windows(census, 0, &windows, &count, failure);
  for (size_t i = 0; status == 0 && i < count; i++)
    if (strcmp(windows[i].name, "marked") == 0 && !windows[i].problem[0] &&
        !reader)
      status = discover_open(&windows[i], &reader, failure);
  if (status == 0)
    puts("walked");
  reader_close(&reader);
  free(windows);
  census_free(&census);
  return status;
}

static int locate(struct failure *failure) {
  struct reader *reader = NULL;
  int status = locate_pinned(path, 0, &reader, NULL, failure);
  if (status == 0)
    puts(reader_epoch(reader)->counter[0].name);
  reader_close(&reader);
  return status;
}

/* What it could not learn it must not make up. */
static int count_runs(struct failure *failure) {
  struct object_statistics statistics;
  (void)failure;
  object_statistics(object, &statistics);
  puts(statistics.programs == 1 || !statistics.runs_known ? "sound"
                                                          : "made up");
  return 0;
}

static int hook(struct failure *failure) {
  int status = probe_hook(PROBE_HOOK_TRACEPOINT, failure);
  if (status == 0)
    puts("runs");
  return status;
}

static int inspect(struct failure *failure) {
  struct inspect_object inspected;
  int status =
      inspect_file(place_object("tests/bpf/marked_calls"), &inspected, failure);
  if (status != 0)
    return status;
  printf("%zu %s\n", inspected.windows, inspected.window[0].name);
  inspect_free(&inspected);
  return 0;
}

/* Follows the window as one of others, and keeps an edge. */
static int follow(struct failure *failure) {
  static struct account *account;
  struct clock_pair now = clock_pair();
  struct pins_edge edge;
  enum account_news news;
  uint64_t totals[BPF_WINDOW_MAX_VALUES];
  int status = account ? 0 : account_watch(&account, path, state_fd, failure);
  if (status == 0)
    status = account_follow(account, &now, &news, failure);
  if (status == 0)
    status = account_take(account, failure);
  if (status == 0)
    status = account_last(account, &edge, failure);
  if (status != 0)
    return status;
  edge.wall_ns = now.wall_ns / NS_PER_SECOND * NS_PER_SECOND;
  account_total_at(account, &now, edge.wall_ns, totals);
  status = account_keep(account, &now, &edge, totals, failure);
  if (status == 0)
    printf("%llu\n", (unsigned long long)totals[0]);
  return status;
}

static void start_followed(void) {
  start_object();
  state_fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "state", 4,
                            sizeof(struct pins_watch), 1, NULL);
  if (state_fd < 0)
    die("state");
}

static int own(struct failure *failure) {
  struct account *account = NULL;
  struct pins_edge edge;
  const struct object_window *window;
  object_windows(object, &window);
  int status = account_open(&account, window->ring_fd, window->epoch_fd,
                            window->cursor_fd, window->edge_fd, failure);
  if (status == 0)
    status = account_take(account, failure);
  if (status == 0)
    status = account_last(account, &edge, failure);
  if (status == 0)
    puts("read");
  account_free(&account);
  return status;
}

static const struct part {
  const char *name;
  void (*before)(void);
  int (*work)(struct failure *failure);
} parts[] = {
    {"mend", start_and_lose_pins, mend},
    {"drop", start_object, drop},
    {"watch", nothing, watch},
    {"watch_again", pin_a_watch_of_another_version, watch},
    {"install", make_policy, install},
    {"uninstall", install_policy, uninstall},
    {"read_rules", install_policy, read_rules},
    {"mark", install_policy, mark},
    {"read_file", make_policy, read_file},
    {"walk", start_object, walk},
    {"locate", start_object, locate},
    {"locate_by_programs", start_and_lose_cursor, locate},
    {"count_runs", start_object, count_runs},
    {"hook", nothing, hook},
    {"inspect", nothing, inspect},
    {"follow", start_followed, follow},
    {"own", start_object, own},
};

static void clean_up(void) {
  char file[128];
  object_stop(&object, false, NULL);
  pins_close(&root);
  policy_free(&policy);
  for (int i = 0; folder[0] && i < 2; i++) {
    snprintf(file, sizeof(file), "%s/%d", folder, i);
    unlink(file);
  }
  if (folder[0])
    rmdir(folder);
}

int main(int count, char **argument) {
  const struct part *part = NULL;
  for (size_t i = 0; count == 3 && i < sizeof(parts) / sizeof(*parts); i++)
    if (strcmp(parts[i].name, argument[1]) == 0)
      part = &parts[i];
  if (!part)
    return 2;
  struct failure failure = {""};
  object_log_libbpf(NULL);
  sound(pins_open(&root, argument[2], &failure), &failure);
  part->before();
  setenv("FAULT_BEGUN", "1", 1);
  int status = part->work(&failure), first = status;
  unsetenv("FAULT_BEGUN");
  if (status != 0) {
    fprintf(stderr, "%s\n", failure.text);
    status = part->work(&failure);
  }
  if (status != 0)
    fprintf(stderr, "again: %s\n", failure.text);
  clean_up();
  return status != 0 ? 4 : first != 0 ? 1 : 0;
}
