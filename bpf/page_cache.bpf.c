/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * page_cache.bpf.c - how often file contents are found in memory, and how often
 * somebody has to wait for the disk. docs/page_cache.md says what each counter
 * means.
 *
 * The loader takes the first of these fronts that the kernel has:
 *
 * - fentry: the functions that look up pages for reads and faults, where the
 *   compiler has kept them. Whether the page is there is looked up here too, in
 *   the file's xarray. Only on x86-64, whose size of pages is known.
 * - tracepoint: mm_filemap_get_pages and mm_filemap_fault (Linux 6.12). The
 * first comes when the pages are there, so a miss is told by what the same task
 * has added meanwhile.
 */
#include "kernel_types.h"

#include <bpf/bpf_core_read.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_tracing.h>
#include <bpf_window/window.bpf.h>

/* What is watched: everything; a test may define it to be its own process. */
#ifndef PAGE_CACHE_WATCHES
#define PAGE_CACHE_WATCHES() true
#endif

char LICENSE[] SEC("license") = "Dual MIT/GPL";

/* lookups = hits + misses. Faults are apart: the kernel maps what is cached
 * around one fault, so those that would be hits seldom happen. */
struct page_cache_stats {
  __u64 abs_bucket;
  __u64 lookups BPF_WINDOW_TOTAL;
  __u64 hits BPF_WINDOW_HIT;
  __u64 misses BPF_WINDOW_MISS;
  __u64 faults;
  __u64 fault_misses;
  __u64 added;
};
BPF_WINDOW(page_cache, struct page_cache_stats);

/* ---- The file's xarray ---- */

/* Entries (linux/xarray.h): the two lowest bits tell pointers, 00, from the
 * kernel's own, 10, and from numbers, x1, which evicted pages leave behind. */
#define XA_NODE 2
#define XA_LARGEST_INTERNAL 4096

/* With six bits an index of 64 bits has eleven levels, with four sixteen. */
#define XA_MAX_LEVELS 16

static __always_inline bool is_node(__u64 entry) {
  return (entry & 3) == XA_NODE && entry > XA_LARGEST_INTERNAL;
}

/* The entry of a large folio's other pages: the slot of its first, times four. */
static __always_inline bool is_sibling(__u64 entry, __u32 slots) {
  return (entry & 3) == XA_NODE && entry >> 2 < slots;
}

static __always_inline __u64 slot_of(struct xa_node *node, __u32 slot) {
  __u64 entry = 0;
  bpf_probe_read_kernel(&entry, sizeof(entry),
                        (void *)&node->slots + slot * sizeof(entry));
  return entry;
}

/* What the xarray has at an index. Programs run as readers under RCU, so the
 * nodes stay; a change meanwhile is seen or not, as for the kernel's readers.
 */
static __always_inline __u64 find_entry(struct address_space *mapping,
                                        __u64 index) {
  __u32 slots =
      bpf_core_field_size(((struct xa_node *)0)->slots) / sizeof(void *);
  __u64 entry = (__u64)BPF_CORE_READ(mapping, i_pages.xa_head);
  if (!is_node(entry))
    return index == 0 ? entry : 0;
  for (int level = 0; level < XA_MAX_LEVELS && is_node(entry); level++) {
    struct xa_node *node = (void *)(entry - XA_NODE);
    __u64 place = index >> (BPF_CORE_READ(node, shift) & 63);
    if (level == 0 && place >= slots)
      return 0; /* behind the last page that the tree could have */
    entry = slot_of(node, place & (slots - 1));
    if (is_sibling(entry, slots))
      entry = slot_of(node, entry >> 2);
  }
  return entry;
}

/* Whether a page is there, be it still on its way from the disk. */
static __always_inline bool is_cached(struct address_space *mapping,
                                      __u64 index) {
  __u64 entry = find_entry(mapping, index);
  return entry && !(entry & 3);
}

/* ---- Counting ---- */

/* The hooks can be preempted by each other: all adds are atomic. */
static __always_inline int count_read(bool hit) {
  struct page_cache_stats *bucket = bpf_window_bucket(page_cache);
  if (!bucket)
    return 0;
  bpf_window_add(&bucket->lookups, 1);
  bpf_window_add(hit ? &bucket->hits : &bucket->misses, 1);
  return 0;
}

static __always_inline int count_fault(bool hit) {
  struct page_cache_stats *bucket = bpf_window_bucket(page_cache);
  if (!bucket)
    return 0;
  bpf_window_add(&bucket->faults, 1);
  if (!hit)
    bpf_window_add(&bucket->fault_misses, 1);
  return 0;
}

static __always_inline void count_added(void) {
  struct page_cache_stats *bucket = bpf_window_bucket(page_cache);
  if (bucket)
    bpf_window_add(&bucket->added, 1);
}

/* ---- The front fentry ---- */

#ifdef __TARGET_ARCH_x86
#define PAGE_SHIFT 12

SEC("fentry/filemap_get_pages")
BPF_WINDOW_FRONT(fentry)
int BPF_PROG(read_fentry, struct kiocb *iocb) {
  if (!PAGE_CACHE_WATCHES())
    return 0;
  struct address_space *mapping = BPF_CORE_READ(iocb, ki_filp, f_mapping);
  return count_read(
      is_cached(mapping, (__u64)BPF_CORE_READ(iocb, ki_pos) >> PAGE_SHIFT));
}

SEC("fentry/filemap_fault")
BPF_WINDOW_FRONT(fentry)
int BPF_PROG(fault_fentry, struct vm_fault *fault) {
  if (!PAGE_CACHE_WATCHES())
    return 0;
  struct address_space *mapping = BPF_CORE_READ(fault, vma, vm_file, f_mapping);
  return count_fault(is_cached(mapping, BPF_CORE_READ(fault, pgoff)));
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
BPF_WINDOW_FRONT(fentry)
int BPF_PROG(added_fentry) {
  if (PAGE_CACHE_WATCHES())
    count_added();
  return 0;
}
#endif

/* ---- The front tracepoint ---- */

/* Pages that a task has added to one file, one behind the other, since its last
 * look-up. */
struct own_pages {
  __u64 mapping;
  __u64 first;
  __u64 moment;
};

struct {
  __uint(type, BPF_MAP_TYPE_TASK_STORAGE);
  __uint(map_flags, BPF_F_NO_PREALLOC);
  __type(key, int);
  __type(value, struct own_pages);
} own_pages SEC(".maps") BPF_WINDOW_FRONT(tracepoint);

/* Grows when a task ends a read, a write or a fault: what it has added before
 * is not of the look-up that it makes now. */
static __always_inline __u64 moment_of(struct task_struct *task) {
  __u64 moment = task->min_flt + task->maj_flt;
  if (bpf_core_field_exists(task->ioac.syscr))
    moment += task->ioac.syscr + task->ioac.syscw;
  return moment;
}

SEC("tp_btf/mm_filemap_add_to_page_cache")
BPF_WINDOW_FRONT(tracepoint)
int BPF_PROG(added_tracepoint, struct folio *folio) {
  if (!PAGE_CACHE_WATCHES())
    return 0;
  count_added();
  struct task_struct *task = bpf_get_current_task_btf();
  struct own_pages *own =
      bpf_task_storage_get(&own_pages, task, 0, BPF_LOCAL_STORAGE_GET_F_CREATE);
  __u64 mapping = (__u64)folio->mapping, moment = moment_of(task);
  if (!own || (own->mapping == mapping && own->moment == moment))
    return 0; /* of the same readahead, which goes forward */
  own->mapping = mapping;
  own->first = folio->index;
  own->moment = moment;
  return 0;
}

/* A page that the task itself has just added was not there. What it added
 * further ahead was readahead for later. */
SEC("tp_btf/mm_filemap_get_pages")
BPF_WINDOW_FRONT(tracepoint)
int BPF_PROG(read_tracepoint, struct address_space *mapping, __u64 index) {
  if (!PAGE_CACHE_WATCHES())
    return 0;
  struct task_struct *task = bpf_get_current_task_btf();
  struct own_pages *own = bpf_task_storage_get(&own_pages, task, 0, 0);
  bool miss = own && own->mapping == (__u64)mapping &&
              own->moment == moment_of(task) && own->first <= index;
  if (own)
    own->mapping = 0;
  return count_read(!miss);
}

SEC("tp_btf/mm_filemap_fault")
BPF_WINDOW_FRONT(tracepoint)
int BPF_PROG(fault_tracepoint, struct address_space *mapping, __u64 index) {
  if (!PAGE_CACHE_WATCHES())
    return 0;
  return count_fault(is_cached(mapping, index));
}
