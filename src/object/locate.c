/* SPDX-License-Identifier: MIT */
#include "locate.h"

#include <errno.h>
#include <string.h>

static int look_at(const char *path, const struct census *census,
                   uint32_t map_id, uint64_t width_ns,
                   struct discover_window *window, struct failure *failure) {
  int status = discover_window(census, map_id, width_ns, window);
  if (status == -EINVAL)
    return failure_set(failure, status,
                       "the pin %s is no window: pin the map of its buckets, a "
                       "per-CPU array of %d structs that begin with __u64 "
                       "abs_bucket",
                       path, BPF_WINDOW_SLOTS);
  return status == 0 ? 0
                     : failure_set(failure, status,
                                   "cannot look at the map pinned at %s: %s",
                                   path, strerror(-status));
}

/* Without its record beside it; perhaps it is a window nevertheless. */
static int open_by_programs(const char *path, uint64_t width_ns,
                            struct reader **reader, char name[64],
                            struct failure *failure) {
  struct census *census = NULL;
  struct discover_window window;
  uint32_t map_id;
  int status = discover_pinned_id(path, &map_id, failure);
  if (status == 0)
    status = census_take_programs(&census, failure);
  if (status == 0)
    status = look_at(path, census, map_id, width_ns, &window, failure);
  if (status == 0)
    status = discover_open(&window, reader, failure);
  if (status == 0 && name)
    memcpy(name, window.name, sizeof(window.name));
  census_free(&census);
  return status;
}

int locate_pinned(const char *path, uint64_t width_ns, struct reader **reader,
                  char name[64], struct failure *failure) {
  struct failure reason;
  if (name)
    name[0] = '\0';
  int status = reader_open_pinned(reader, path, &reason);
  if (status != -ENOENT && status != -EINVAL)
    return status == 0 ? 0 : failure_set(failure, status, "%s", reason.text);
  if (!discover_pinned_untold(path))
    return open_by_programs(path, width_ns, reader, name, failure);
  /* What is wrong with the record; or there is none. */
  if (status == -EINVAL)
    return failure_set(failure, status, "%s: %.600s", path, reason.text);
  return failure_set(
      failure, -EINVAL,
      "nothing tells what the map pinned at %s counts: it has no BTF, and no "
      "%s_epoch and %s_cursor with its record are pinned beside it (pin them, "
      "or "
      "compile with -g and give the map its key and value types)",
      path, path, path);
}
