/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "object/pins.h"
#include "window/clock.h"

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

static void check_clock(struct check *check) {
  struct failure failure;
  if (clock_check(&failure) == 0)
    check_say(check, CHECK_OK, "clock", "CLOCK_MONOTONIC is the kernel's");
  else
    check_say(check, CHECK_PROBLEM, "clock", "%s", failure.text);
}

static void check_bpffs(struct check *check, const char *pin_dir) {
  struct stat info;
  struct failure failure;
  if (pins_check_root(pin_dir, &failure) != 0)
    check_say(check, CHECK_PROBLEM, "bpffs", "%s", failure.text);
  else if (stat(pin_dir, &info) == 0 && (info.st_mode & 077) != 0)
    check_say(check, CHECK_PROBLEM, "bpffs",
              "%s is open to others (mode %04o): chmod 0700 it", pin_dir,
              info.st_mode & 07777);
  else
    check_say(check, CHECK_OK, "bpffs", "%s is on a BPF file system", pin_dir);
}

static void check_hook(struct check *check, enum probe_hook hook) {
  struct failure failure;
  int status = probe_hook(hook, &failure);
  check->hook[hook] =
      status == 0 || status == -EINPROGRESS ? PROBE_YES : PROBE_NO;
  if (status == 0)
    check_say(check, CHECK_OK, "hook", "%s fires", probe_hook_name(hook));
  else
    check_say(check, CHECK_NOTE, "hook", "%s: %s", probe_hook_name(hook),
              failure.text);
}

static void check_front(struct check *check) {
  /* What inode_cache calls them. */
  static const char *const fronts[PROBE_HOOKS] = {
      [PROBE_HOOK_LSM] = "lsm",
      [PROBE_HOOK_FENTRY] = "fentry",
      [PROBE_HOOK_TRACEPOINT] = "syscall",
  };
  for (int hook = 0; hook < PROBE_HOOKS; hook++)
    if (check->hook[hook] == PROBE_YES) {
      check_say(check, CHECK_OK, "front",
                "inode_cache would count at its front %s (%s)", fronts[hook],
                probe_hook_name((enum probe_hook)hook));
      return;
    }
  check_say(check, CHECK_PROBLEM, "front",
            "no hook for file opens works here: see the lines above");
}

static void check_hooks(struct check *check,
                        const struct probe_kernel *kernel) {
  for (int hook = 0; hook < PROBE_HOOKS; hook++)
    check->hook[hook] = PROBE_UNKNOWN;
  if (!kernel->cap_bpf || !kernel->cap_perfmon) {
    check_say(check, CHECK_NOTE, "front", "not tried (needs root)");
    return;
  }
  for (int hook = 0; hook < PROBE_HOOKS; hook++)
    check_hook(check, (enum probe_hook)hook);
  check_front(check);
}

void check_machine(struct check *check, const char *pin_dir) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  check_kernel(check, &kernel);
  check_privileges(check, &kernel);
  check_clock(check);
  check_bpffs(check, pin_dir);
  check_hooks(check, &kernel);
}
