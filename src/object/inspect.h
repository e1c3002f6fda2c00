/* SPDX-License-Identifier: MIT */
/*
 * inspect.h - what is in an object file, without loading it.
 */
#ifndef BPF_WINDOW_INSPECT_H
#define BPF_WINDOW_INSPECT_H

#include <stddef.h>

#include "describe.h"
#include "pins.h"

struct inspect_window {
  char name[PINS_NAME_SIZE];
  struct bpf_window_epoch record; /* the times are 0 */
};

struct inspect_object {
  struct inspect_window *window; /* owned */
  size_t windows;
  struct describe_fronts fronts;
  /* Of each front, or with none of the object: a bit for each enum probe_hook
   * that its programs are of. */
  unsigned hooks[DESCRIBE_MAX_FRONTS];
  bool at_tracepoints; /* a program is attached by way of tracefs */
  bool has_policy;     /* it judges files */
};

/* Errors: those of load_read_file and load_open, and what is refused of the windows of an
 * object that starts. */
int inspect_file(const char *path, struct inspect_object *object,
                 struct failure *failure);
void inspect_free(struct inspect_object *object);

#endif
