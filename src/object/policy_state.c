/* SPDX-License-Identifier: MIT */
#include "policy_state.h"

#include <errno.h>
#include <string.h>

#include <bpf/bpf.h>

int policy_state_read(int fd, struct file_policy_state *state) {
  const __u32 zero = 0;
  struct bpf_map_info info = {.id = 0};
  __u32 size = sizeof(info);
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    return -errno;
  if (info.value_size != sizeof(*state))
    return -EINVAL;
  return bpf_map_lookup_elem(fd, &zero, state) == 0 ? 0 : -errno;
}

int policy_state_unread(int status, struct failure *failure) {
  return status == -EINVAL
             ? failure_set(failure, status,
                           "the policy's state is of another version of this "
                           "program")
             : failure_set(failure, status,
                           "cannot read the policy's state: %s",
                           strerror(-status));
}

int policy_state_write(int fd, const struct file_policy_state *state) {
  const __u32 zero = 0;
  return bpf_map_update_elem(fd, &zero, state, BPF_ANY) == 0 ? 0 : -errno;
}

int policy_state_begin(int fd, struct file_policy_state *state) {
  state->generation |= FILE_POLICY_CHANGING;
  return policy_state_write(fd, state);
}

int policy_state_end(int fd, struct file_policy_state *state) {
  state->generation++; /* it is odd */
  return policy_state_write(fd, state);
}
