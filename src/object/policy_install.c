/* SPDX-License-Identifier: MIT */
/* policy_install.c - a policy's rules, put in force in the kernel */
#include "policy_state.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

static int put(int trie_fd, const char *path, size_t bytes,
               enum file_verdict verdict) {
  struct file_rule_key key = {.bits = 8 * bytes};
  __u32 value = verdict;
  memcpy(key.path, path, bytes);
  return bpf_map_update_elem(trie_fd, &key, &value, BPF_ANY) ? -errno : 0;
}

/* A folder's rule is for the folder itself too, unless that has a rule of its
 * own. */
static int put_rule(int trie_fd, const struct policy *policy,
                    const struct policy_rule *rule) {
  size_t length = strlen(rule->path);
  if (rule->path[length - 1] != '/')
    return put(trie_fd, rule->path, length + 1, rule->verdict);

  int status = put(trie_fd, rule->path, length, rule->verdict);
  if (status != 0 || length == 1) /* "/" is a prefix of "/" already */
    return status;
  char itself[FILE_RULE_SIZE] = {0};
  memcpy(itself, rule->path, length - 1);
  if (policy_find(policy, itself))
    return 0;
  return put(trie_fd, itself, length, rule->verdict);
}

/* Sets *trie_fd to the rules as a map that nobody can change any more. */
static int make_trie(const struct policy *policy, int *trie_fd) {
  LIBBPF_OPTS(bpf_map_create_opts, options, .map_flags = BPF_F_NO_PREALLOC);
  size_t rules = 0;
  while (policy_rule(policy, rules))
    rules++;
  int fd = bpf_map_create(BPF_MAP_TYPE_LPM_TRIE, "file_rules",
                          sizeof(struct file_rule_key), sizeof(__u32),
                          2 * rules + 1, &options);
  if (fd < 0)
    return -errno;
  int status = 0;
  for (size_t i = 0; status == 0 && i < rules; i++)
    status = put_rule(fd, policy, policy_rule(policy, i));
  if (status == 0 && bpf_map_freeze(fd))
    status = -errno;
  if (status != 0) {
    close(fd);
    return status;
  }
  *trie_fd = fd;
  return 0;
}

/* A trie's fd; -1: no rules. */
static int set_rules(int policy_fd, int trie_fd) {
  const __u32 zero = 0;
  if (trie_fd < 0)
    return bpf_map_delete_elem(policy_fd, &zero) && errno != ENOENT ? -errno
                                                                    : 0;
  return bpf_map_update_elem(policy_fd, &zero, &trie_fd, BPF_ANY) ? -errno : 0;
}

static int unchanged(int status, const char *what, struct failure *failure) {
  return failure_set(failure, status,
                     "cannot %s: %s%s; the rules in force stay", what,
                     strerror(-status),
                     status == -EPERM ? " (needs CAP_BPF: run as root)" : "");
}

static int half_changed(int status, struct failure *failure) {
  return failure_set(
      failure, status,
      "cannot write the policy's state: %s; the new rules hold, "
      "but perhaps on the terms before, and every open walks; "
      "start collectd anew unless it says that they are in force",
      strerror(-status));
}

/* See policy_state.h. When the exchange of the tries comes back, no program runs that
 * might still match the old one. */
static int change(int trie_fd, int policy_fd, int state_fd,
                  const struct policy_terms *terms, struct failure *failure) {
  struct file_policy_state state;
  int status = policy_state_read(state_fd, &state);
  if (status != 0)
    return unchanged(status, "read the policy's state", failure);
  bool was_whole = !(state.generation & FILE_POLICY_CHANGING);
  state.marker = 0; /* of one who was stopped while marking */
  status = policy_state_begin(state_fd, &state);
  if (status != 0)
    return unchanged(status, "write the policy's state", failure);

  status = set_rules(policy_fd, trie_fd);
  if (status != 0) {
    if (was_whole)
      policy_state_end(state_fd, &state); /* else every open walks, no more */
    return unchanged(status, "exchange the rules", failure);
  }
  state.enforce = terms->enforce;
  state.namespace = terms->namespace;
  status = policy_state_write(state_fd, &state);
  if (status == 0)
    status = policy_state_end(state_fd, &state);
  return status == 0 ? 0 : half_changed(status, failure);
}

int policy_install(const struct policy *policy, int policy_fd, int state_fd,
                   const struct policy_terms *terms, struct failure *failure) {
  int trie_fd = -1;
  int status = policy ? make_trie(policy, &trie_fd) : 0;
  if (status != 0)
    return unchanged(status, "make a map of the rules", failure);
  status = change(trie_fd, policy_fd, state_fd, terms, failure);
  if (trie_fd >= 0)
    close(trie_fd);
  return status;
}

bool policy_is_enforced(const char *state_pin) {
  struct file_policy_state state;
  LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(state_pin, &read_only);
  if (fd < 0)
    return false;
  bool enforced = policy_state_read(fd, &state) == 0 && state.enforce != 0;
  close(fd);
  return enforced;
}
