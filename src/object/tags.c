/* SPDX-License-Identifier: MIT */
#include "tags.h"

#include <ctype.h>
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/btf.h>

#include <bpf_window/layout.h>

#define PREFIX "bpf_window:"
#define BUCKET_NS "bucket_ns="

/* ---- Words ---- */

static const char *const roles[BPF_WINDOW_ROLES] = {
    [BPF_WINDOW_ROLE_TOTAL] = "total",
    [BPF_WINDOW_ROLE_HIT] = "hit",
    [BPF_WINDOW_ROLE_MISS] = "miss",
    [BPF_WINDOW_ROLE_LOG2] = "log2",
};

const char *tags_text(const struct btf *btf, const struct btf_type *type) {
  if (!btf_is_decl_tag(type))
    return NULL;
  const char *text = btf__name_by_offset(btf, type->name_off);
  return text ? tags_value(text, PREFIX) : NULL;
}

const char *tags_name_of(const struct btf *btf, uint32_t offset) {
  const char *name = btf__name_by_offset(btf, offset);
  return name ? name : "?";
}

const char *tags_value(const char *text, const char *prefix) {
  size_t length = strlen(prefix);
  return strncmp(text, prefix, length) == 0 ? text + length : NULL;
}

/* PLAIN for what is no role. */
static uint32_t role_named(const char *text) {
  for (uint32_t role = 1; role < BPF_WINDOW_ROLES; role++)
    if (strcmp(text, roles[role]) == 0)
      return role;
  return BPF_WINDOW_ROLE_PLAIN;
}

/* A number as C writes it, such as 10000000ULL; 0 for anything else. */
static uint64_t number_in(const char *text) {
  char *end;
  errno = 0;
  uint64_t number = strtoull(text, &end, 10);
  bool whole = isdigit((unsigned char)*text) && end[strspn(end, "uUlL")] == 0;
  return whole && errno == 0 ? number : 0;
}

/* ---- What is tagged ---- */

/* Calls visit for each tag on a type (struct_id 0: on any); stops at an error. */
static int for_each(const struct btf *btf, unsigned struct_id,
                    int (*visit)(const struct btf *btf,
                                 const struct btf_type *tag, const char *text,
                                 struct failure *failure),
                    struct failure *failure) {
  int status = 0;
  for (unsigned id = 1; status == 0 && id < btf__type_cnt(btf); id++) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    const char *text = tags_text(btf, type);
    if (text && (struct_id == 0 || type->type == struct_id))
      status = visit(btf, type, text, failure);
  }
  return status;
}

/* The text of the first tag there that is a role, or the width. */
static const char *find(const struct btf *btf, unsigned struct_id, int member) {
  for (unsigned id = 1; id < btf__type_cnt(btf); id++) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    const char *text = tags_text(btf, type);
    if (text && type->type == struct_id &&
        btf_decl_tag(type)->component_idx == member)
      return text;
  }
  return NULL;
}

#define WHAT_SIZE 192

/* "field hits of struct stats" and the like. */
static void name_tagged(const struct btf *btf, const struct btf_type *tag,
                        char what[WHAT_SIZE]) {
  const struct btf_type *type = btf__type_by_id(btf, tag->type);
  int member = btf_decl_tag(tag)->component_idx;
  const char *name = type ? tags_name_of(btf, type->name_off) : "?";
  const char *kind = !type                 ? "type"
                     : btf_is_struct(type) ? "struct"
                     : btf_is_func(type)   ? "function"
                     : btf_is_var(type)    ? "variable"
                                           : "type";
  if (type && btf_is_struct(type) && member >= 0 && member < btf_vlen(type))
    snprintf(what, WHAT_SIZE, "field %.64s of struct %.64s",
             tags_name_of(btf, btf_members(type)[member].name_off), name);
  else
    snprintf(what, WHAT_SIZE, "%s%s %.64s", member >= 0 ? "a part of " : "",
             kind, name);
}

/* ---- Where each may stand ---- */

static int refuse(const struct btf *btf, const struct btf_type *tag,
                  const char *text, const char *known,
                  struct failure *failure) {
  char what[WHAT_SIZE];
  name_tagged(btf, tag, what);
  return failure_set(failure, -EINVAL,
                     "%s has the tag \"" PREFIX "%.60s\", which is not known "
                     "there: it is misspelt, misplaced or of a newer version "
                     "(known: %s)",
                     what, text, known);
}

static int check_field(const struct btf *btf, const struct btf_type *tag,
                       const char *text, struct failure *failure) {
  if (role_named(text) == BPF_WINDOW_ROLE_PLAIN)
    return refuse(btf, tag, text, "total, hit, miss, log2", failure);
  const char *other = find(btf, tag->type, btf_decl_tag(tag)->component_idx);
  if (!other || strcmp(text, other) == 0)
    return 0;
  char what[WHAT_SIZE];
  name_tagged(btf, tag, what);
  return failure_set(failure, -EINVAL,
                     "%s has two tags, \"" PREFIX "%.60s\" and \"" PREFIX
                     "%.60s\": it can be one of them",
                     what, other, text);
}

static int check_width(const struct btf *btf, const struct btf_type *tag,
                       const char *text, struct failure *failure) {
  const char *value = tags_value(text, BUCKET_NS);
  if (!value)
    return refuse(btf, tag, text, BUCKET_NS "NUMBER", failure);
  if (number_in(value) != 0)
    return 0;
  char what[WHAT_SIZE];
  name_tagged(btf, tag, what);
  return failure_set(failure, -EINVAL,
                     "%s: its width in BPF_WINDOW_BUCKET_NS must be a number "
                     "of ns, not \"%.60s\"",
                     what, value);
}

static int check_declaration(const struct btf *btf, const struct btf_type *tag,
                             const char *text, struct failure *failure) {
  static const char *const known[] = {TAGS_FRONT, TAGS_WITH_KSYM,
                                      TAGS_WITHOUT_KSYM};
  for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++) {
    const char *value = tags_value(text, known[i]);
    if (value && *value)
      return 0;
  }
  return refuse(btf, tag, text,
                TAGS_FRONT "NAME, " TAGS_WITH_KSYM "SYMBOL, " TAGS_WITHOUT_KSYM
                           "SYMBOL",
                failure);
}

static int check(const struct btf *btf, const struct btf_type *tag,
                 const char *text, struct failure *failure) {
  const struct btf_type *tagged = btf__type_by_id(btf, tag->type);
  bool whole = btf_decl_tag(tag)->component_idx == -1;
  if (tagged && btf_is_struct(tagged))
    return (whole ? check_width : check_field)(btf, tag, text, failure);
  if (tagged && whole && (btf_is_func(tagged) || btf_is_var(tagged)))
    return check_declaration(btf, tag, text, failure);
  return refuse(btf, tag, text, "none", failure);
}

int tags_check(const struct btf *btf, struct failure *failure) {
  return for_each(btf, 0, check, failure);
}

static int check_of_bucket(const struct btf *btf, const struct btf_type *tag,
                           const char *text, struct failure *failure) {
  if (btf_decl_tag(tag)->component_idx == 0) /* the label */
    return refuse(btf, tag, text, "none", failure);
  return check(btf, tag, text, failure);
}

int tags_check_bucket(const struct btf *btf, unsigned struct_id,
                      struct failure *failure) {
  return for_each(btf, struct_id, check_of_bucket, failure);
}

/* ---- What they say ---- */

uint32_t tags_role(const struct btf *btf, unsigned struct_id, int member) {
  const char *text = find(btf, struct_id, member);
  return text ? role_named(text) : BPF_WINDOW_ROLE_PLAIN;
}

uint64_t tags_width_ns(const struct btf *btf, unsigned struct_id) {
  const char *text = find(btf, struct_id, -1);
  const char *value = text ? tags_value(text, BUCKET_NS) : NULL;
  return value ? number_in(value) : BPF_WINDOW_WIDTH_NS;
}
