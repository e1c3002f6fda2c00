/* SPDX-License-Identifier: MIT */
#include "discover.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

#include "describe.h"
#include "probe.h"

/* The kernel cuts the names of maps. */
#define KERNEL_NAME_LENGTH (BPF_OBJ_NAME_LEN - 1)

static int open_map(uint32_t id) {
  LIBBPF_OPTS(bpf_get_fd_by_id_opts, read_only, .open_flags = BPF_F_RDONLY);
  int fd = bpf_map_get_fd_by_id_opts(id, &read_only);
  return fd < 0 ? -errno : fd;
}

static int map_info(uint32_t id, struct bpf_map_info *info) {
  int fd = open_map(id);
  if (fd < 0)
    return fd;
  uint32_t size = sizeof(*info);
  memset(info, 0, sizeof(*info));
  int status = bpf_obj_get_info_by_fd(fd, info, &size) == 0 ? 0 : -errno;
  close(fd);
  return status;
}

static uint64_t map_bytes(uint32_t id) {
  int fd = open_map(id);
  if (fd < 0)
    return 0;
  uint64_t bytes = probe_map_bytes(fd);
  close(fd);
  return bytes;
}

uint64_t discover_bytes(const struct discover_window *window) {
  return map_bytes(window->ring_id) +
         (window->epoch_id ? map_bytes(window->epoch_id) : 0) +
         (window->cursor_id ? map_bytes(window->cursor_id) : 0);
}

/* ---- Names ---- */

/* The map's whole name: the kernel keeps 15 characters, but the BTF has the
 * variables of the object's maps. */
static void whole_name(const struct btf *btf, const char *cut, char name[64]) {
  const char *best = NULL;
  snprintf(name, 64, "%s", cut);
  if (strlen(cut) < KERNEL_NAME_LENGTH)
    return;
  for (unsigned id = 1; id < btf__type_cnt(btf); id++) {
    const struct btf_type *type = btf__type_by_id(btf, id);
    const char *variable =
        btf_is_var(type) ? btf__name_by_offset(btf, type->name_off) : NULL;
    /* X, X_epoch and X_cursor are cut to the same: the shortest is the ring. */
    if (variable && strncmp(variable, cut, KERNEL_NAME_LENGTH) == 0 &&
        strlen(variable) < 64 && (!best || strlen(variable) < strlen(best)))
      best = variable;
  }
  if (best)
    strcpy(name, best);
}

/* Whether a map's name, cut by the kernel, can be that of ring and suffix. */
static bool is_named(const char *cut, const char *ring, const char *suffix) {
  char full[80];
  snprintf(full, sizeof(full), "%s%s", ring, suffix);
  full[KERNEL_NAME_LENGTH] = '\0';
  return strcmp(cut, full) == 0;
}

/* ---- The ring's companions ---- */

/* A map that may be one, and another of which nothing tells whether it is not. */
struct companion {
  uint32_t id, other_id;
  int fitness;
};

static void consider(struct companion *best, uint32_t id, int fitness) {
  if (id == best->id)
    return;
  if (fitness > best->fitness)
    *best = (struct companion){id, 0, fitness};
  else if (fitness == best->fitness && fitness > 0)
    best->other_id = id;
}

/* How well a map serves as the epoch; 0: not at all. */
static int epoch_fitness(const struct bpf_map_info *map, const char *ring) {
  if (map->type != BPF_MAP_TYPE_ARRAY || map->max_entries != 1 ||
      map->value_size < sizeof(uint64_t))
    return 0;
  bool record = map->value_size == sizeof(struct bpf_window_epoch);
  bool lone = map->value_size == 8 || map->value_size == 16;
  if (is_named(map->name, ring, "_epoch"))
    return record ? 4 : 3;
  if (strstr(map->name, "epoch"))
    return lone ? 2 : 0;
  bool variables = strchr(map->name, '.'); /* .bss and the like */
  return lone && !variables ? 1 : 0;
}

static bool is_cursor(const struct bpf_map_info *map, const char *ring,
                      uint32_t ring_value_size) {
  return map->type == BPF_MAP_TYPE_PERCPU_ARRAY && map->max_entries == 1 &&
         map->value_size == ring_value_size - sizeof(uint64_t) +
                                sizeof(struct bpf_window_cursor) &&
         is_named(map->name, ring, "_cursor");
}

static void find_companions(const struct census *census,
                            const struct bpf_map_info *ring,
                            struct discover_window *window) {
  struct companion epoch = {0}, cursor = {0};
  for (size_t p = 0; p < census->program_count; p++) {
    const struct census_program *program = &census->programs[p];
    if (!census_program_uses(program, ring->id))
      continue;
    for (size_t m = 0; m < program->maps; m++) {
      struct bpf_map_info map;
      if (map_info(program->map_ids[m], &map) != 0)
        continue;
      consider(&epoch, map.id, epoch_fitness(&map, window->name));
      consider(&cursor, map.id,
               is_cursor(&map, window->name, ring->value_size));
    }
  }
  window->epoch_id = epoch.id;
  if (!cursor.other_id) /* no totals are better than another window's */
    window->cursor_id = cursor.id;
  if (epoch.other_id)
    snprintf(window->problem, sizeof(window->problem),
             "of maps %u and %u either could be its epoch: it can be read by "
             "the path of its pin (the kernel cuts names to %d characters; an "
             "epoch is named <ring>_epoch)",
             epoch.id, epoch.other_id, KERNEL_NAME_LENGTH);
}

/* ---- The record ---- */

/* A record in full, or its first one or two members. */
static int read_epoch(uint32_t epoch_id, struct bpf_window_epoch *epoch,
                      bool *full) {
  struct bpf_map_info info;
  uint32_t zero = 0;
  int fd = open_map(epoch_id);
  uint32_t size = sizeof(info);
  memset(&info, 0, sizeof(info));
  if (fd < 0)
    return fd;
  char *value = NULL;
  int status = bpf_obj_get_info_by_fd(fd, &info, &size) == 0 ? 0 : -errno;
  if (status == 0 && !(value = calloc(1, info.value_size + sizeof(*epoch))))
    status = -ENOMEM;
  if (status == 0 && bpf_map_lookup_elem(fd, &zero, value) != 0)
    status = -errno;
  if (status == 0) {
    memcpy(epoch, value, sizeof(*epoch));
    *full = info.value_size == sizeof(*epoch);
  }
  free(value);
  close(fd);
  return status;
}

static void describe(const struct btf *btf, const struct bpf_map_info *ring,
                     uint64_t width_ns, struct discover_window *window) {
  struct bpf_window_epoch epoch;
  struct failure failure;
  bool full = false;
  const char *wrong = NULL;
  int status = 0;
  if (window->problem[0])
    return;
  if (ring->max_entries != BPF_WINDOW_SLOTS) {
    snprintf(window->problem, sizeof(window->problem),
             "it has %u slots; only windows of %d can be read",
             ring->max_entries, BPF_WINDOW_SLOTS);
  } else if (window->epoch_id == 0) {
    snprintf(window->problem, sizeof(window->problem),
             "no program that uses it has an array that could be its epoch");
  } else if ((status = read_epoch(window->epoch_id, &epoch, &full)) != 0) {
    snprintf(window->problem, sizeof(window->problem),
             "its epoch, map %u, cannot be read: %s", window->epoch_id,
             strerror(-status));
  } else if (full && epoch.format != 0 &&
             (wrong = window_epoch_problem(&epoch))) {
    /* Of another version: the BTF would say the same, or less. */
    snprintf(window->problem, sizeof(window->problem), "its record has %s",
             wrong);
  } else if (full && epoch.format != 0) {
    window->record = epoch;
  } else if (describe_struct(btf, ring->btf_value_type_id, &window->record,
                             &failure) != 0) {
    snprintf(window->problem, sizeof(window->problem), "%.300s", failure.text);
  } else {
    window->record.epoch_ns = epoch.epoch_ns;
    window->record.width_ns = width_ns         ? width_ns
                              : epoch.width_ns ? epoch.width_ns
                                               : BPF_WINDOW_WIDTH_NS;
    if (epoch.epoch_ns == 0)
      snprintf(window->problem, sizeof(window->problem),
               "its epoch, map %u, was not set yet", window->epoch_id);
  }
}

/* ---- All windows ---- */

/* Fills in the window if the map is the ring of one; -EINVAL if not. */
static int examine(const struct census *census, const struct bpf_map_info *map,
                   uint64_t width_ns, struct discover_window *window) {
  if (map->type != BPF_MAP_TYPE_PERCPU_ARRAY || !map->btf_id ||
      !map->btf_value_type_id)
    return -EINVAL;
  struct btf *btf = btf__load_from_kernel_by_id(map->btf_id);
  if (!btf)
    return -errno;
  bool ring = describe_is_bucket(btf, map->btf_value_type_id);
  if (ring) {
    memset(window, 0, sizeof(*window));
    window->ring_id = map->id;
    whole_name(btf, map->name, window->name);
    find_companions(census, map, window);
    describe(btf, map, width_ns, window);
    window->bytes = discover_bytes(window);
  }
  btf__free(btf);
  return ring ? 0 : -EINVAL;
}

int discover_window(const struct census *census, uint32_t ring_id,
                    uint64_t width_ns, struct discover_window *window) {
  struct bpf_map_info map;
  int status = map_info(ring_id, &map);
  return status == 0 ? examine(census, &map, width_ns, window) : status;
}

int discover_windows(const struct census *census, uint64_t width_ns,
                     struct discover_window **windows, size_t *count,
                     struct failure *failure) {
  *windows = NULL;
  *count = 0;
  uint32_t id = 0;
  while (bpf_map_get_next_id(id, &id) == 0) {
    struct bpf_map_info map;
    struct discover_window window;
    if (map_info(id, &map) != 0 ||
        examine(census, &map, width_ns, &window) != 0)
      continue;
    struct discover_window *larger =
        realloc(*windows, (*count + 1) * sizeof(*larger));
    if (!larger) {
      errno = ENOMEM;
      break;
    }
    *windows = larger;
    larger[(*count)++] = window;
  }
  if (errno == ENOENT)
    return 0;
  int status = -errno;
  free(*windows);
  *windows = NULL;
  *count = 0;
  return failure_set(failure, status, "cannot walk the kernel's maps: %s",
                     strerror(-status));
}

int discover_open(const struct discover_window *window, struct reader **reader,
                  struct failure *failure) {
  if (window->problem[0])
    return failure_set(failure, -EINVAL, "window %s (map %u): %s", window->name,
                       window->ring_id, window->problem);
  int ring_fd = open_map(window->ring_id);
  int cursor_fd = window->cursor_id ? open_map(window->cursor_id) : -1;
  int status = ring_fd;
  if (ring_fd < 0)
    failure_set(failure, status, "cannot open map %u: %s", window->ring_id,
                strerror(-status));
  else
    status = reader_open_described(reader, ring_fd, cursor_fd, &window->record,
                                   failure);
  if (ring_fd >= 0)
    close(ring_fd);
  if (cursor_fd >= 0)
    close(cursor_fd);
  return status;
}

/* ---- Pins ---- */

static int pinned_info(const char *path, struct bpf_map_info *info,
                       struct failure *failure) {
  LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(path, &read_only);
  uint32_t size = sizeof(*info);
  int status = fd < 0 ? -errno : 0;
  char kind[16] = "";
  memset(info, 0, sizeof(*info));
  if (fd >= 0) {
    census_kind_of(fd,
                   kind); /* the id of a program would be taken for a map's */
    if (bpf_obj_get_info_by_fd(fd, info, &size) != 0)
      status = -errno;
    close(fd);
  }
  if (status == 0 && strcmp(kind, "bpf-map") != 0)
    return failure_set(failure, -EINVAL, "the pin %s is no map", path);
  if (status != 0)
    return failure_set(failure, status, "cannot open the pin %s: %s", path,
                       strerror(-status));
  return 0;
}

int discover_pinned_id(const char *path, uint32_t *map_id,
                       struct failure *failure) {
  struct bpf_map_info info;
  int status = pinned_info(path, &info, failure);
  if (status == 0)
    *map_id = info.id;
  return status;
}

bool discover_pinned_untold(const char *path) {
  struct bpf_map_info info;
  return pinned_info(path, &info, NULL) == 0 &&
         info.type == BPF_MAP_TYPE_PERCPU_ARRAY &&
         info.max_entries == BPF_WINDOW_SLOTS &&
         (!info.btf_id || !info.btf_value_type_id);
}
