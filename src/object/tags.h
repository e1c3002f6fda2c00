/* SPDX-License-Identifier: MIT */
/*
 * tags.h - the declaration tags of window.bpf.h in BTF: their words, and where each
 * may stand. One that is not known there is an error: taken for none, it would make
 * another counter of the one that was meant.
 */
#ifndef BPF_WINDOW_TAGS_H
#define BPF_WINDOW_TAGS_H

#include <stdbool.h>
#include <stdint.h>

#include "window/failure.h"

struct btf;
struct btf_type;

/* On functions and variables; the value follows. */
#define TAGS_FRONT "front="
#define TAGS_WITH_KSYM "with_ksym="
#define TAGS_WITHOUT_KSYM "without_ksym="

/* A name in the BTF, or "?" where the offset is none: libbpf does not check them. */
const char *tags_name_of(const struct btf *btf, uint32_t offset);

/* The text behind "bpf_window:" of a declaration tag, NULL for every other type. */
const char *tags_text(const struct btf *btf, const struct btf_type *type);

/* What follows a prefix in a text, or NULL. */
const char *tags_value(const char *text, const char *prefix);

/* Checks all tags in an object file's BTF. Errors: -EINVAL, with what is tagged, the
 * tag, and those that are known there. */
int tags_check(const struct btf *btf, struct failure *failure);

/* The same for a bucket's own tags alone: the struct's and its members'. */
int tags_check_bucket(const struct btf *btf, unsigned struct_id,
                      struct failure *failure);

/* The role of a bucket's member, BPF_WINDOW_ROLE_PLAIN without a tag. For a bucket
 * that was checked. */
uint32_t tags_role(const struct btf *btf, unsigned struct_id, int member);

/* The width of a bucket in ns, likewise; a second without a tag. */
uint64_t tags_width_ns(const struct btf *btf, unsigned struct_id);

#endif
