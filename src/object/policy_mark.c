/* SPDX-License-Identifier: MIT */
/* policy_mark.c - the files that are denied by whatever path */
#include "policy.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

/* The root of another mount namespace, which is the host's. */
#define HOST_ROOT "/proc/1/root"

/* nftw(3) hands nothing on to its callback. */
static const struct policy *walked_policy;
static size_t walked_root; /* length of the root in front of the rules' paths */
static size_t marked;

static int mark(const char *path, const struct stat *status, int type,
                struct FTW *position) {
  (void)status;
  (void)position;
  if (type == FTW_SL ||
      policy_match(walked_policy, path + walked_root, NULL) != FILE_DENY)
    return 0;
  /* The programs see the open before any driver does; a reader is not awaited. */
  int fd =
      open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
  marked++;
  return 0;
}

static int write_state(int state_fd, const struct file_policy_state *state,
                       struct failure *failure) {
  const __u32 zero = 0;
  if (bpf_map_update_elem(state_fd, &zero, state, BPF_ANY))
    return failure_set(failure, -errno, "cannot write the policy's state: %s",
                       strerror(errno));
  return 0;
}

/* Rules for one namespace are for the files as they are called there, whatever
 * this process sees under these paths. */
static const char *root_of(uint32_t namespace) {
  uint32_t own = 0;
  bool here =
      namespace == 0 || (policy_own_namespace(&own) == 0 && own == namespace);
  return here ? "" : HOST_ROOT;
}

static void mark_below(const char *root, const char *rule) {
  char path[sizeof(HOST_ROOT) + FILE_RULE_SIZE];
  snprintf(path, sizeof(path), "%s%s", root, rule);
  nftw(path, mark, 64, FTW_PHYS); /* what does not exist is no error */
}

int policy_mark(const struct policy *policy, int state_fd,
                struct failure *failure) {
  const __u32 zero = 0;
  struct file_policy_state state;
  if (bpf_map_lookup_elem(state_fd, &zero, &state))
    return failure_set(failure, -errno, "cannot read the policy's state: %s",
                       strerror(errno));
  if (!policy_in_first_pid_namespace())
    return failure_set(failure, -ENOTSUP,
                       "denied files are not marked, so that they can be "
                       "reached by hard links and bind mounts: that needs a "
                       "process outside of any PID namespace (container)");

  state.marker = getpid();
  int status = write_state(state_fd, &state, failure);
  if (status != 0)
    return status;
  const char *root = root_of(state.namespace);
  walked_root = strlen(root);
  walked_policy = policy;
  marked = 0;
  const struct policy_rule *rule;
  for (size_t i = 0; policy && (rule = policy_rule(policy, i)); i++)
    if (rule->verdict == FILE_DENY)
      mark_below(root, rule->path);
  state.marker = 0;
  state.marks_since = state.generation;
  status = write_state(state_fd, &state, failure);
  if (status == 0 && marked > FILE_MARKS_MAX)
    return failure_set(failure, -ENOSPC,
                       "the policy denies %zu existing files; only %d of them "
                       "are denied by whatever path they are reached",
                       marked, FILE_MARKS_MAX);
  return status;
}
