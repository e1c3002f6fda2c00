/* SPDX-License-Identifier: MIT */
/*
 * parts.h - what the files that make up object.h share. Private to them:
 *
 *   object.c   start, stop, what it is
 *   rings.c    the windows of an object file, and their maps
 *   attempt.c  loading and attaching with one front, and the first that works
 *   adopt.c    pins made, pins found again
 */
#ifndef BPF_WINDOW_PARTS_H
#define BPF_WINDOW_PARTS_H

#include "object.h"

#include <bpf_window/layout.h>

struct bpf_object;
struct load_file;

#define OBJECT_MAX_LINKS 64

struct object_link {
  int fd;
  char program[PINS_NAME_SIZE];
};

struct object {
  struct object_options options;
  enum object_origin origin;
  struct pins_record record;
  struct object_window window[OBJECT_MAX_WINDOWS];
  unsigned windows;
  int policy_fd, policy_state_fd; /* -1: the object has no policy */
  struct object_link link[OBJECT_MAX_LINKS];
  unsigned links;
  struct failure warning; /* empty if there is none */
};

/* ---- object.c ---- */

int object_keep_fd(int fd); /* a duplicate, or -1 */
void object_drop_windows(struct object *object);
void object_drop_links(struct object *object);
void object_drop_policy(struct object *object);

/* Puts the options' policy in force; marks wait until programs are attached. */
int object_install_policy(struct object *object, const struct policy *policy,
                          const struct policy_terms *terms,
                          struct failure *failure);

/* ---- rings.c ---- */

/* The windows that an object file declares. */
struct rings {
  struct ring {
    char name[PINS_NAME_SIZE]; /* a copy: bpf_map__reuse_fd frees the map's */
    struct bpf_window_epoch record; /* without epoch and tick */
  } ring[OBJECT_MAX_WINDOWS];
  unsigned count;
};

/* Errors: -EINVAL if there is none, or one that cannot be a window. */
int rings_find(struct rings *rings, struct bpf_object *opened, const char *path,
               struct failure *failure);

/* Whether the windows are those of old, name by name and layout by layout (O3).
 * Errors: those of old cannot be read. */
int rings_continue(const struct rings *rings, const struct object *old,
                   bool *same, struct failure *failure);

/* Before loading: the maps of old are to be used. */
int rings_reuse(const struct rings *rings, struct bpf_object *opened,
                const struct object *old, struct failure *failure);

/*
 * After loading: object keeps the maps. Fresh ones get their epoch and are
 * frozen (O4); edges go on from old, if that is not NULL.
 */
int rings_keep(const struct rings *rings, struct bpf_object *loaded,
               struct object *object, const struct object *old, bool fresh_maps,
               struct failure *failure);

/* ---- attempt.c ---- */

/* Loads and attaches with the first front that works; old: what is pinned, or
 * NULL. */
int attempt_fronts(struct object *object, const struct load_file *file,
                   struct object *old, struct failure *failure);

/* ---- adopt.c ---- */

/* Opens all that is pinned under the object's name. Errors: -ENOENT if there is
 * nothing, or not all that a window needs. */
int adopt_windows(struct object *object);

/* The same for links and policy. Errors: -ENOENT if links of the record are
 * gone. */
int adopt_programs(struct object *object);

/* Detaches the programs of what adopt_programs found, and waits until the
 * kernel has let go of them. What is pinned is not whole from then on. */
void adopt_detach(struct object *object);

/* Pins everything in a staging folder, then puts that in place (P1, P2). */
int adopt_pin_all(const struct object *object, struct failure *failure);

#endif
