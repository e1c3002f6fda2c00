/* SPDX-License-Identifier: MIT */
#include "inventory.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "history.h"
#include "pin_dir.h"
#include "window/clock.h"

/* ---- How busy ---- */

static void measure(struct inventory_window *window, struct reader *reader) {
  const struct bpf_window_epoch *record = &window->found.record;
  const struct window_snapshot *snapshot;
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  uint64_t now_ns = (uint64_t)clock_ns(CLOCK_MONOTONIC);
  window->age_seconds = window_age_ns(record, now_ns) / NS_PER_SECOND;
  if (reader_snapshot(reader, &snapshot, NULL) != 0)
    return;
  uint64_t to = window_settled_edge(record, now_ns);
  uint64_t recent = history_buckets_in(record, INVENTORY_RECENT_NS);
  window_sum(snapshot, to > recent ? to - recent : 0, to, sums);
  window->recent_ns = recent * record->width_ns;
  window->recent_events = history_events(record, sums);
  window->activity_known = true;
}

/* ---- One pin ---- */

static uint32_t pinned_id(const char *pin, const char *suffix) {
  char path[512];
  uint32_t id = 0;
  snprintf(path, sizeof(path), "%s%s", pin, suffix);
  discover_pinned_id(path, &id, NULL);
  return id;
}

/* Whether it can be read; else the problem is told. */
static bool take_pin(struct inventory_window *window, const char *pin) {
  struct reader *reader = NULL;
  struct failure failure;
  const char *slash = strrchr(pin, '/');
  snprintf(window->pin, sizeof(window->pin), "%s", pin);
  snprintf(window->found.name, sizeof(window->found.name), "%.63s", slash + 1);
  window->found.ring_id = pinned_id(pin, "");
  window->found.epoch_id = pinned_id(pin, "_epoch");
  window->found.cursor_id = pinned_id(pin, "_cursor");
  window->found.bytes = discover_bytes(&window->found);
  if (reader_open_pinned(&reader, pin, &failure) != 0) {
    snprintf(window->found.problem, sizeof(window->found.problem), "%.300s",
             failure.text);
    return false;
  }
  window->found.record = *reader_epoch(reader);
  measure(window, reader);
  reader_close(&reader);
  return true;
}

/* ---- With a census: all windows ---- */

static bool is_taken(const struct inventory *inventory, uint32_t ring_id) {
  for (size_t i = 0; i < inventory->count; i++)
    if (inventory->windows[i].found.ring_id == ring_id)
      return true;
  return false;
}

/* The path of a pin without "_epoch", if it ends with that. */
static bool ring_of_epoch(const char *epoch, char ring[256]) {
  size_t length = strlen(epoch), suffix = strlen("_epoch");
  if (length <= suffix || strcmp(epoch + length - suffix, "_epoch") != 0)
    return false;
  snprintf(ring, 256, "%.*s", (int)(length - suffix), epoch);
  return true;
}

/* A pinned record tells all even of maps without BTF, of which nothing else
 * tells that they are a window. */
static void add_pinned(struct inventory *inventory) {
  const struct census *census = inventory->census;
  for (size_t i = 0; i < census->pin_count; i++) {
    struct inventory_window window = {0};
    char ring[256];
    if (ring_of_epoch(census->pins[i].path, ring) &&
        !is_taken(inventory, pinned_id(ring, "")) && take_pin(&window, ring))
      inventory->windows[inventory->count++] = window;
  }
}

static const char *pin_of(const struct census *census, uint32_t ring_id) {
  for (size_t p = 0; p < census->pin_count; p++)
    if (census->pins[p].map_id == ring_id)
      return census->pins[p].path;
  return NULL;
}

/* Its pins tell what a window is better than the cut names of its maps. */
static void take_found(struct inventory_window *window,
                       const struct census *census,
                       const struct discover_window *found) {
  const char *pin = pin_of(census, found->ring_id);
  struct reader *reader = NULL;
  if (pin && take_pin(window, pin))
    return;
  window->found = *found;
  if (pin)
    snprintf(window->pin, sizeof(window->pin), "%s", pin);
  if (discover_open(found, &reader, NULL) == 0)
    measure(window, reader);
  reader_close(&reader);
}

static int take_all(struct inventory *inventory, uint64_t width_ns,
                    struct failure *failure) {
  struct discover_window *found;
  int status = discover_windows(inventory->census, width_ns, &found,
                                &inventory->count, failure);
  if (status != 0)
    return status;
  inventory->windows =
      calloc(inventory->count + inventory->census->pin_count + 1,
             sizeof(*inventory->windows));
  for (size_t i = 0; inventory->windows && i < inventory->count; i++)
    take_found(&inventory->windows[i], inventory->census, &found[i]);
  free(found);
  if (inventory->windows)
    add_pinned(inventory);
  return inventory->windows ? 0
                            : failure_set(failure, -ENOMEM, "out of memory");
}

/* ---- Without: what is pinned ---- */

static int take_pins(struct inventory *inventory, const char *pin_dir,
                     struct failure *failure) {
  char pattern[512];
  glob_t found;
  int status = pin_dir_readable(pin_dir);
  if (status != 0)
    return failure_set(failure, status,
                       "cannot look into %s: %s; nor into running programs, "
                       "which needs CAP_SYS_ADMIN (run as root)",
                       pin_dir, strerror(-status));
  snprintf(pattern, sizeof(pattern), "%s/*/*_epoch", pin_dir);
  if (glob(pattern, 0, NULL, &found) != 0)
    return 0;
  inventory->windows = calloc(found.gl_pathc, sizeof(*inventory->windows));
  for (size_t i = 0; inventory->windows && i < found.gl_pathc; i++) {
    char *pin = found.gl_pathv[i];
    pin[strlen(pin) - strlen("_epoch")] = '\0';
    take_pin(&inventory->windows[inventory->count++], pin);
  }
  globfree(&found);
  return inventory->windows ? 0
                            : failure_set(failure, -ENOMEM, "out of memory");
}

int inventory_take(struct inventory *inventory, const char *pin_dir,
                   uint64_t width_ns, struct failure *failure) {
  memset(inventory, 0, sizeof(*inventory));
  /* Other agents pin elsewhere: all of bpffs is searched, and the folder. */
  const char *bpffs = strncmp(pin_dir, PINS_ROOT, strlen(PINS_ROOT)) == 0
                          ? "/sys/fs/bpf"
                          : pin_dir;
  int status = census_take(&inventory->census, bpffs, failure);
  if (status == 0)
    status = take_all(inventory, width_ns, failure);
  else if (status == -EPERM)
    status = take_pins(inventory, pin_dir, failure);
  if (status != 0)
    inventory_free(inventory);
  return status;
}

void inventory_free(struct inventory *inventory) {
  census_free(&inventory->census);
  free(inventory->windows);
  memset(inventory, 0, sizeof(*inventory));
}
