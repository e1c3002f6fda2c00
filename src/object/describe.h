/* SPDX-License-Identifier: MIT */
/*
 * describe.h - what an object file says of itself in its BTF: its windows, their
 * counters and roles, and which programs and maps belong to which front.
 */
#ifndef BPF_WINDOW_DESCRIBE_H
#define BPF_WINDOW_DESCRIBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include <bpf_window/layout.h>

#include "window/failure.h"

struct bpf_map;
struct btf;

/* Whether a map is the ring of a window: a per-CPU array whose value is a struct
 * that begins with abs_bucket. */
bool describe_is_ring(const struct btf *btf, const struct bpf_map *map);

/* The same for a struct given by its BTF id. */
bool describe_is_bucket(const struct btf *btf, unsigned type_id);

/*
 * Fills the record of a ring's counters: names, roles, lengths, layout hash, slots,
 * format, width. The epoch and the tick stay 0. Errors: -EINVAL, with the field that cannot be in a
 * bucket, or its tag that is not known.
 */
int describe_window(const struct btf *btf, const struct bpf_map *ring,
                    struct bpf_window_epoch *record, struct failure *failure);

/* The same for a struct given by its BTF id. */
int describe_struct(const struct btf *btf, unsigned type_id,
                    struct bpf_window_epoch *record, struct failure *failure);

#define DESCRIBE_MAX_FRONTS 8
#define DESCRIBE_FRONT_SIZE 16

struct describe_fronts {
  char name[DESCRIBE_MAX_FRONTS][DESCRIBE_FRONT_SIZE];
  unsigned count; /* 0: the object has one way only, untagged */
};

/* The fronts in the order in which the programs of the source name them. Errors:
 * -EINVAL if they are too many, or for a tag anywhere in the object that is not known
 * (see tags.h). */
int describe_fronts(const struct btf *btf, struct describe_fronts *fronts,
                    struct failure *failure);

/*
 * Whether a program (or map) is to be loaded with that front (NULL: none): its front
 * tag is this one, or it has none and untagged says so (a program of SEC("?...") is
 * not loaded unless asked for). And not if it is only for kernels without a symbol
 * that this kernel has.
 */
bool describe_wants_function(const struct btf *btf, const char *name,
                             const char *front, bool untagged);
bool describe_wants_map(const struct btf *btf, const char *name,
                        const char *front);

/* FNV-1a, 64 bits: the same on every machine, and no secret is at stake. */
uint64_t describe_hash(const void *bytes, size_t length);

#endif
