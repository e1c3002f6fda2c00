/* SPDX-License-Identifier: MIT */
/*
 * pins.h - the folder on bpffs in which objects stay alive without a process.
 *
 *   <root>/                     mode 0700, locked by the process that owns it
 *     <object>/                 all pins of an object, whole or not there
 *       record                  struct pins_record: what was loaded, and how
 *       <map>                   the maps of its windows and of its policy
 *       <window>_edge           the newest edge that was dispatched
 *       link_<program>          keeps a program attached
 *     staging_<object>/         being filled; left over only by a crash
 *     other-windows/            no object can have this name
 *       <window>                struct pins_watch: of a window that others own, what
 *                               was dispatched last
 *
 * P1  A folder with a record is whole: the record is the last pin to be made.
 * P2  An object's folder is replaced by filling a staging folder and renaming it, and
 *     removed by renaming it to "staging_-<object>". Whatever a crash leaves is mended by
 *     the next pins_open: a staged folder with a record takes its place, every other
 *     staged one is removed. Folders of other names are never touched.
 */
#ifndef BPF_WINDOW_PINS_H
#define BPF_WINDOW_PINS_H

#include <stdbool.h>
#include <stdint.h>

#include <bpf_window/layout.h>

#include "window/failure.h"

#define PINS_ROOT "/sys/fs/bpf/bpf_window"
#define PINS_PATH_SIZE 256
#define PINS_NAME_SIZE 64

#define PINS_RECORD "record"
#define PINS_LINK_PREFIX "link_"
#define PINS_STAGING_PREFIX "staging_"
#define PINS_EDGE_SUFFIX "_edge"

#define PINS_FORMAT 1

/* The value of map `record`. */
struct pins_record {
  uint64_t format;    /* PINS_FORMAT */
  uint64_t content;   /* hash of the object file */
  uint64_t loaded_at; /* wall clock, seconds */
  uint64_t links;     /* programs attached */
  char front[16];     /* the front in use; empty if the object has none */
  char reason[336];   /* why earlier fronts were not taken; may be empty */
  char path[128];     /* the object file */
};

/* The value of map `<window>_edge`: the newest edge that was dispatched, zeroes before
 * the first. Both clocks, since a step of one must not make the other go back. */
struct pins_edge {
  uint64_t wall_ns; /* CLOCK_REALTIME */
  uint64_t edge;    /* of the window, see window.h */
  uint64_t lost_ns; /* of time unknown in the record, ever */
  uint64_t
      late_events; /* counted into a bucket after its edge was dispatched, ever */
};

#define PINS_WATCH_FOLDER "other-windows"
#define PINS_WATCH_FORMAT 1

/* The value of map `other-windows/<window>`; all zeroes before the first edge. */
struct pins_watch {
  uint64_t format;  /* PINS_WATCH_FORMAT */
  uint64_t ring_id; /* of the maps that edge.edge is of */
  struct pins_edge edge;
  struct bpf_window_epoch record; /* of those maps */
  /* What earlier maps counted: added to the total of those, modulo 2^64. */
  uint64_t carried[BPF_WINDOW_MAX_VALUES];
  uint64_t dispatched[BPF_WINDOW_MAX_VALUES]; /* totals at the edge */
};

struct pins_root; /* an opened and locked root folder */

/* Whether a path can be a root folder, which need not be there yet: absolute, on
 * a bpffs, and not the whole of it. Errors: -EINVAL, -ENODEV. */
int pins_check_root(const char *path, struct failure *failure);

/*
 * Opens (and makes) the root folder, takes its lock and mends what a crash left
 * (P2). Errors: -ENODEV if it is not on a bpffs, -EBUSY if another process has
 * it (the text says which), -EPERM, -ENOMEM.
 */
int pins_open(struct pins_root **root, const char *path,
              struct failure *failure);
void pins_close(struct pins_root **root);
const char *pins_path(const struct pins_root *root);

/* Whether a process has the root folder, and which, without touching its lock. */
#define PINS_HOLDER_SIZE 80
bool pins_held(const char *path, char holder[PINS_HOLDER_SIZE]);

/* Whether a name can be a folder of pins: letters, digits and _, not too long, and
 * not one that would be taken for staging. */
int pins_check_name(const char *name, struct failure *failure);

/* Takes the lock of a root folder. Errors: -EBUSY if another process has it (the text
 * says which). */
int pins_lock(int fd, const char *path, struct failure *failure);

/* Makes the root folder again, with its lock, if somebody removed it. */
int pins_renew(const struct pins_root *root, struct failure *failure);

/* Makes an empty staging folder for an object. */
int pins_stage(const struct pins_root *root, const char *object,
               struct failure *failure);

/* After a failure: removes the staged folder. Not if it is whole and the object's own
 * folder is not (P2: it takes its place later), unless it is worthless. */
void pins_unstage(const struct pins_root *root, const char *object,
                  bool worthless);

/* The path of a pin in the staged or in the finished folder of an object. */
int pins_staged_path(const struct pins_root *root, const char *object,
                     const char *pin, char path[PINS_PATH_SIZE]);
int pins_object_path(const char *root, const char *object, const char *pin,
                     char path[PINS_PATH_SIZE]);

/* P2: the staged folder takes the place of the object's folder. */
int pins_commit(const struct pins_root *root, const char *object,
                struct failure *failure);

/* Removes the pins of an object; links without another holder are detached. 0 also
 * if there were none. */
int pins_remove(const char *root, const char *object, struct failure *failure);

/* Whether a window of others can be kept under a name: letters, digits, _ and -. */
int pins_check_watch_name(const char *name, struct failure *failure);

/* Opens the map of what is kept of a window of others, or makes it; root NULL: one
 * that is not pinned. Returns a descriptor that the caller closes, or -errno. */
int pins_open_watch(const struct pins_root *root, const char *name,
                    struct failure *failure);

/* Pins the map that fd is of again, if somebody removed its pin: 1 then, 0 if it is
 * there, or -errno. */
int pins_mend_watch(const struct pins_root *root, const char *name, int fd,
                    struct failure *failure);

/* Removes those that are not wanted. */
void pins_forget_watches(const struct pins_root *root,
                         bool (*wanted)(const char *name, void *context),
                         void *context);

/* Calls visit for each object folder below the root, with its name; stops at the
 * first non-zero return and passes it on. 0 if there is no such root. */
int pins_for_each(const char *root,
                  int (*visit)(const char *object, void *context),
                  void *context);

/* Calls visit for each pin of an object. */
int pins_for_each_pin(const char *root, const char *object,
                      int (*visit)(const char *pin, void *context),
                      void *context);

/* Reads the record of an object. Errors: -ENOENT if there is no such object,
 * -EINVAL if it was written by another version. */
int pins_read_record(const char *root, const char *object,
                     struct pins_record *record, struct failure *failure);

#endif
