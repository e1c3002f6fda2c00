/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/* The window page_cache, watching page_load only, while that has its other
 * name. */
#include <linux/bpf.h>

#include <bpf/bpf_helpers.h>

static __always_inline int is_page_load(void) {
  char name[16];
  return bpf_get_current_comm(name, sizeof(name)) == 0 &&
         *(__u64 *)name == 0x616f6c2d65676170ULL; /* "page-loa" */
}
#define PAGE_CACHE_WATCHES() is_page_load()
#include "page_cache.bpf.c"
