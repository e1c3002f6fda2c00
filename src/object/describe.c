/* SPDX-License-Identifier: MIT */
#include "describe.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "probe.h"
#include "tags.h"

/* ---- Fronts ---- */

/* Whether a tag of a function or variable is on the one of that kind and name. */
static bool is_tag_of(const struct btf *btf, const struct btf_type *tag,
                      int kind, const char *name) {
  const struct btf_type *tagged = btf__type_by_id(btf, tag->type);
  const char *text = tagged ? btf__name_by_offset(btf, tagged->name_off) : NULL;
  return text && btf_kind(tagged) == kind &&
         btf_decl_tag(tag)->component_idx == -1 && strcmp(text, name) == 0;
}

static bool wants(const struct btf *btf, int kind, const char *name,
                  const char *front, bool untagged) {
  bool tagged = false, matches = false;
  for (unsigned id = 1; id < btf__type_cnt(btf); id++) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    const char *text = tags_text(btf, type), *value;
    if (!text || !is_tag_of(btf, type, kind, name))
      continue;
    if ((value = tags_value(text, TAGS_FRONT))) {
      tagged = true;
      matches |= front && strcmp(value, front) == 0;
    } else if ((value = tags_value(text, TAGS_WITH_KSYM))) {
      if (!probe_symbol(value))
        return false;
    } else if ((value = tags_value(text, TAGS_WITHOUT_KSYM))) {
      if (probe_symbol(value))
        return false;
    }
  }
  return tagged ? matches : untagged;
}

bool describe_wants_function(const struct btf *btf, const char *name,
                             const char *front, bool untagged) {
  return wants(btf, BTF_KIND_FUNC, name, front, untagged);
}

bool describe_wants_map(const struct btf *btf, const char *name,
                        const char *front) {
  return wants(btf, BTF_KIND_VAR, name, front, true);
}

static int add_front(struct describe_fronts *fronts, const char *name,
                     struct failure *failure) {
  for (unsigned i = 0; i < fronts->count; i++)
    if (strcmp(fronts->name[i], name) == 0)
      return 0;
  if (fronts->count == DESCRIBE_MAX_FRONTS ||
      strlen(name) >= DESCRIBE_FRONT_SIZE)
    return failure_set(failure, -EINVAL,
                       "front %s: an object has at most %d fronts, with names "
                       "shorter than %d",
                       name, DESCRIBE_MAX_FRONTS, DESCRIBE_FRONT_SIZE);
  snprintf(fronts->name[fronts->count++], DESCRIBE_FRONT_SIZE, "%s", name);
  return 0;
}

/* BTF keeps functions, and so their tags, in the order of the source. */
int describe_fronts(const struct btf *btf, struct describe_fronts *fronts,
                    struct failure *failure) {
  int status = btf ? tags_check(btf, failure) : 0;
  fronts->count = 0;
  for (unsigned id = 1; status == 0 && btf && id < btf__type_cnt(btf); id++) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    const char *text = tags_text(btf, type);
    const char *name = text ? tags_value(text, TAGS_FRONT) : NULL;
    const struct btf_type *tagged =
        name ? btf__type_by_id(btf, type->type) : NULL;
    if (tagged && btf_is_func(tagged))
      status = add_front(fronts, name, failure);
  }
  return status;
}

/* ---- Buckets ---- */

static const struct btf_type *resolve(const struct btf *btf,
                                      unsigned *type_id) {
  int id = btf__resolve_type(btf, *type_id);
  if (id < 0)
    return NULL;
  *type_id = (unsigned)id;
  return btf__type_by_id(btf, (unsigned)id);
}

/* 1 for a __u64, n for __u64[n], 0 for anything else. */
static uint32_t values_of(const struct btf *btf, unsigned type_id) {
  const struct btf_type *type = resolve(btf, &type_id);
  uint32_t values = 1;
  if (type && btf_is_array(type)) {
    values = btf_array(type)->nelems;
    type_id = btf_array(type)->type;
    type = resolve(btf, &type_id);
  }
  return type && btf_is_int(type) && type->size == sizeof(uint64_t) ? values
                                                                    : 0;
}

static const struct btf_type *bucket_struct(const struct btf *btf,
                                            unsigned *type_id) {
  const struct btf_type *type = resolve(btf, type_id);
  if (!type || !btf_is_struct(type) || btf_vlen(type) < 2)
    return NULL;
  const struct btf_member *label = btf_members(type);
  const char *name = btf__name_by_offset(btf, label->name_off);
  return name && strcmp(name, "abs_bucket") == 0 &&
                 values_of(btf, label->type) == 1
             ? type
             : NULL;
}

bool describe_is_bucket(const struct btf *btf, unsigned type_id) {
  return bucket_struct(btf, &type_id);
}

bool describe_is_ring(const struct btf *btf, const struct bpf_map *map) {
  return bpf_map__type(map) == BPF_MAP_TYPE_PERCPU_ARRAY && btf &&
         describe_is_bucket(btf, bpf_map__btf_value_type_id(map));
}

uint64_t describe_hash(const void *bytes, size_t length) {
  const unsigned char *byte = bytes;
  uint64_t hash = 0xcbf29ce484222325ULL;
  for (size_t i = 0; i < length; i++)
    hash = (hash ^ byte[i]) * 0x100000001b3ULL;
  return hash;
}

int describe_struct(const struct btf *btf, unsigned type_id,
                    struct bpf_window_epoch *record, struct failure *failure) {
  const struct btf_type *type = bucket_struct(btf, &type_id);
  if (!type)
    return failure_set(failure, -EINVAL,
                       "its value is no struct that begins with __u64 "
                       "abs_bucket");
  const char *struct_name = tags_name_of(btf, type->name_off);
  memset(record, 0, sizeof(*record));
  record->format = BPF_WINDOW_FORMAT;
  record->slots = BPF_WINDOW_SLOTS;
  int status = tags_check_bucket(btf, type_id, failure);
  if (status != 0)
    return status;
  record->width_ns = tags_width_ns(btf, type_id);
  if (btf_vlen(type) - 1 > BPF_WINDOW_MAX_COUNTERS)
    return failure_set(failure, -EINVAL, "struct %s has over %d counters",
                       struct_name, BPF_WINDOW_MAX_COUNTERS);
  for (int member = 1; member < btf_vlen(type); member++) {
    const struct btf_member *field = &btf_members(type)[member];
    const char *name = btf__name_by_offset(btf, field->name_off);
    struct bpf_window_counter *counter = &record->counter[record->counters++];
    counter->values = values_of(btf, field->type);
    counter->role = tags_role(btf, type_id, member);
    if (!name || !*name || strlen(name) >= sizeof(counter->name))
      return failure_set(failure, -EINVAL,
                         "struct %s: the name of field %d is empty or has over "
                         "%zu characters",
                         struct_name, member, sizeof(counter->name) - 1);
    if (counter->values == 0 || counter->values > BPF_WINDOW_MAX_VALUES)
      return failure_set(failure, -EINVAL,
                         "field %s of struct %s must be a __u64 or an array of "
                         "at most %d of them",
                         name, struct_name, BPF_WINDOW_MAX_VALUES);
    if (counter->role == BPF_WINDOW_ROLE_LOG2 &&
        (counter->values < BPF_WINDOW_LOG2_MIN_SLOTS ||
         counter->values > BPF_WINDOW_LOG2_MAX_SLOTS))
      return failure_set(failure, -EINVAL,
                         "field %s of struct %s is tagged as a histogram "
                         "(BPF_WINDOW_LOG2): it must be an array of %d to %d "
                         "__u64",
                         name, struct_name, BPF_WINDOW_LOG2_MIN_SLOTS,
                         BPF_WINDOW_LOG2_MAX_SLOTS);
    strcpy(counter->name, name);
    record->values += counter->values;
  }
  if (record->values > BPF_WINDOW_MAX_VALUES ||
      type->size != (1 + record->values) * sizeof(uint64_t))
    return failure_set(failure, -EINVAL,
                       "struct %s must be a label and up to %d counters of 8 "
                       "bytes, without holes",
                       struct_name, BPF_WINDOW_MAX_VALUES);
  record->layout = describe_hash(record->counter,
                                 record->counters * sizeof(*record->counter));
  return 0;
}

int describe_window(const struct btf *btf, const struct bpf_map *ring,
                    struct bpf_window_epoch *record, struct failure *failure) {
  struct failure reason;
  int status =
      describe_struct(btf, bpf_map__btf_value_type_id(ring), record, &reason);
  if (status != 0)
    return failure_set(failure, status, "map %s: %.600s", bpf_map__name(ring),
                       reason.text);
  if (bpf_map__max_entries(ring) != BPF_WINDOW_SLOTS)
    return failure_set(failure, -EINVAL, "map %s has %u entries, a window %d",
                       bpf_map__name(ring), bpf_map__max_entries(ring),
                       BPF_WINDOW_SLOTS);
  return 0;
}
