/* SPDX-License-Identifier: MIT */
#include "probe_hook.h"

#include "explain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>
#include <linux/bpf.h>

static const struct {
  const char *name, *target;
  enum bpf_prog_type type;
  enum bpf_attach_type attach_type;
} hooks[PROBE_HOOKS] = {
    [PROBE_HOOK_LSM] = {"lsm/file_open", "file_open", BPF_PROG_TYPE_LSM,
                        BPF_LSM_MAC},
    [PROBE_HOOK_FENTRY] = {"fentry/security_file_open", "security_file_open",
                           BPF_PROG_TYPE_TRACING, BPF_TRACE_FENTRY},
    [PROBE_HOOK_TRACEPOINT] = {"tp_btf/sys_exit", "sys_exit",
                               BPF_PROG_TYPE_TRACING, BPF_TRACE_RAW_TP},
};

const char *probe_hook_name(enum probe_hook hook) { return hooks[hook].name; }

/* return 0; */
static int load_empty(enum probe_hook hook, int target_id) {
  const struct bpf_insn instructions[] = {
      {.code = BPF_ALU64 | BPF_MOV | BPF_K, .dst_reg = BPF_REG_0, .imm = 0},
      {.code = BPF_JMP | BPF_EXIT},
  };
  LIBBPF_OPTS(bpf_prog_load_opts, options,
              .expected_attach_type = hooks[hook].attach_type,
              .attach_btf_id = (uint32_t)target_id);
  int fd = bpf_prog_load(hooks[hook].type, "bpf_window_probe", "GPL",
                         instructions, 2, &options);
  return fd < 0 ? -errno : fd;
}

/* 0 if the program has run, -ENOTSUP if not; or why that cannot be told. */
static int check_run(int program_fd) {
  struct bpf_prog_info info = {0};
  uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(program_fd, &info, &size) != 0)
    return -errno;
  return info.run_cnt > 0 ? 0 : -ENOTSUP;
}

/* Makes an event that the program sees. */
static int make_event(int program_fd) {
  int statistics_fd = bpf_enable_stats(BPF_STATS_RUN_TIME);
  if (statistics_fd < 0)
    return -errno;
  int file_fd = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  int status = file_fd < 0 ? -errno : check_run(program_fd);
  if (file_fd >= 0)
    close(file_fd);
  close(statistics_fd);
  return status;
}

int probe_hook(enum probe_hook hook, struct failure *failure) {
  if (hook == PROBE_HOOK_LSM && explain_lsm(failure) != 0)
    return -ENOTSUP;
  int target_id =
      libbpf_find_vmlinux_btf_id(hooks[hook].target, hooks[hook].attach_type);
  if (target_id < 0)
    return failure_set(failure, target_id, "this kernel's BTF has no %s",
                       hooks[hook].target);
  int program_fd = load_empty(hook, target_id);
  if (program_fd < 0)
    return explain_refusal(program_fd, "loading", strerror(-program_fd),
                           failure);
  int link_fd = bpf_raw_tracepoint_open(NULL, program_fd);
  int status = link_fd < 0 ? -errno : make_event(program_fd);
  if (link_fd < 0)
    explain_refusal(status, "attaching", strerror(-status), failure);
  else if (status == -ENOTSUP)
    failure_set(failure, status, "a program is attached, but never runs");
  else if (status != 0)
    status = failure_set(
        failure, -EINPROGRESS,
        "a program can be attached; whether it runs cannot be told: %s",
        strerror(-status));
  if (link_fd >= 0)
    close(link_fd);
  close(program_fd);
  return status;
}
