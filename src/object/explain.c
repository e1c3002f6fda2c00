/* SPDX-License-Identifier: MIT */
#include "explain.h"

#include <errno.h>
#include <string.h>

#include "probe.h"

int explain_refusal(int status, const char *doing, const char *said,
                    struct failure *failure) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  if (!kernel.cap_bpf || !kernel.cap_perfmon)
    return failure_set(failure, status,
                       "%s needs the capabilities CAP_BPF and CAP_PERFMON (run "
                       "as root, or grant them in the service's unit)",
                       doing);
  if (strcmp(kernel.lockdown, "confidentiality") == 0)
    return failure_set(failure, status,
                       "%s is forbidden by the kernel's lockdown "
                       "(confidentiality): boot without it",
                       doing);
  if (!kernel.btf)
    return failure_set(failure, status,
                       "%s needs /sys/kernel/btf/vmlinux: use a kernel built "
                       "with CONFIG_DEBUG_INFO_BTF (%s)",
                       doing, said);
  /* libbpf looks for a function that this kernel lacks in its modules, too. */
  if (strstr(said, "iterate BTF objects"))
    return failure_set(failure, status,
                       "%s needs the capability CAP_SYS_ADMIN, too, on this "
                       "kernel (%s): the object names a kernel function which "
                       "it lacks (run as root, or grant it in the service's "
                       "unit)",
                       doing, kernel.release);
  /* For the addresses of symbols; a unit of systemd can take it away. */
  if (strstr(said, "failed to open /proc/kallsyms"))
    return failure_set(failure, status,
                       "%s needs to read /proc/kallsyms (is "
                       "ProtectKernelTunables or ProcSubset set in the "
                       "service's unit?)",
                       doing);
  if (strstr(said, "failed to determine tracepoint")) {
    struct failure reason;
    if (explain_tracefs(&reason) != 0)
      return failure_set(failure, status, "%s: %.600s", doing, reason.text);
  }
  switch (status) {
  case -EPERM:
    return failure_set(
        failure, status,
        "%s is not permitted: this kernel (%s) refuses this type "
        "of program",
        doing, kernel.release);
  case -ESRCH:
  case -ENOENT:
    return failure_set(failure, status,
                       "%s: this kernel (%s) lacks what the program is to be "
                       "attached to: %s",
                       doing, kernel.release, said);
  default:
    return failure_set(failure, status, "%s is refused by this kernel (%s): %s",
                       doing, kernel.release, said);
  }
}

int explain_lsm(struct failure *failure) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  if (kernel.bpf_lsm == PROBE_YES)
    return 0;
  if (kernel.bpf_lsm == PROBE_NO)
    return failure_set(failure, -ENOTSUP,
                       "bpf is not among the active security modules (add it "
                       "to lsm=%s on the kernel's command line)",
                       kernel.lsm_list);
  return failure_set(
      failure, -ENOTSUP,
      "/sys/kernel/security/lsm cannot be read, so bpf is not known to be an "
      "active security module (%s)",
      kernel.securityfs
          ? "the kernel has none"
          : "mount -t securityfs securityfs /sys/kernel/security");
}

int explain_tracefs(struct failure *failure) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  return kernel.tracefs
             ? 0
             : failure_set(failure, -ENOENT,
                           "a program at a tracepoint needs tracefs: mount -t "
                           "tracefs tracefs /sys/kernel/tracing");
}
