/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * feature_base.bpf.h - all that inode_cache.bpf.c includes and that a variant
 * of it takes something away from. The variants then define those names away in
 * front of the file itself, so that everything else is what is shipped.
 */
#include "kernel_types.h"

#include "file_policy.h"
#include "verdict_cache.bpf.h"

#include "open_verdict.bpf.h"
#include <bpf_window/window.bpf.h>
