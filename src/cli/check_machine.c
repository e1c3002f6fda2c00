/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "object/probe.h"
#include "object/probe_hook.h"

static void check_kernel(struct check *check,
                         const struct probe_kernel *kernel) {
  check_say(check, kernel->new_enough ? CHECK_OK : CHECK_PROBLEM, "kernel",
            kernel->new_enough
                ? "%s has atomics and batched reads of per-CPU arrays"
                : "%s is older than 5.15: windows need a newer kernel",
            kernel->release);
  if (kernel->btf)
    check_say(check, CHECK_OK, "BTF", "/sys/kernel/btf/vmlinux is there");
  else
    check_say(check, CHECK_PROBLEM, "BTF",
              "/sys/kernel/btf/vmlinux is missing: use a kernel built with "
              "CONFIG_DEBUG_INFO_BTF");
  if (kernel->new_enough)
    check_say(check, CHECK_OK, "memlock",
              "maps are charged to the cgroup, RLIMIT_MEMLOCK does not matter");
}

static void check_privileges(struct check *check,
                             const struct probe_kernel *kernel) {
  if (kernel->cap_bpf && kernel->cap_perfmon)
    check_say(check, CHECK_OK, "privileges", "CAP_BPF and CAP_PERFMON");
  else
    check_say(
        check, CHECK_PROBLEM, "privileges",
        "%s%s%s missing: run as root, or give collectd these capabilities",
        kernel->cap_bpf ? "" : "CAP_BPF",
        !kernel->cap_bpf && !kernel->cap_perfmon ? " and " : "",
        kernel->cap_perfmon ? "" : "CAP_PERFMON");
  if (kernel->lockdown[0] == '\0' || strcmp(kernel->lockdown, "none") == 0)
    check_say(check, CHECK_OK, "lockdown", "%s",
              kernel->lockdown[0] ? kernel->lockdown
                                  : "not in this kernel, or not readable");
  else if (strcmp(kernel->lockdown, "integrity") == 0)
    check_say(check, CHECK_OK, "lockdown",
              "integrity: BPF programs may still read kernel memory");
  else
    check_say(check, CHECK_PROBLEM, "lockdown",
              "%s: BPF programs may not read kernel memory; boot with "
              "lockdown=integrity or without",
              kernel->lockdown);
}

static void check_bpffs(struct check *check, const char *pin_dir) {
  struct stat info;
  if (!probe_on_bpffs(pin_dir))
    check_say(check, CHECK_PROBLEM, "bpffs",
              "%s is not on a BPF file system: mount -t bpf bpf /sys/fs/bpf",
              pin_dir);
  else if (stat(pin_dir, &info) == 0 && (info.st_mode & 077) != 0)
    check_say(check, CHECK_PROBLEM, "bpffs",
              "%s is open to others (mode %04o): chmod 0700 it", pin_dir,
              info.st_mode & 07777);
  else
    check_say(check, CHECK_OK, "bpffs", "%s is on a BPF file system", pin_dir);
}

/* Says how one hook does; whether it fires. */
static bool check_hook(struct check *check, enum probe_hook hook,
                       const struct probe_kernel *kernel) {
  const char *name = probe_hook_name(hook);
  if (hook == PROBE_HOOK_LSM && kernel->bpf_lsm != PROBE_YES) {
    check_say(check, CHECK_NOTE, "hook",
              kernel->bpf_lsm == PROBE_NO
                  ? "%s: bpf is not among the active security modules (%s); "
                    "boot with lsm=%s,bpf to have it"
                  : "%s: /sys/kernel/security/lsm cannot be read",
              name, kernel->lsm_list, kernel->lsm_list);
    return false;
  }
  struct failure failure;
  int status = probe_hook(hook, &failure);
  if (status == 0)
    check_say(check, CHECK_OK, "hook", "%s fires", name);
  else
    check_say(check, CHECK_NOTE, "hook", "%s", failure.text);
  return status == 0 || status == -EINPROGRESS;
}

static void check_hooks(struct check *check,
                        const struct probe_kernel *kernel) {
  /* What inode_cache calls them. */
  static const char *const fronts[PROBE_HOOKS] = {
      [PROBE_HOOK_LSM] = "lsm",
      [PROBE_HOOK_FENTRY] = "fentry",
      [PROBE_HOOK_TRACEPOINT] = "syscall",
  };
  int first = -1;
  for (int hook = 0; hook < PROBE_HOOKS; hook++)
    if (check_hook(check, (enum probe_hook)hook, kernel) && first < 0)
      first = hook;
  if (first >= 0)
    check_say(check, CHECK_OK, "front",
              "inode_cache would count at its front %s (%s)", fronts[first],
              probe_hook_name((enum probe_hook)first));
  else
    check_say(check, CHECK_PROBLEM, "front",
              "no hook for file opens works here: see the lines above");
}

void check_machine(struct check *check, const char *pin_dir) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  check_kernel(check, &kernel);
  check_privileges(check, &kernel);
  check_bpffs(check, pin_dir);
  check_hooks(check, &kernel);
}
