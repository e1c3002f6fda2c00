/* SPDX-License-Identifier: MIT */
/* policy_scope.c - the mount namespace that a policy is for */
#include "policy.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

/* Programs know processes by their number in the first PID namespace, whose
 * inode number is fixed (PROC_PID_INIT_INO). */
#define FIRST_PID_NAMESPACE 0xEFFFFFFCu

/* So is, from Linux 6.18 on, that of the first mount namespace
 * (MNT_NS_INIT_INO); before, numbers that low are never given to one. */
#define FIRST_MOUNT_NAMESPACE 0xEFFFFFF8u

static int number_of(const char *path, uint32_t *number) {
  struct stat namespace;
  if (stat(path, &namespace) != 0)
    return -errno;
  *number = (uint32_t) namespace.st_ino;
  return 0;
}

bool policy_in_first_pid_namespace(void) {
  uint32_t number = 0;
  return number_of("/proc/self/ns/pid", &number) == 0 &&
         number == FIRST_PID_NAMESPACE;
}

int policy_own_namespace(uint32_t *number) {
  return number_of("/proc/self/ns/mnt", number);
}

int policy_host_namespace(uint32_t *number, struct failure *failure) {
  uint32_t own = 0;
  if (!policy_in_first_pid_namespace())
    return failure_set(failure, -ENOTSUP,
                       "Scope \"host\" needs to see the host's process 1, "
                       "which is hidden in this PID namespace (container): "
                       "share the host's with it, or write Scope \"all\"");
  int status = number_of("/proc/1/ns/mnt", number);
  if (status == 0)
    return 0;
  if (policy_own_namespace(&own) == 0 && own == FIRST_MOUNT_NAMESPACE) {
    *number = own;
    return 0;
  }
  return failure_set(
      failure, status, "Scope \"host\": cannot read /proc/1/ns/mnt: %s%s",
      strerror(-status),
      status == -EACCES || status == -EPERM ? " (needs CAP_SYS_PTRACE)" : "");
}

int policy_read_scope(const char *word, bool *host_only) {
  if (strcmp(word, "host") != 0 && strcmp(word, "all") != 0)
    return -EINVAL;
  *host_only = strcmp(word, "host") == 0;
  return 0;
}
