/* SPDX-License-Identifier: MIT */
/*
 * object.h - the life of a BPF object: loaded, attached, pinned, adopted,
 * removed.
 *
 * O1  An object counts from object_start to object_stop; with keep, beyond.
 * O2  What is pinned and unchanged is adopted: its programs were never stopped and
 *     its totals go on.
 * O3  Same buckets, other programs: the new programs take over the old maps. The old
 *     ones are detached right before the new ones are attached, some milliseconds in
 *     which nothing is counted; where a policy is enforced right after, and what
 *     happens while both are there is counted twice. Other buckets: new maps; old
 *     bytes are never read under new names.
 * O4  The maps of a window are frozen before the first program is attached: system
 *     calls can read them, not write. Programs still count.
 * O5  A failed object_start leaves nothing attached or pinned that was not before.
 */
#ifndef BPF_WINDOW_OBJECT_H
#define BPF_WINDOW_OBJECT_H

#include <stdbool.h>
#include <stdint.h>

#include "object/pins.h"
#include "object/policy.h"
#include "window/failure.h"

struct object; /* owns descriptors of its maps and links */

#define OBJECT_MAX_WINDOWS 16

/* The strings and what else is pointed to must outlive the object. */
struct object_options {
  const char *name; /* the folder of its pins; see pins_check_name */
  const char *path; /* the object file */
  const struct pins_root *pins; /* NULL: unpinned, ends with this process */
  const char *front; /* use this front only; NULL: the first that works */
  const struct policy
      *policy; /* for objects with a file_policy map; may be NULL */
  struct policy_terms terms; /* of that policy */
};

struct object_window {
  char name[PINS_NAME_SIZE];
  int ring_fd, epoch_fd, cursor_fd;
  int edge_fd; /* ARRAY of one struct pins_edge, writable */
};

/* How an object came to run. */
enum object_origin {
  OBJECT_LOADED,     /* nothing was there */
  OBJECT_ADOPTED,    /* O2 */
  OBJECT_UPGRADED,   /* O3: new programs, old maps */
  OBJECT_REATTACHED, /* the same, since programs of this file were detached */
  OBJECT_REPLACED,   /* O3: new maps: totals begin at 0 */
};

/*
 * Starts an object. The file is read once. Errors: -errno with a text that
 * names the file or pin, the cause and the remedy.
 */
int object_start(struct object **object, const struct object_options *options,
                 struct failure *failure);

/*
 * Releases the object, also when it fails. keep: pins and links stay, and with
 * them the counting. Errors: -errno if pins could not be removed; then the
 * programs they hold go on counting.
 */
int object_stop(struct object **object, bool keep, struct failure *failure);

unsigned object_windows(const struct object *object,
                        const struct object_window **windows);
enum object_origin object_origin(const struct object *object);

/* What is in the object's record: front in use, why not an earlier one. */
const struct pins_record *object_record(const struct object *object);

/* What does not keep it from running but should be known; empty if there is
 * none. */
const char *object_warning(const struct object *object);

/* Pins again what somebody removed while the object was running; its programs
 * and maps live on meanwhile. 1 if something had to be mended, 0 if not, or
 * -errno. */
int object_mend_pins(struct object *object, struct failure *failure);

/* Puts another policy in force, atomically for the programs. */
int object_set_policy(struct object *object, const struct policy *policy,
                      const struct policy_terms *terms,
                      struct failure *failure);

/*
 * libbpf's own messages go to log (NULL: nowhere), one line each without
 * newline. For the whole process; call it before the first object_start.
 */
void object_log_libbpf(void (*log)(const char *line));

#endif
