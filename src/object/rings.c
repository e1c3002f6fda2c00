/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "describe.h"
#include "window/clock.h"
#include "window/reader.h"

/* ---- What the file declares ---- */

static struct bpf_map *map_of(struct bpf_object *opened, const char *ring,
                              const char *suffix) {
  char name[PINS_NAME_SIZE * 2];
  snprintf(name, sizeof(name), "%s%s", ring, suffix);
  return bpf_object__find_map_by_name(opened, name);
}

static bool is_pin_of(const char *pin, const char *window) {
  static const char *const suffixes[] = {"_epoch", "_cursor", PINS_EDGE_SUFFIX};
  size_t length = strlen(window);
  bool is = false;
  for (size_t i = 0; strncmp(pin, window, length) == 0 && i < 3; i++)
    is |= strcmp(pin + length, suffixes[i]) == 0;
  return is;
}

/* Each window's ring is pinned under its name, beside pins of other names. */
static int check_pin_names(const struct rings *rings, const char *path,
                           struct failure *failure) {
  for (unsigned i = 0; i < rings->count; i++) {
    const char *name = rings->ring[i].name, *taken_by = NULL;
    if (strcmp(name, PINS_RECORD) == 0 ||
        strncmp(name, PINS_LINK_PREFIX, strlen(PINS_LINK_PREFIX)) == 0)
      taken_by = "the object";
    for (unsigned j = 0; j < rings->count; j++)
      if (is_pin_of(name, rings->ring[j].name))
        taken_by = rings->ring[j].name;
    if (taken_by)
      return failure_set(failure, -EINVAL,
                         "%s: window %s would be pinned where %s has another "
                         "pin: give it another name",
                         path, name, taken_by);
  }
  return 0;
}

int rings_find(struct rings *rings, struct bpf_object *opened, const char *path,
               struct failure *failure) {
  const struct btf *btf = bpf_object__btf(opened);
  struct bpf_map *map;
  struct failure reason;
  int status;
  rings->count = 0;
  bpf_object__for_each_map(map, opened) {
    if (!describe_is_ring(btf, map))
      continue;
    const char *name = bpf_map__name(map);
    if (rings->count == OBJECT_MAX_WINDOWS)
      return failure_set(failure, -EOVERFLOW, "%s has over %d windows", path,
                         OBJECT_MAX_WINDOWS);
    if (strlen(name) + strlen("_cursor") >= PINS_NAME_SIZE)
      return failure_set(failure, -EINVAL,
                         "%s: the name of window %s has over %zu characters",
                         path, name, PINS_NAME_SIZE - strlen("_cursor") - 1);
    if (!map_of(opened, name, "_epoch") || !map_of(opened, name, "_cursor"))
      return failure_set(failure, -EINVAL,
                         "%s: window %s lacks the map %s_epoch or %s_cursor "
                         "(declare it with BPF_WINDOW)",
                         path, name, name, name);
    struct ring *ring = &rings->ring[rings->count++];
    snprintf(ring->name, sizeof(ring->name), "%s", name);
    status = describe_window(btf, map, &ring->record, &reason);
    if (status != 0)
      return failure_set(failure, status, "%s: %.600s", path, reason.text);
  }
  status = check_pin_names(rings, path, failure);
  if (status != 0)
    return status;
  if (rings->count == 0)
    return failure_set(failure, -EINVAL,
                       "%s declares no window (a per-CPU array of structs that "
                       "begin with __u64 abs_bucket; see BPF_WINDOW)",
                       path);
  return 0;
}

/* ---- Taking over old maps (O3) ---- */

static const struct object_window *window_of(const struct object *object,
                                             const char *name) {
  for (unsigned i = 0; object && i < object->windows; i++)
    if (strcmp(object->window[i].name, name) == 0)
      return &object->window[i];
  return NULL;
}

/* Whether the maps of an old window hold what the record describes. That they cannot
 * be read now is no answer: it would throw away their counts. */
static int same_layout(const struct object_window *old,
                       const struct bpf_window_epoch *record, bool *same,
                       struct failure *failure) {
  struct reader *reader;
  struct failure reason;
  *same = false;
  int status = reader_open(&reader, old->ring_fd, old->epoch_fd, old->cursor_fd,
                           &reason);
  if (status == -EINVAL) /* of another format */
    return 0;
  if (status != 0)
    return failure_set(failure, status, "cannot take over window %s: %.600s",
                       old->name, reason.text);
  const struct bpf_window_epoch *epoch = reader_epoch(reader);
  *same =
      epoch->layout == record->layout && epoch->width_ns == record->width_ns;
  reader_close(&reader);
  return 0;
}

int rings_continue(const struct rings *rings, const struct object *old,
                   bool *same, struct failure *failure) {
  *same = true;
  for (unsigned i = 0; *same && i < rings->count; i++) {
    const struct object_window *window = window_of(old, rings->ring[i].name);
    int status = 0;
    if (window)
      status = same_layout(window, &rings->ring[i].record, same, failure);
    else
      *same = false;
    if (status != 0)
      return status;
  }
  return 0;
}

int rings_reuse(const struct rings *rings, struct bpf_object *opened,
                const struct object *old, struct failure *failure) {
  for (unsigned i = 0; i < rings->count; i++) {
    const char *name = rings->ring[i].name;
    const struct object_window *window = window_of(old, name);
    if (bpf_map__reuse_fd(map_of(opened, name, ""), window->ring_fd) != 0 ||
        bpf_map__reuse_fd(map_of(opened, name, "_epoch"), window->epoch_fd) !=
            0 ||
        bpf_map__reuse_fd(map_of(opened, name, "_cursor"), window->cursor_fd) !=
            0)
      return failure_set(failure, -errno,
                         "cannot take over the maps of window %s: %s", name,
                         strerror(errno));
  }
  return 0;
}

/* ---- Fresh maps ---- */

/* Bucket edges fall on multiples of the width on the wall clock; the first
 * bucket has number 1 or more (see layout.h). */
static void set_times(struct bpf_window_epoch *record) {
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  record->tick_ns = (uint64_t)timespec_ns(tick);
  struct clock_pair now = clock_pair();
  record->epoch_ns =
      now.mono_ns - now.wall_ns % record->width_ns - record->width_ns;
}

static int set_epoch_and_freeze(const struct object_window *window,
                                const struct bpf_window_epoch *record,
                                struct failure *failure) {
  struct bpf_window_epoch epoch = *record;
  uint32_t zero = 0;
  set_times(&epoch);
  if (bpf_map_update_elem(window->epoch_fd, &zero, &epoch, BPF_ANY) != 0)
    return failure_set(failure, -errno, "cannot set the epoch of %s: %s",
                       window->name, strerror(errno));
  if (bpf_map_freeze(window->ring_fd) != 0 ||
      bpf_map_freeze(window->epoch_fd) != 0 ||
      bpf_map_freeze(window->cursor_fd) != 0)
    return failure_set(failure, -errno, "cannot freeze the maps of %s: %s",
                       window->name, strerror(errno));
  return 0;
}

/* The edges of old maps go on with them. Fresh maps begin at edge 0 again, at times
 * behind those of the old ones. Returns a descriptor, or -1 with errno. */
static int keep_edge(const struct object_window *before, bool fresh_maps) {
  struct pins_edge edge = {0};
  uint32_t zero = 0;
  if (before && !fresh_maps)
    return object_keep_fd(before->edge_fd);
  if (before && bpf_map_lookup_elem(before->edge_fd, &zero, &edge) != 0)
    return -1;
  edge.edge = 0;
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpf_window_edge", sizeof(zero),
                          sizeof(edge), 1, NULL);
  if (fd >= 0 && bpf_map_update_elem(fd, &zero, &edge, BPF_ANY) != 0) {
    int error = errno;
    close(fd);
    errno = error;
    return -1;
  }
  return fd;
}

static int keep_map(struct bpf_object *loaded, const char *name,
                    const char *suffix) {
  return object_keep_fd(bpf_map__fd(map_of(loaded, name, suffix)));
}

int rings_keep(const struct rings *rings, struct bpf_object *loaded,
               struct object *object, const struct object *old, bool fresh_maps,
               struct failure *failure) {
  for (unsigned i = 0; i < rings->count; i++) {
    const struct ring *ring = &rings->ring[i];
    const struct object_window *before = window_of(old, ring->name);
    struct object_window *window = &object->window[object->windows++];
    *window = (struct object_window){
        .ring_fd = keep_map(loaded, ring->name, ""),
        .epoch_fd = keep_map(loaded, ring->name, "_epoch"),
        .cursor_fd = keep_map(loaded, ring->name, "_cursor"),
        .edge_fd = keep_edge(before, fresh_maps),
    };
    snprintf(window->name, sizeof(window->name), "%s", ring->name);
    if (window->ring_fd < 0 || window->epoch_fd < 0 || window->cursor_fd < 0 ||
        window->edge_fd < 0)
      return failure_set(failure, -errno,
                         "cannot keep the maps of window %s: %s", ring->name,
                         strerror(errno));
    int status =
        fresh_maps ? set_epoch_and_freeze(window, &ring->record, failure) : 0;
    if (status != 0)
      return status;
  }
  return 0;
}
