/* SPDX-License-Identifier: MIT */
/* policy_install.c - a policy's rules, put in force in the kernel */
#include "policy.h"

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

static int set_rules(int policy_fd, const struct policy *policy) {
  const __u32 zero = 0;
  if (!policy)
    return bpf_map_delete_elem(policy_fd, &zero) && errno != ENOENT ? -errno
                                                                    : 0;
  int trie_fd = -1;
  int status = make_trie(policy, &trie_fd);
  if (status != 0)
    return status;
  if (bpf_map_update_elem(policy_fd, &zero, &trie_fd, BPF_ANY))
    status = -errno;
  close(trie_fd);
  return status;
}

static int write_state(int state_fd, const struct file_policy_state *state) {
  const __u32 zero = 0;
  return bpf_map_update_elem(state_fd, &zero, state, BPF_ANY) ? -errno : 0;
}

int policy_install(const struct policy *policy, int policy_fd, int state_fd,
                   const struct policy_terms *terms, struct failure *failure) {
  const __u32 zero = 0;
  struct file_policy_state state;
  if (bpf_map_lookup_elem(state_fd, &zero, &state))
    return failure_set(failure, -errno, "cannot read the policy's state: %s",
                       strerror(errno));
  /* Rules and their scope first, generation second: a program that read the old
   * generation may label a verdict of the new rules with it, which is then never
   * used; the other way round it would label one of the old rules as new. */
  int status = set_rules(policy_fd, policy);
  if (status != 0)
    return failure_set(failure, status, "cannot put the policy in force: %s",
                       strerror(-status));
  if (state.namespace != terms->namespace) {
    state.namespace = terms->namespace;
    status = write_state(state_fd, &state);
  }
  state.generation++;
  state.enforce = terms->enforce;
  if (status == 0)
    status = write_state(state_fd, &state);
  if (status != 0)
    return failure_set(failure, status, "cannot write the policy's state: %s",
                       strerror(-status));
  return 0;
}

bool policy_is_enforced(const char *state_pin) {
  const __u32 zero = 0;
  struct file_policy_state state = {.enforce = 0};
  struct bpf_map_info info = {.id = 0};
  __u32 size = sizeof(info);
  LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(state_pin, &read_only);
  if (fd < 0)
    return false;
  bool enforced = bpf_obj_get_info_by_fd(fd, &info, &size) == 0 &&
                  info.value_size == sizeof(state) &&
                  bpf_map_lookup_elem(fd, &zero, &state) == 0 &&
                  state.enforce != 0;
  close(fd);
  return enforced;
}
