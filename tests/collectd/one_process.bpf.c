/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The inode cache, watching processes named "open_known_file" only, so that a test knows
 * the count of every event. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

static __always_inline int is_open_known_files(void) {
  char name[16];
  return bpf_get_current_comm(name, sizeof(name)) == 0 &&
         *(__u64 *)name == 0x6f6e6b5f6e65706fULL /* "open_kno" */;
}
#define INODE_CACHE_WATCHES() is_open_known_files()
#include "inode_cache.bpf.c"
