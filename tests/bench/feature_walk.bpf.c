/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The inode cache without its cache: every open walks. It counts nothing. */
#include "feature_base.bpf.h"

#undef bpf_window_bucket
#define bpf_window_bucket(NAME) ((struct NAME##_stats *)0)
#define find_verdict(file, front) ((struct cached_verdict *)0)
#define store_verdict(file, made_for, verdict, front) true
#define forget_verdict(file, front)

#include "inode_cache.bpf.c"

#include "feature_life.bpf.h"
