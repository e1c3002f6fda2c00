/* SPDX-License-Identifier: MIT */
/* policy_read.c - the rules that are in force, read back from the kernel */
#include "policy_state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* While rules are being changed it is looked again, for as long as the kernel
 * may take to exchange them. */
#define READS_AT_MOST 10
#define READ_AGAIN_US 50000

/* A key of the trie as a rule: a NUL at its end means the path alone. */
static int add_key(struct policy *policy, int trie_fd,
                   const struct file_rule_key *key, struct failure *failure) {
  char path[FILE_RULE_SIZE + 1] = "";
  __u32 verdict;
  if (key->bits % 8 != 0 || key->bits > 8 * FILE_RULE_SIZE)
    return failure_set(failure, -EINVAL, "the rules in force are no paths");
  memcpy(path, key->path, key->bits / 8);
  if (bpf_map_lookup_elem(trie_fd, key, &verdict) != 0)
    return failure_set(failure, -errno, "cannot read a rule: %s",
                       strerror(errno));
  return policy_add(policy, verdict, path, "in force", failure);
}

static int read_trie(struct policy *policy, int trie_fd,
                     struct failure *failure) {
  struct bpf_map_info info = {.id = 0};
  __u32 size = sizeof(info);
  if (bpf_obj_get_info_by_fd(trie_fd, &info, &size) != 0)
    return failure_set(failure, -errno, "cannot read the rules in force: %s",
                       strerror(errno));
  if (info.type != BPF_MAP_TYPE_LPM_TRIE ||
      info.key_size != sizeof(struct file_rule_key) ||
      info.value_size != sizeof(__u32))
    return failure_set(failure, -EINVAL, "the rules in force are no trie");
  struct file_rule_key key, *before = NULL;
  int status = 0;
  while (status == 0 && bpf_map_get_next_key(trie_fd, before, &key) == 0) {
    status = add_key(policy, trie_fd, &key, failure);
    before = &key;
  }
  if (status == 0 && errno != ENOENT) /* which is the end */
    status = failure_set(failure, -errno, "cannot read the rules in force: %s",
                         strerror(errno));
  return status;
}

static int read_rules(struct policy *policy, int policy_fd,
                      struct failure *failure) {
  const __u32 zero = 0;
  __u32 id;
  if (bpf_map_lookup_elem(policy_fd, &zero, &id) != 0)
    return errno == ENOENT
               ? 0 /* there are none */
               : failure_set(failure, -errno, "cannot read the policy: %s",
                             strerror(errno));
  int trie_fd = bpf_map_get_fd_by_id(id);
  if (trie_fd < 0)
    /* -ENOENT: replaced by others since. */
    return failure_set(
        failure, trie_fd == -ENOENT ? -EAGAIN : trie_fd,
        "cannot open the rules in force: %s%s", strerror(-trie_fd),
        trie_fd == -EPERM ? " (needs CAP_SYS_ADMIN: run as root)" : "");
  int status = read_trie(policy, trie_fd, failure);
  close(trie_fd);
  return status;
}

/* Whether a rule changes nothing: the folder of the same path says it already.
 * Where rules are put in force each folder's comes with one of that kind. */
static bool is_implied(const struct policy *policy,
                       const struct policy_rule *rule) {
  size_t length = strlen(rule->path);
  if (rule->path[length - 1] == '/' || length + 1 >= FILE_RULE_SIZE)
    return false;
  char folder[FILE_RULE_SIZE];
  memcpy(folder, rule->path, length);
  memcpy(folder + length, "/", 2);
  const struct policy_rule *around = policy_find(policy, folder);
  return around && around->verdict == rule->verdict;
}

/* Takes the implied ones out: the rules are then those that somebody wrote. */
static int strip_implied(struct policy **policy, struct failure *failure) {
  struct policy *written;
  const struct policy_rule *rule;
  int status = policy_new(&written);
  for (size_t i = 0; status == 0 && (rule = policy_rule(*policy, i)); i++)
    if (!is_implied(*policy, rule))
      status =
          policy_add(written, rule->verdict, rule->path, rule->place, failure);
  if (status != 0)
    return failure_set(failure, status, "out of memory");
  policy_free(policy);
  *policy = written;
  return 0;
}

static int open_pin(const char *path, struct failure *failure) {
  LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(path, &read_only);
  return fd >= 0 ? fd
                 : failure_set(failure, fd, "cannot open the pin %s: %s%s",
                               path, strerror(-fd),
                               fd == -EPERM || fd == -EACCES ? " (run as root)"
                                                             : "");
}

static int read_state(int fd, struct file_policy_state *state,
                      struct failure *failure) {
  int status = policy_state_read(fd, state);
  return status == 0 ? 0 : policy_state_unread(status, failure);
}

/* The state is read on both sides of the rules: they belong to it if it stood
 * still, and is even. */
static int read_once(struct policy_in_force *read, int policy_fd, int state_fd,
                     struct failure *failure) {
  struct file_policy_state before = {0}, after = {0};
  if (policy_new(&read->policy) != 0)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = read_state(state_fd, &before, failure);
  if (status == 0)
    status = read_rules(read->policy, policy_fd, failure);
  if (status == 0)
    status = strip_implied(&read->policy, failure);
  if (status == 0)
    status = read_state(state_fd, &after, failure);
  if (status == 0 && (before.generation != after.generation ||
                      after.generation & FILE_POLICY_CHANGING))
    status = failure_set(failure, -EAGAIN,
                         "the rules are being changed; if this lasts, collectd "
                         "was stopped meanwhile: start it again");
  if (status != 0) {
    policy_free(&read->policy);
    return status;
  }
  read->generation = after.generation;
  read->terms.enforce = after.enforce != 0;
  read->terms.namespace = after.namespace;
  return 0;
}

int policy_read_pinned(const char *policy_pin, const char *state_pin,
                       struct policy_in_force *in_force,
                       struct failure *failure) {
  struct policy_in_force read = {.policy = NULL};
  int policy_fd = open_pin(policy_pin, failure);
  if (policy_fd < 0)
    return policy_fd;
  int state_fd = open_pin(state_pin, failure);
  int status = state_fd < 0 ? state_fd : -EAGAIN;
  for (int i = 0; status == -EAGAIN && i < READS_AT_MOST; i++) {
    if (i > 0)
      usleep(READ_AGAIN_US);
    status = read_once(&read, policy_fd, state_fd, failure);
  }
  close(policy_fd);
  if (state_fd >= 0)
    close(state_fd);
  if (status == 0)
    *in_force = read;
  return status;
}

static bool has_all(const struct policy *policy, const struct policy *of) {
  const struct policy_rule *rule;
  for (size_t i = 0; (rule = policy_rule(of, i)); i++) {
    const struct policy_rule *same = policy_find(policy, rule->path);
    if (!is_implied(of, rule) && (!same || same->verdict != rule->verdict))
      return false;
  }
  return true;
}

bool policy_same(const struct policy *a, const struct policy *b) {
  return has_all(a, b) && has_all(b, a);
}
