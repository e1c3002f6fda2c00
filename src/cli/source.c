/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli.h"
#include "file_text.h"
#include "history_json.h"
#include "object/locate.h"
#include "object/probe.h"
#include "pin_dir.h"
#include "units.h"
#include "window/clock.h"

struct source {
  struct reader *reader;
  struct bpf_window_epoch record;
  const struct window_snapshot *snapshot; /* of the last copy */
  struct clock_pair taken;                /* right before it */
  char pin[512];                          /* empty: found without one */
  char window[HISTORY_NAME_SIZE], object[HISTORY_NAME_SIZE];
};

/* Cuts the last name off a path. */
static const char *cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash)
    return "";
  *slash = '\0';
  return slash + 1;
}

static void copy_name(char name[HISTORY_NAME_SIZE], const char *from) {
  snprintf(name, HISTORY_NAME_SIZE, "%.*s", HISTORY_NAME_SIZE - 1, from);
}

/* ---- Names ---- */

static bool is_id(const char *name) { return strncmp(name, "id:", 3) == 0; }

/* Of `id:17238`; 0 if there is no such number. */
static uint32_t map_id_of(const char *name) {
  const char *digits = name + strlen("id:");
  unsigned long id = strtoul(digits, NULL, 10);
  bool number = *digits && digits[strspn(digits, "0123456789")] == '\0';
  return number && id <= UINT32_MAX ? (uint32_t)id : 0;
}

int source_check_name(const char *name, const char *verb) {
  return !name || !is_id(name) || map_id_of(name)
             ? CLI_OK
             : complain_usage(verb, "%s is no id of a map, such as id:17238",
                              name);
}

/* ---- Finding ---- */

/* Whether the pin is that of a window's buckets: its record lies beside it. */
static bool has_record(const char *pin) {
  char path[600];
  snprintf(path, sizeof(path), "%s_epoch", pin);
  return access(path, F_OK) == 0;
}

/* Moves pins that are no windows, such as the record of one, behind those that are.
 * Returns how many are; all, if none has a record. */
static size_t windows_first(glob_t *found) {
  size_t windows = 0;
  for (size_t i = 0; i < found->gl_pathc; i++) {
    char *pin = found->gl_pathv[i];
    if (!has_record(pin))
      continue;
    found->gl_pathv[i] = found->gl_pathv[windows];
    found->gl_pathv[windows++] = pin;
  }
  return windows ? windows : found->gl_pathc;
}

/* Writes the path of the window's pin. None: -ENOENT, without a text. */
static int find_pin(const char *name, const char *pin_dir, char *path,
                    size_t size, struct failure *failure) {
  if (name[0] == '/' || name[0] == '.') {
    snprintf(path, size, "%s", name);
    return 0;
  }
  char pattern[512];
  snprintf(pattern, sizeof(pattern), strchr(name, '/') ? "%s/%s" : "%s/*/%s",
           pin_dir, name);
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return -ENOENT;
  int status = 0;
  size_t windows = windows_first(&found);
  if (windows > 1)
    status = failure_set(failure, -ENOTUNIQ,
                         "%zu windows are called %s, say which: %s, %s%s",
                         windows, name, found.gl_pathv[0], found.gl_pathv[1],
                         windows > 2 ? ", ..." : "");
  else
    snprintf(path, size, "%s", found.gl_pathv[0]);
  globfree(&found);
  return status;
}

static int no_such_window(const char *name, const char *pin_dir,
                          bool looked_further, struct failure *failure) {
  int status = pin_dir_readable(pin_dir);
  if (status != 0 && status != -ENOENT)
    return failure_set(failure, status,
                       "cannot look into %s: %s (run as root, or with CAP_BPF "
                       "and access to the folder)",
                       pin_dir, strerror(-status));
  if (!looked_further)
    return failure_set(failure, -EPERM,
                       "no window %s is pinned below %s, and to look further "
                       "needs CAP_SYS_ADMIN (run as root)",
                       name, pin_dir);
  return failure_set(failure, -ENOENT,
                     "no window %s, neither pinned below %s nor in a program "
                     "(is its object loaded? `bpf-window list` names all)",
                     name, pin_dir);
}

/* The windows of this project's kind in a folder of pins. */
static int name_windows(const char *folder, struct failure *failure) {
  char pattern[600], names[400] = "";
  size_t used = 0;
  glob_t found;
  snprintf(pattern, sizeof(pattern), "%s/*_epoch", folder);
  if (glob(pattern, 0, NULL, &found) != 0)
    return failure_set(failure, -EISDIR,
                       "%s is a folder, and no window is pinned in it", folder);
  for (size_t i = 0; i < found.gl_pathc && used < sizeof(names); i++) {
    const char *name = strrchr(found.gl_pathv[i], '/') + 1;
    used += (size_t)snprintf(names + used, sizeof(names) - used, "%s%.*s",
                             i ? ", " : "",
                             (int)(strlen(name) - strlen("_epoch")), name);
  }
  globfree(&found);
  return failure_set(failure, -EISDIR, "%s is a folder; windows in it: %s",
                     folder, names);
}

/* The kernel calls whatever is no pin a lack of privilege. */
static int check_pin(const char *path, struct failure *failure) {
  struct stat info;
  if (stat(path, &info) != 0)
    return 0; /* opening it tells why */
  if (!probe_on_bpffs(path))
    return failure_set(failure, -EINVAL,
                       "%s is not on a BPF file system, where pins are", path);
  return S_ISDIR(info.st_mode) ? name_windows(path, failure) : 0;
}

/* A pin of this project's kind is in the folder of its object. */
static int open_pinned(struct source *source, char *path,
                       const struct source_options *options,
                       struct failure *failure) {
  char name[64];
  snprintf(source->pin, sizeof(source->pin), "%s", path);
  int status = check_pin(path, failure);
  if (status == 0)
    status =
        locate_pinned(path, options->width_ns, &source->reader, name, failure);
  if (status == 0 && name[0]) {
    copy_name(source->window, name);
  } else if (status == 0) {
    copy_name(source->window, cut_last(path));
    copy_name(source->object, cut_last(path));
  }
  return status;
}

/* Whether the window is the one with that map (map_id 0: with that name). */
static bool is_meant(const char *name, uint32_t map_id, const char *other_name,
                     uint32_t other_id) {
  return map_id ? other_id == map_id : strcmp(other_name, name) == 0;
}

/* What is looked for among all windows of the kernel. */
struct search {
  const char *name;
  uint32_t map_id;
  const struct source_options *options;
  struct census *census;
  struct discover_window *windows;
  size_t count;
};

static bool is_discovered(const struct search *search, uint32_t map_id) {
  for (size_t i = 0; i < search->count; i++)
    if (search->windows[i].ring_id == map_id)
      return true;
  return false;
}

/* By a pin, wherever it is: of maps without BTF the record beside it tells that they
 * are a window, and a pin may have another name than its map. */
static int open_by_any_pin(struct source *source, const struct search *search,
                           struct failure *failure) {
  const struct census_pin *found = NULL;
  char path[sizeof(found->path)];
  for (size_t i = 0; i < search->census->pin_count; i++) {
    const struct census_pin *pin = &search->census->pins[i];
    if (!is_meant(search->name, search->map_id, strrchr(pin->path, '/') + 1,
                  pin->map_id) ||
        !(has_record(pin->path) || is_discovered(search, pin->map_id)))
      continue;
    if (found && found->map_id != pin->map_id)
      return failure_set(failure, -ENOTUNIQ,
                         "no window %s is pinned below %s, but elsewhere are "
                         "several of that name, say which: %s, %s",
                         search->name, search->options->pin_dir, found->path,
                         pin->path);
    found = pin;
  }
  if (!found)
    return no_such_window(search->name, search->options->pin_dir, true,
                          failure);
  memcpy(path, found->path, sizeof(path));
  return open_pinned(source, path, search->options, failure);
}

static int open_found(struct source *source, const struct search *search,
                      struct failure *failure) {
  const struct discover_window *found = NULL;
  for (size_t i = 0; i < search->count; i++) {
    const struct discover_window *window = &search->windows[i];
    if (!is_meant(search->name, search->map_id, window->name, window->ring_id))
      continue;
    if (found)
      return failure_set(failure, -ENOTUNIQ,
                         "no window %s is pinned below %s, but elsewhere are "
                         "several of that name, say which: id:%u, id:%u",
                         search->name, search->options->pin_dir, found->ring_id,
                         window->ring_id);
    found = window;
  }
  if (!found)
    return open_by_any_pin(source, search, failure);
  copy_name(source->window, found->name);
  return discover_open(found, &source->reader, failure);
}

static int open_discovered(struct source *source, const char *name,
                           uint32_t map_id,
                           const struct source_options *options,
                           struct failure *failure) {
  struct search search = {.name = name, .map_id = map_id, .options = options};
  int status = census_take(&search.census, "/sys/fs/bpf", failure);
  if (status == 0)
    status = discover_windows(search.census, options->width_ns, &search.windows,
                              &search.count, failure);
  if (status == 0)
    status = open_found(source, &search, failure);
  free(search.windows);
  census_free(&search.census);
  return status;
}

/* No pin has the name; without the privilege to look further, say that. */
static int open_unpinned(struct source *source, const char *name,
                         const struct source_options *options,
                         struct failure *failure) {
  int status = open_discovered(source, name, 0, options, failure);
  if (status == -EPERM)
    return no_such_window(name, options->pin_dir, false, failure);
  return status;
}

int source_open(struct source **out, const char *name,
                const struct source_options *given, struct failure *failure) {
  struct source_options filled = *given, *options = &filled;
  filled.pin_dir = pin_dir_for_reading(given->pin_dir);
  struct source *source = calloc(1, sizeof(*source));
  if (!source)
    return failure_set(failure, -ENOMEM, "out of memory");
  char path[512];
  int status;
  if (is_id(name)) {
    status = open_discovered(source, name, map_id_of(name), options, failure);
  } else {
    status = find_pin(name, options->pin_dir, path, sizeof(path), failure);
    if (status == 0)
      status = open_pinned(source, path, options, failure);
    else if (status == -ENOENT)
      status = open_unpinned(source, name, options, failure);
  }
  if (status == 0) {
    source->record = *reader_epoch(source->reader);
    status = source_options_apply(options, &source->record, failure);
  }
  if (status == 0)
    *out = source;
  else
    source_close(&source);
  return status;
}

void source_close(struct source **source) {
  if (!*source)
    return;
  reader_close(&(*source)->reader);
  free(*source);
  *source = NULL;
}

/* ---- Reading ---- */

int source_take(struct source *source, struct failure *failure) {
  /* The time before the copy decides what is settled in it. */
  source->taken = clock_pair();
  return reader_snapshot(source->reader, &source->snapshot, failure);
}

struct history *source_history(const struct source *source, uint32_t cpu) {
  struct history *history = history_from_snapshot(
      source->snapshot, &source->record, cpu, &source->taken);
  if (history) {
    memcpy(history->window, source->window, sizeof(source->window));
    memcpy(history->object, source->object, sizeof(source->object));
    history->utc_offset_s = units_utc_offset(history->to_real_ns);
  }
  return history;
}

static bool has_program(const struct census *census, uint32_t ring_id) {
  for (size_t i = 0; i < census->program_count; i++)
    if (census_program_uses(&census->programs[i], ring_id))
      return true;
  return false;
}

enum source_life source_life(const struct source *source) {
  uint32_t ring_id = source_ring_id(source), pinned_id = ring_id;
  struct census *census = NULL;
  bool pinned =
      source->pin[0] && discover_pinned_id(source->pin, &pinned_id, NULL) == 0;
  if (pinned && pinned_id != ring_id)
    return SOURCE_REPLACED;
  bool lives = census_take_programs(&census, NULL) == 0
                   ? has_program(census, ring_id)
                   : pinned || !source->pin[0];
  census_free(&census);
  return lives ? SOURCE_LIVES : SOURCE_ABANDONED;
}

uint32_t source_ring_id(const struct source *source) {
  return reader_ring_id(source->reader);
}

int source_read(struct source *source, struct history **history,
                struct failure *failure) {
  int status = source_take(source, failure);
  if (status != 0)
    return status;
  *history = source_history(source, HISTORY_ALL_CPUS);
  return *history ? 0 : failure_set(failure, -ENOMEM, "out of memory");
}

/* ---- Files ---- */

int source_read_file(const char *path, const struct source_options *options,
                     struct history **history, struct failure *failure) {
  size_t length = 0;
  char *text = file_text_read(path, &length, failure);
  if (!text)
    return -errno;
  struct failure reason;
  int status = history_from_text(history, text, length, &reason);
  free(text);
  if (status != 0)
    return failure_set(
        failure, status,
        "%s: %.500s (give it a file from `report` or `show --json`)", path,
        reason.text);
  if ((*history)->utc_offset_s != HISTORY_NO_UTC_OFFSET)
    units_use_utc_offset((*history)->utc_offset_s);
  else
    (*history)->utc_offset_s = units_utc_offset((*history)->to_real_ns);
  status = source_options_apply(options, &(*history)->epoch, failure);
  if (status != 0)
    history_free(history);
  return status;
}
