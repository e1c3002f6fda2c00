/* SPDX-License-Identifier: (MIT OR GPL-2.0-only) */
/*
 * setup.h - for agents that load their BPF objects themselves, with libbpf:
 * makes the windows of an object ready to count, and pins them.
 *
 *   my_agent_bpf__load(skeleton);
 *   bpf_window_setup(skeleton->obj, "my_stats");
 *   bpf_window_pin(skeleton->obj, "my_stats", "/sys/fs/bpf/my_agent");
 *   my_agent_bpf__attach(skeleton);
 *
 * Nothing is counted before bpf_window_setup; bpf_window_pin lets others read.
 *
 * An object that the collectd plugin loads needs none of this. For C and C++;
 * nothing but libbpf (1.0) is linked.
 */
#ifndef BPF_WINDOW_SETUP_H
#define BPF_WINDOW_SETUP_H

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "layout.h"

/* The text behind "bpf_window:" of a declaration tag on a member of a struct,
 * or on the struct itself (-1); NULL for every other type. */
static inline const char *bpf_window__tag(const struct btf *btf, __u32 id,
                                          __u32 struct_id, int member) {
  const struct btf_type *type = btf__type_by_id(btf, id);
  if (!btf_is_decl_tag(type) || type->type != struct_id ||
      btf_decl_tag(type)->component_idx != member)
    return NULL;
  const char *text = btf__name_by_offset(btf, type->name_off);
  return text && strncmp(text, "bpf_window:", 11) == 0 ? text + 11 : NULL;
}

/* BPF_WINDOW_ROLES for a tag that is not known, and for two that differ. */
static inline __u32 bpf_window__role(const struct btf *btf, __u32 struct_id,
                                     int member) {
  static const char *const names[BPF_WINDOW_ROLES] = {"", "total", "hit",
                                                      "miss", "log2"};
  __u32 found = BPF_WINDOW_ROLE_PLAIN;
  for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
    const char *text = bpf_window__tag(btf, id, struct_id, member);
    __u32 role = 1;
    while (text && role < BPF_WINDOW_ROLES && strcmp(text, names[role]) != 0)
      role++;
    if (text && found != BPF_WINDOW_ROLE_PLAIN && found != role)
      return BPF_WINDOW_ROLES;
    if (text)
      found = role;
  }
  return found;
}

/* 0 for what is no number. */
static inline __u64 bpf_window__width_ns(const struct btf *btf,
                                         __u32 struct_id) {
  for (__u32 id = 1; id < btf__type_cnt(btf); id++) {
    const char *text = bpf_window__tag(btf, id, struct_id, -1);
    char *end;
    if (!text)
      continue;
    if (strncmp(text, "bucket_ns=", 10) != 0 || text[10] < '0' ||
        text[10] > '9')
      return 0;
    __u64 width_ns = strtoull(text + 10, &end, 10);
    return end[strspn(end, "uUlL")] == '\0' && width_ns != ~0ULL ? width_ns : 0;
  }
  return BPF_WINDOW_WIDTH_NS;
}

/* 1 for a __u64, n for __u64[n], 0 for anything else. */
static inline __u32 bpf_window__values(const struct btf *btf, __u32 type_id) {
  const struct btf_type *type =
      btf__type_by_id(btf, (__u32)btf__resolve_type(btf, type_id));
  __u32 values = 1;
  if (type && btf_is_array(type)) {
    values = btf_array(type)->nelems;
    type = btf__type_by_id(
        btf, (__u32)btf__resolve_type(btf, btf_array(type)->type));
  }
  return type && btf_is_int(type) && type->size == sizeof(__u64) ? values : 0;
}

/* FNV-1a. */
static inline __u64 bpf_window__hash(const void *bytes, size_t length) {
  const unsigned char *byte = (const unsigned char *)bytes;
  __u64 hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3ULL;
  return hash;
}

/* BTF of others may have names that are not in it. */
static inline int bpf_window__is_label(const struct btf *btf,
                                       const struct btf_member *member) {
  const char *name = btf__name_by_offset(btf, member->name_off);
  return name && strcmp(name, "abs_bucket") == 0;
}

/*
 * Fills the record of the bucket that is the struct type_id: all but its times,
 * epoch_ns and tick_ns, which stay 0. Errors: -EINVAL if it is no bucket, or has
 * a tag that is not known.
 */
static inline int bpf_window_describe(const struct btf *btf, __u32 type_id,
                                      struct bpf_window_epoch *record) {
  int id = btf__resolve_type(btf, type_id);
  const struct btf_type *type = id < 0 ? NULL : btf__type_by_id(btf, (__u32)id);
  memset(record, 0, sizeof(*record));
  if (!type || !btf_is_struct(type) || btf_vlen(type) < 2 ||
      btf_vlen(type) - 1 > BPF_WINDOW_MAX_COUNTERS ||
      !bpf_window__is_label(btf, btf_members(type)))
    return -EINVAL;
  record->format = BPF_WINDOW_FORMAT;
  record->slots = BPF_WINDOW_SLOTS;
  record->width_ns = bpf_window__width_ns(btf, (__u32)id);
  for (int member = 1; member < btf_vlen(type); member++) {
    const struct btf_member *field = &btf_members(type)[member];
    const char *name = btf__name_by_offset(btf, field->name_off);
    struct bpf_window_counter *counter = &record->counter[record->counters++];
    counter->values = bpf_window__values(btf, field->type);
    counter->role = bpf_window__role(btf, (__u32)id, member);
    if (!name || !*name || strlen(name) >= sizeof(counter->name) ||
        counter->values == 0 || counter->role >= BPF_WINDOW_ROLES)
      return -EINVAL;
    if (counter->role == BPF_WINDOW_ROLE_LOG2 &&
        (counter->values < BPF_WINDOW_LOG2_MIN_SLOTS ||
         counter->values > BPF_WINDOW_LOG2_MAX_SLOTS))
      return -EINVAL;
    memcpy(counter->name, name, strlen(name));
    record->values += counter->values;
  }
  if (record->width_ns == 0 ||
      bpf_window__role(btf, (__u32)id, 0) != BPF_WINDOW_ROLE_PLAIN ||
      record->values > BPF_WINDOW_MAX_VALUES ||
      type->size != (1 + record->values) * sizeof(__u64))
    return -EINVAL;
  record->layout = bpf_window__hash(
      record->counter, record->counters * sizeof(*record->counter));
  return 0;
}

/* Bucket edges fall on multiples of the width on the wall clock; the first
 * bucket has number 1 or more. */
static inline void bpf_window__set_times(struct bpf_window_epoch *record) {
  struct timespec tick, mono, wall;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  clock_gettime(CLOCK_MONOTONIC, &mono);
  clock_gettime(CLOCK_REALTIME, &wall);
  __u64 mono_ns = (__u64)mono.tv_sec * 1000000000ULL + (__u64)mono.tv_nsec;
  __u64 wall_ns = (__u64)wall.tv_sec * 1000000000ULL + (__u64)wall.tv_nsec;
  record->tick_ns = (__u64)tick.tv_nsec;
  record->epoch_ns = mono_ns - wall_ns % record->width_ns - record->width_ns;
}

static inline struct bpf_map *bpf_window__map(const struct bpf_object *object,
                                              const char *name,
                                              const char *suffix) {
  char full[128];
  snprintf(full, sizeof(full), "%s%s", name, suffix);
  return bpf_object__find_map_by_name(object, full);
}

/*
 * Makes a window of a loaded object ready: writes its record and freezes its
 * maps, so that system calls can read them but not write. Call it before the
 * programs are attached. Maps that were taken over (bpf_map__reuse_fd) and have
 * the same counters go on where they were. Errors: -ENOENT if the object has no
 * such window, -EINVAL if its bucket is none, -EEXIST if it was taken over and
 * has other counters, -errno of the kernel.
 */
static inline int bpf_window_setup(const struct bpf_object *object,
                                   const char *name) {
  struct bpf_map *ring = bpf_window__map(object, name, "");
  struct bpf_map *epoch = bpf_window__map(object, name, "_epoch");
  struct bpf_map *cursor = bpf_window__map(object, name, "_cursor");
  struct bpf_window_epoch record, old;
  __u32 zero = 0;
  if (!ring || !epoch || !cursor)
    return -ENOENT;
  if (bpf_map__value_size(epoch) != sizeof(record) || !bpf_object__btf(object))
    return -EINVAL;
  int status = bpf_window_describe(bpf_object__btf(object),
                                   bpf_map__btf_value_type_id(ring), &record);
  if (status != 0)
    return status;
  if (bpf_map_lookup_elem(bpf_map__fd(epoch), &zero, &old) != 0)
    return -errno;
  if (old.width_ns != 0)
    return old.layout == record.layout && old.width_ns == record.width_ns
               ? 0
               : -EEXIST;
  bpf_window__set_times(&record);
  if (bpf_map_update_elem(bpf_map__fd(epoch), &zero, &record, BPF_ANY) != 0 ||
      bpf_map_freeze(bpf_map__fd(ring)) != 0 ||
      bpf_map_freeze(bpf_map__fd(epoch)) != 0 ||
      bpf_map_freeze(bpf_map__fd(cursor)) != 0)
    return -errno;
  return 0;
}

/*
 * Pins the three maps of a window into a folder on a BPF filesystem, under
 * their own names, which is where others find it. The folder is made, with mode
 * 0700, if it is not there; that above it must be. Errors: -ENOENT if the
 * object has no such window, -errno of the kernel; -EEXIST if a pin is there.
 */
static inline int bpf_window_pin(const struct bpf_object *object,
                                 const char *name, const char *folder) {
  static const char *const suffixes[] = {"_epoch", "_cursor", ""};
  char path[3][512];
  int pinned = 0, error = 0;
  if (mkdir(folder, 0700) != 0 && errno != EEXIST)
    return -errno;
  /* Who sees the ring sees the rest. */
  for (; pinned < 3; pinned++) {
    struct bpf_map *map = bpf_window__map(object, name, suffixes[pinned]);
    if (!map)
      error = -ENOENT;
    else if (snprintf(path[pinned], sizeof(path[pinned]), "%s/%s%s", folder,
                      name, suffixes[pinned]) >= (int)sizeof(path[pinned]))
      error = -ENAMETOOLONG;
    else if (bpf_obj_pin(bpf_map__fd(map), path[pinned]) != 0)
      error = -errno;
    if (error != 0)
      break;
  }
  while (error != 0 && pinned > 0)
    remove(path[--pinned]);
  return error;
}

/* Removes these pins; the folder too, if nothing else is in it. */
static inline void bpf_window_unpin(const char *name, const char *folder) {
  static const char *const suffixes[] = {"", "_cursor", "_epoch"};
  char path[512];
  for (int i = 0; i < 3; i++) {
    snprintf(path, sizeof(path), "%s/%s%s", folder, name, suffixes[i]);
    remove(path);
  }
  remove(folder);
}

#endif
