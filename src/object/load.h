/* SPDX-License-Identifier: MIT */
/*
 * load.h - an object file, opened and loaded into the kernel with one of its fronts,
 * or a line that explains why not.
 */
#ifndef BPF_WINDOW_LOAD_H
#define BPF_WINDOW_LOAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "object/describe.h"
#include "window/failure.h"

struct bpf_object;
struct bpf_program;

/* The bytes of an object file. */
struct load_file {
  const char *name; /* of the object, for libbpf */
  const char *path;
  void *bytes; /* owned */
  size_t size;
  uint64_t content; /* hash of the bytes */
};

/* Errors: -ENOENT and the like with the path; -EFBIG over 16 MiB. */
int load_read_file(struct load_file *file, const char *name, const char *path,
                   struct failure *failure);
void load_free_file(struct load_file *file);

/* Parses the file. The caller closes *object. */
int load_open(const struct load_file *file, struct bpf_object **object,
              struct failure *failure);

/* Whether a program is to be loaded with a front; see describe_wants_function. */
bool load_wants(const struct btf *btf, const struct bpf_program *program,
                const char *front);

/* Leaves out what other fronts need (front NULL: everything tagged), refuses a front
 * of LSM programs where the BPF LSM is not active or not run. Call it before loading. */
int load_select_front(struct bpf_object *object, const char *front,
                      struct failure *failure);

/* Loads what was selected. */
int load_into_kernel(struct bpf_object *object, struct failure *failure);

/* One line on why the kernel refused to load or attach: cause and remedy. */
int load_explain(int status, const char *doing, struct failure *failure);

/* See object_log_libbpf. */
void load_log_libbpf(void (*log)(const char *line));

#endif
