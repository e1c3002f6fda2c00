/* SPDX-License-Identifier: MIT */
/* policy_mark.c - the files that are denied by whatever path */
#include "policy_state.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* The root of another mount namespace, which is the host's. */
#define HOST_ROOT "/proc/1/root"

/* nftw(3) hands nothing on to its callback; objects are marked in parallel. */
static _Thread_local struct {
  const struct policy *policy;
  size_t root;   /* length of the root in front of the rules' paths */
  size_t unseen; /* files that this process may not open, rules or none */
} walked;

/*
 * Whether the rules deny what the kernel calls by this path. What the path is
 * called here may be another one, behind symbolic links: then the programs do
 * not refuse the open, which to a driver or a writer would be a real one.
 */
static bool is_denied_by_its_name(const char *path) {
  char link[64], name[PATH_MAX];
  int fd = open(path, O_PATH | O_NOFOLLOW | O_CLOEXEC);
  if (fd < 0) {
    walked.unseen += errno == EACCES;
    return false;
  }
  snprintf(link, sizeof(link), "/proc/self/fd/%d", fd);
  ssize_t length = readlink(link, name, sizeof(name) - 1);
  close(fd);
  if (length < 0)
    return false;
  name[length] = '\0';
  return policy_match(walked.policy, name, NULL) == FILE_DENY;
}

/* The programs mark a denied file when it is opened, and refuse the open unless
 * it is a folder's. */
static int mark(const char *path, const struct stat *status, int type,
                struct FTW *position) {
  (void)position;
  if (type == FTW_SL ||
      policy_match(walked.policy, path + walked.root, NULL) != FILE_DENY)
    return 0;
  bool harmless =
      type != FTW_NS && (S_ISREG(status->st_mode) || S_ISDIR(status->st_mode));
  if (!harmless && !is_denied_by_its_name(path))
    return 0;
  int fd =
      open(path, O_RDONLY | O_NONBLOCK | O_NOCTTY | O_NOFOLLOW | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
  else if (errno == EACCES)
    walked.unseen++;
  return 0;
}

static int unwritten(int status, struct failure *failure) {
  return failure_set(failure, status,
                     "cannot write the policy's state: %s; files denied by "
                     "the rules before may stay it, and every open may walk, "
                     "until the rules change or collectd starts anew",
                     strerror(-status));
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

static void mark_all(const struct policy *policy, const char *root) {
  const struct policy_rule *rule;
  walked.policy = policy;
  walked.root = strlen(root);
  walked.unseen = 0;
  for (size_t i = 0; policy && (rule = policy_rule(policy, i)); i++)
    if (rule->verdict == FILE_DENY)
      mark_below(root, rule->path);
}

/*
 * Voids the marks of the rules before, and with them every verdict: one may have
 * been remembered because of such a mark, or before its file got a new one. Sets
 * *unmarked to how many marks found no room since the last time.
 */
static int void_old_marks(int state_fd, __u32 *unmarked,
                          struct failure *failure) {
  struct file_policy_state state;
  int status = policy_state_read(state_fd, &state);
  if (status != 0)
    return policy_state_unread(status, failure);
  *unmarked = state.unmarked & ~FILE_MARKS_SWEPT;
  state.unmarked = 0;
  state.marker = 0;
  state.marks_since = state.generation;
  status = policy_state_begin(state_fd, &state);
  if (status == 0)
    status = policy_state_end(state_fd, &state);
  return status == 0 ? 0 : unwritten(status, failure);
}

static int walk_and_mark(const struct policy *policy, int state_fd,
                         __u32 *unmarked, struct failure *failure) {
  struct file_policy_state state;
  int status = policy_state_read(state_fd, &state);
  if (status != 0)
    return policy_state_unread(status, failure);
  state.marker = getpid();
  state.unmarked &= FILE_MARKS_SWEPT;
  status = policy_state_write(state_fd, &state);
  if (status != 0)
    return unwritten(status, failure);
  mark_all(policy, root_of(state.namespace));
  return void_old_marks(state_fd, unmarked, failure);
}

int policy_mark(const struct policy *policy, int state_fd,
                struct failure *failure) {
  __u32 unmarked = 0;
  if (!policy_in_first_pid_namespace()) {
    int status = void_old_marks(state_fd, &unmarked, failure);
    return status != 0
               ? status
               : failure_set(failure, -ENOTSUP,
                             "denied files are not marked, so that they can be "
                             "reached by hard links and bind mounts: that "
                             "needs a process outside of any PID namespace "
                             "(container)");
  }
  int status = walk_and_mark(policy, state_fd, &unmarked, failure);
  /* The marks of the rules before took the room; they are void now. */
  if (status == 0 && unmarked > 0)
    status = walk_and_mark(policy, state_fd, &unmarked, failure);
  if (status != 0)
    return status;
  if (unmarked > 0)
    return failure_set(failure, -ENOSPC,
                       "%u files in denied folders found no room among the %d "
                       "that can be marked: they are denied by their path, but "
                       "not by hard links and bind mounts; deny fewer files",
                       unmarked, FILE_MARKS_MAX);
  if (walked.unseen > 0)
    return failure_set(failure, -EACCES,
                       "%zu files in denied folders have no mark, since this "
                       "process may not open them: they are denied by their "
                       "path, but not by hard links and bind mounts; give it "
                       "CAP_DAC_READ_SEARCH",
                       walked.unseen);
  return 0;
}
