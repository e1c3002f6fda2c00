/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The inode cache with its policy and its cache, counting nothing. */
#include "feature_base.bpf.h"

#undef bpf_window_bucket
#define bpf_window_bucket(NAME) ((struct NAME##_stats *)0)

#include "inode_cache.bpf.c"

#include "feature_life.bpf.h"
