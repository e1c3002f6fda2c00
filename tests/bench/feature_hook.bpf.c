/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The hooks of the inode cache alone: an open is seen and left alone. */
#include "feature_base.bpf.h"

#define INODE_CACHE_WATCHES() false

#include "inode_cache.bpf.c"

#include "feature_life.bpf.h"
