/* SPDX-License-Identifier: MIT */
/*
 * probe_hook.h - whether programs of a kind are not only accepted, but run.
 *
 * An empty program is loaded, attached and detached again; it has no map. While
 * it is attached the kernel counts its runs, and one event is made.
 */
#ifndef BPF_WINDOW_PROBE_HOOK_H
#define BPF_WINDOW_PROBE_HOOK_H

#include "window/failure.h"

enum probe_hook {
  PROBE_HOOK_LSM,        /* lsm/file_open */
  PROBE_HOOK_FENTRY,     /* fentry/security_file_open */
  PROBE_HOOK_TRACEPOINT, /* tp_btf/sys_exit */
  PROBE_HOOKS,
};

const char *probe_hook_name(enum probe_hook hook);

/*
 * 0: it fires. -ENOTSUP: it was attached but never ran, as some kernels (5.10) do
 * with LSM programs; or bpf is no active security module. -EINPROGRESS: attached,
 * and whether it runs cannot be told (no run statistics). Else the error of
 * loading or attaching, with a text.
 */
int probe_hook(enum probe_hook hook, struct failure *failure);

#endif
