/* SPDX-License-Identifier: MIT */
#include "object.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "describe.h"
#include "load.h"
#include "policy.h"
#include "probe.h"
#include "window/reader.h"

#define MAX_LINKS 64

struct object {
  struct object_options options;
  enum object_origin origin;
  struct pins_record record;
  struct object_window window[OBJECT_MAX_WINDOWS];
  unsigned windows;
  int policy_fd, policy_state_fd; /* -1: the object has no policy */
  struct object_link { /* none if adopted: the pins hold them */
    struct bpf_link *link;
    char program[PINS_NAME_SIZE];
  } link[MAX_LINKS];
  unsigned links;
};

/* ---- Descriptors ---- */

static void close_fd(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

static void drop_windows(struct object *object) {
  for (unsigned i = 0; i < object->windows; i++) {
    close_fd(&object->window[i].ring_fd);
    close_fd(&object->window[i].epoch_fd);
    close_fd(&object->window[i].cursor_fd);
    close_fd(&object->window[i].edge_fd);
  }
  object->windows = 0;
}

static void drop_links(struct object *object) {
  while (object->links > 0)
    bpf_link__destroy(object->link[--object->links].link);
}

static void drop_policy(struct object *object) {
  close_fd(&object->policy_fd);
  close_fd(&object->policy_state_fd);
}

static int keep_fd(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

/* ---- Adoption (O2) ---- */

static int open_pin(const struct object *object, const char *pin,
                    const char *suffix) {
  char path[PINS_PATH_SIZE], name[PINS_NAME_SIZE * 2];
  snprintf(name, sizeof(name), "%s%s", pin, suffix);
  int status = pins_object_path(pins_path(object->options.pins),
                                object->options.name, name, path);
  return status == 0 ? bpf_obj_get(path) : status;
}

/* Opens the pins of a window; a missing one is -ENOENT. */
static int open_window(struct object *object, const char *name) {
  if (object->windows == OBJECT_MAX_WINDOWS || strlen(name) >= PINS_NAME_SIZE)
    return -E2BIG;
  struct object_window *window = &object->window[object->windows++];
  snprintf(window->name, sizeof(window->name), "%s", name);
  window->ring_fd = open_pin(object, name, "");
  window->epoch_fd = open_pin(object, name, "_epoch");
  window->cursor_fd = open_pin(object, name, "_cursor");
  window->edge_fd = open_pin(object, name, PINS_EDGE_SUFFIX);
  return window->ring_fd < 0 || window->epoch_fd < 0 || window->cursor_fd < 0 ||
                 window->edge_fd < 0
             ? -ENOENT
             : 0;
}

/* A window's name is that of its edge's pin. */
static int open_window_of_edge(const char *pin, void *context) {
  size_t length = strlen(pin), suffix = strlen(PINS_EDGE_SUFFIX);
  char name[PINS_NAME_SIZE * 2];
  if (length <= suffix || length >= sizeof(name) ||
      strcmp(pin + length - suffix, PINS_EDGE_SUFFIX) != 0)
    return 0;
  snprintf(name, sizeof(name), "%.*s", (int)(length - suffix), pin);
  return open_window(context, name);
}

static int open_pinned_windows(struct object *object) {
  return pins_for_each_pin(pins_path(object->options.pins),
                           object->options.name, open_window_of_edge, object);
}

static int adopt(struct object *object, struct failure *failure) {
  int status = open_pinned_windows(object);
  if (status == 0 && object->windows == 0)
    status = -ENOENT;
  if (status != 0)
    return failure_set(failure, status, "the pins of %s are not complete",
                       object->options.name);
  object->policy_fd = open_pin(object, POLICY_MAP, "");
  object->policy_state_fd = open_pin(object, POLICY_STATE_MAP, "");
  object->origin = OBJECT_ADOPTED;
  return object_set_policy(object, object->options.policy,
                           object->options.enforce, failure);
}

/* ---- Windows of a loaded object ---- */

static struct bpf_map *map_named(struct bpf_object *loaded, const char *ring,
                                 const char *suffix) {
  char name[PINS_NAME_SIZE * 2];
  snprintf(name, sizeof(name), "%s%s", ring, suffix);
  return bpf_object__find_map_by_name(loaded, name);
}

/* Describes the windows of an opened object; none at all is an error. */
static int describe_all(struct bpf_object *loaded, const char *path,
                        struct bpf_map *ring[OBJECT_MAX_WINDOWS],
                        struct bpf_window_epoch *record, unsigned *windows,
                        struct failure *failure) {
  const struct btf *btf = bpf_object__btf(loaded);
  struct bpf_map *map;
  struct failure reason;
  *windows = 0;
  bpf_object__for_each_map(map, loaded) {
    if (!describe_is_ring(btf, map))
      continue;
    const char *name = bpf_map__name(map);
    if (*windows == OBJECT_MAX_WINDOWS)
      return failure_set(failure, -E2BIG, "%s has over %d windows", path,
                         OBJECT_MAX_WINDOWS);
    if (!map_named(loaded, name, "_epoch") ||
        !map_named(loaded, name, "_cursor"))
      return failure_set(failure, -EINVAL,
                         "%s: window %s lacks the map %s_epoch or %s_cursor "
                         "(declare it with BPF_WINDOW)",
                         path, name, name, name);
    int status = describe_window(btf, map, &record[*windows], &reason);
    if (status != 0)
      return failure_set(failure, status, "%s: %.600s", path, reason.text);
    ring[(*windows)++] = map;
  }
  if (*windows == 0)
    return failure_set(failure, -EINVAL,
                       "%s declares no window (a per-CPU array of structs that "
                       "begin with __u64 abs_bucket; see BPF_WINDOW)",
                       path);
  return 0;
}

static uint64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* Bucket edges fall on multiples of the width on the wall clock; the first bucket has
 * number 1 or more (see layout.h). */
static void set_times(struct bpf_window_epoch *record, uint64_t width_ns) {
  struct timespec tick;
  clock_getres(CLOCK_MONOTONIC_COARSE, &tick);
  record->width_ns = width_ns ? width_ns : BPF_WINDOW_WIDTH_NS;
  record->tick_ns = (uint64_t)tick.tv_nsec;
  uint64_t mono_ns = clock_ns(CLOCK_MONOTONIC);
  uint64_t wall_ns = clock_ns(CLOCK_REALTIME);
  record->epoch_ns = mono_ns - wall_ns % record->width_ns - record->width_ns;
}

static int new_edge(void) {
  return bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpf_window_edge", sizeof(uint32_t),
                        sizeof(struct pins_edge), 1, NULL);
}

/*
 * Takes the descriptors of a loaded window. Fresh maps get their epoch and are frozen
 * (O4); maps taken over have both.
 */
static int take_window(struct object *object, struct bpf_object *loaded,
                       const char *name, const struct bpf_window_epoch *record,
                       const struct object_window *old, bool same_maps,
                       struct failure *failure) {
  struct object_window *window = &object->window[object->windows++];
  *window = (struct object_window){
      .ring_fd = keep_fd(bpf_map__fd(map_named(loaded, name, ""))),
      .epoch_fd = keep_fd(bpf_map__fd(map_named(loaded, name, "_epoch"))),
      .cursor_fd = keep_fd(bpf_map__fd(map_named(loaded, name, "_cursor"))),
      .edge_fd = old ? keep_fd(old->edge_fd) : new_edge(),
  };
  snprintf(window->name, sizeof(window->name), "%s", name);
  if (window->ring_fd < 0 || window->epoch_fd < 0 || window->cursor_fd < 0 ||
      window->edge_fd < 0)
    return failure_set(failure, -errno, "cannot keep the maps of window %s: %s",
                       name, strerror(errno));
  if (same_maps)
    return 0;
  struct bpf_window_epoch epoch = *record;
  uint32_t zero = 0;
  set_times(&epoch, object->options.width_ns);
  if (bpf_map_update_elem(window->epoch_fd, &zero, &epoch, BPF_ANY) != 0)
    return failure_set(failure, -errno, "cannot set the epoch of %s: %s", name,
                       strerror(errno));
  if (bpf_map_freeze(window->ring_fd) != 0 ||
      bpf_map_freeze(window->epoch_fd) != 0 ||
      bpf_map_freeze(window->cursor_fd) != 0)
    return failure_set(failure, -errno, "cannot freeze the maps of %s: %s",
                       name, strerror(errno));
  return 0;
}

/* ---- Taking over old maps (O3) ---- */

static const struct object_window *find_window(const struct object *object,
                                               const char *name) {
  for (unsigned i = 0; i < object->windows; i++)
    if (strcmp(object->window[i].name, name) == 0)
      return &object->window[i];
  return NULL;
}

/* Whether the maps of an old window hold what this record describes. */
static bool same_layout(const struct object_window *old,
                        const struct bpf_window_epoch *record,
                        uint64_t width_ns) {
  struct reader *reader;
  if (reader_open(&reader, old->ring_fd, old->epoch_fd, old->cursor_fd, NULL) !=
      0)
    return false;
  const struct bpf_window_epoch *epoch = reader_epoch(reader);
  bool same = epoch->layout == record->layout &&
              epoch->width_ns == (width_ns ? width_ns : BPF_WINDOW_WIDTH_NS);
  reader_close(&reader);
  return same;
}

static int reuse_window(struct bpf_object *loaded,
                        const struct object_window *old,
                        struct failure *failure) {
  if (bpf_map__reuse_fd(map_named(loaded, old->name, ""), old->ring_fd) != 0 ||
      bpf_map__reuse_fd(map_named(loaded, old->name, "_epoch"),
                        old->epoch_fd) != 0 ||
      bpf_map__reuse_fd(map_named(loaded, old->name, "_cursor"),
                        old->cursor_fd) != 0)
    return failure_set(failure, -errno, "cannot take over the maps of %s: %s",
                       old->name, strerror(errno));
  return 0;
}

/* ---- Attaching ---- */

static int attach(struct object *object, struct bpf_object *loaded,
                  struct failure *failure) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, loaded) {
    if (!bpf_program__autoload(program))
      continue;
    struct bpf_link *link = bpf_program__attach(program);
    if (!link && errno == EOPNOTSUPP)
      continue; /* of a type that somebody else runs or attaches */
    char doing[PINS_NAME_SIZE * 2];
    snprintf(doing, sizeof(doing), "attaching %s", bpf_program__name(program));
    if (!link)
      return load_explain(-errno, doing, failure);
    if (object->links == MAX_LINKS) {
      bpf_link__destroy(link);
      return failure_set(failure, -E2BIG, "over %d programs", MAX_LINKS);
    }
    struct object_link *held = &object->link[object->links++];
    held->link = link;
    snprintf(held->program, sizeof(held->program), "%s",
             bpf_program__name(program));
  }
  return 0;
}

/* Events counted so far by all windows. */
static uint64_t events(const struct object *object) {
  uint64_t sum = 0, totals[BPF_WINDOW_MAX_VALUES];
  for (unsigned i = 0; i < object->windows; i++) {
    const struct object_window *window = &object->window[i];
    const struct window_snapshot *snapshot;
    struct reader *reader;
    if (reader_open(&reader, window->ring_fd, window->epoch_fd,
                    window->cursor_fd, NULL) != 0)
      continue;
    if (reader_snapshot(reader, &snapshot, NULL) == 0) {
      window_total_at(snapshot, UINT64_MAX, totals);
      for (uint32_t v = 0; v < snapshot->values; v++)
        sum += totals[v];
    }
    reader_close(&reader);
  }
  return sum;
}

/* Linux 5.10 attaches LSM programs that never run; so a file is opened and the
 * counters must have moved. Only for objects that watch file opens through the LSM. */
static int check_fires(const struct object *object, struct bpf_object *loaded,
                       struct failure *failure) {
  struct bpf_program *program;
  bool watches_opens = false;
  bpf_object__for_each_program(program, loaded) watches_opens |=
      bpf_program__autoload(program) &&
      strcmp(bpf_program__section_name(program), "lsm/file_open") == 0;
  if (!watches_opens)
    return 0;
  uint64_t before = events(object);
  int fd = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
  if (fd >= 0)
    close(fd);
  return events(object) > before
             ? 0
             : failure_set(failure, -ENOTSUP,
                           "the LSM program is attached, but the kernel never "
                           "runs it");
}

/* ---- Loading with one front ---- */

struct plan {
  const struct load_file *file;
  struct object *old; /* what is pinned, or NULL */
};

/* Whether every window of the file continues an old one; then O3's first half. */
static bool continues(const struct plan *plan, const struct object *object,
                      struct bpf_map **ring,
                      const struct bpf_window_epoch *record, unsigned windows) {
  for (unsigned i = 0; plan->old && i < windows; i++) {
    const struct object_window *old =
        find_window(plan->old, bpf_map__name(ring[i]));
    if (!old || !same_layout(old, &record[i], object->options.width_ns))
      return false;
  }
  return plan->old != NULL;
}

static int set_up_windows(struct object *object, const struct plan *plan,
                          struct bpf_object *loaded, struct bpf_map **ring,
                          const struct bpf_window_epoch *record,
                          unsigned windows, bool same_maps,
                          struct failure *failure) {
  int status = 0;
  for (unsigned i = 0; status == 0 && i < windows; i++) {
    const char *name = bpf_map__name(ring[i]);
    const struct object_window *old =
        plan->old ? find_window(plan->old, name) : NULL;
    status = take_window(object, loaded, name, &record[i], old, same_maps,
                         failure);
  }
  return status;
}

static int take_policy(struct object *object, struct bpf_object *loaded,
                       struct failure *failure) {
  struct bpf_map *policy = map_named(loaded, POLICY_MAP, "");
  struct bpf_map *state = map_named(loaded, POLICY_STATE_MAP, "");
  if (policy && state) {
    object->policy_fd = keep_fd(bpf_map__fd(policy));
    object->policy_state_fd = keep_fd(bpf_map__fd(state));
    if (object->policy_fd < 0 || object->policy_state_fd < 0)
      return failure_set(failure, -errno, "cannot keep the policy's maps: %s",
                         strerror(errno));
  }
  return object_set_policy(object, object->options.policy,
                           object->options.enforce, failure);
}

static int try_front(struct object *object, const struct plan *plan,
                     const char *front, struct failure *failure) {
  struct bpf_object *loaded;
  struct bpf_map *ring[OBJECT_MAX_WINDOWS];
  struct bpf_window_epoch *record =
      calloc(OBJECT_MAX_WINDOWS, sizeof(*record));
  if (!record)
    return failure_set(failure, -ENOMEM, "out of memory");
  unsigned windows = 0;
  int status = load_open(plan->file, &loaded, failure);
  if (status != 0) {
    free(record);
    return status;
  }
  status = describe_all(loaded, plan->file->path, ring, record, &windows, failure);
  bool same_maps =
      status == 0 && continues(plan, object, ring, record, windows);
  object->origin = !plan->old  ? OBJECT_LOADED
                   : same_maps ? OBJECT_UPGRADED
                               : OBJECT_REPLACED;
  if (status == 0)
    status = load_select_front(loaded, front, failure);
  for (unsigned i = 0; status == 0 && same_maps && i < windows; i++)
    status = reuse_window(
        loaded, find_window(plan->old, bpf_map__name(ring[i])), failure);
  if (status == 0)
    status = load_into_kernel(loaded, failure);
  if (status == 0)
    status = set_up_windows(object, plan, loaded, ring, record, windows,
                            same_maps, failure);
  if (status == 0)
    status = take_policy(object, loaded, failure);
  if (status == 0)
    status = attach(object, loaded, failure);
  if (status == 0)
    status = check_fires(object, loaded, failure);
  if (status != 0) {
    drop_links(object);
    drop_policy(object);
    drop_windows(object);
  }
  bpf_object__close(loaded);
  free(record);
  return status;
}

/* ---- The first front that works ---- */

static void add_reason(struct pins_record *record, const char *front,
                       const char *text) {
  size_t used = strlen(record->reason);
  snprintf(record->reason + used, sizeof(record->reason) - used, "%s%s: %s",
           used ? "; " : "", front, text);
}

static int read_fronts(const struct load_file *file,
                       struct describe_fronts *fronts, struct failure *failure) {
  struct bpf_object *opened;
  int status = load_open(file, &opened, failure);
  if (status != 0)
    return status;
  status = describe_fronts(bpf_object__btf(opened), fronts, failure);
  bpf_object__close(opened);
  return status;
}

/* Whether the trouble is the front's, so that the next one may do better. */
static bool is_of_the_front(int status) {
  return status != -ENOMEM && status != -E2BIG;
}

static int load(struct object *object, const struct plan *plan,
                struct failure *failure) {
  struct describe_fronts fronts;
  struct failure reason = {""};
  int status = read_fronts(plan->file, &fronts, failure);
  if (status != 0)
    return status;
  if (fronts.count == 0)
    return try_front(object, plan, NULL, failure);
  status = -ENOENT;
  for (unsigned i = 0; i < fronts.count && status != 0; i++) {
    const char *wanted = object->options.front;
    if (wanted && strcmp(wanted, fronts.name[i]) != 0)
      continue;
    status = try_front(object, plan, fronts.name[i], &reason);
    if (status != 0 && !is_of_the_front(status))
      break;
    if (status != 0)
      add_reason(&object->record, fronts.name[i], reason.text);
    else
      snprintf(object->record.front, sizeof(object->record.front), "%s",
               fronts.name[i]);
  }
  if (status != 0)
    failure_set(failure, status, "%s: no front works: %s", plan->file->path,
                object->record.reason[0] ? object->record.reason
                : reason.text[0]         ? reason.text
                                         : "there is none of that name");
  return status;
}

/* ---- Pinning ---- */

static int pin(const struct object *object, int fd, const char *name,
               const char *suffix, struct failure *failure) {
  char path[PINS_PATH_SIZE], full[PINS_NAME_SIZE * 2];
  snprintf(full, sizeof(full), "%s%s", name, suffix);
  int status =
      pins_staged_path(object->options.pins, object->options.name, full, path);
  if (status == 0 && bpf_obj_pin(fd, path) != 0)
    status = -errno;
  return status == 0 ? 0
                     : failure_set(failure, status, "cannot pin %s: %s", path,
                                   strerror(-status));
}

static int pin_record(const struct object *object, struct failure *failure) {
  uint32_t zero = 0;
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpf_window_rec", sizeof(zero),
                          sizeof(object->record), 1, NULL);
  if (fd < 0)
    return failure_set(failure, fd, "cannot make the record: %s", strerror(-fd));
  int status = 0;
  if (bpf_map_update_elem(fd, &zero, &object->record, BPF_ANY) != 0 ||
      bpf_map_freeze(fd) != 0)
    status = failure_set(failure, -errno, "cannot write the record: %s",
                         strerror(errno));
  if (status == 0)
    status = pin(object, fd, PINS_RECORD, "", failure);
  close(fd);
  return status;
}

static int pin_all(const struct object *object, struct failure *failure) {
  int status =
      pins_stage(object->options.pins, object->options.name, failure);
  for (unsigned i = 0; status == 0 && i < object->windows; i++) {
    const struct object_window *window = &object->window[i];
    status = pin(object, window->ring_fd, window->name, "", failure);
    if (status == 0)
      status = pin(object, window->epoch_fd, window->name, "_epoch", failure);
    if (status == 0)
      status = pin(object, window->cursor_fd, window->name, "_cursor", failure);
    if (status == 0)
      status = pin(object, window->edge_fd, window->name, PINS_EDGE_SUFFIX,
                   failure);
  }
  if (status == 0 && object->policy_fd >= 0)
    status = pin(object, object->policy_fd, POLICY_MAP, "", failure);
  if (status == 0 && object->policy_state_fd >= 0)
    status = pin(object, object->policy_state_fd, POLICY_STATE_MAP, "", failure);
  for (unsigned i = 0; status == 0 && i < object->links; i++) {
    const struct object_link *held = &object->link[i];
    status = pin(object, bpf_link__fd(held->link), PINS_LINK_PREFIX,
                 held->program, failure);
  }
  if (status == 0)
    status = pin_record(object, failure); /* last: P1 */
  if (status == 0)
    status = pins_commit(object->options.pins, object->options.name, failure);
  return status;
}

/* ---- Start and stop ---- */

static struct object *new_object(const struct object_options *options) {
  struct object *object = calloc(1, sizeof(*object));
  if (!object)
    return NULL;
  object->options = *options;
  object->policy_fd = object->policy_state_fd = -1;
  return object;
}

static void free_object(struct object **object) {
  if (!*object)
    return;
  drop_links(*object);
  drop_policy(*object);
  drop_windows(*object);
  free(*object);
  *object = NULL;
}

static int load_and_pin(struct object *object, const struct load_file *file,
                        struct object *old, struct failure *failure) {
  struct plan plan = {.file = file, .old = old};
  object->record.format = PINS_FORMAT;
  object->record.content = file->content;
  object->record.loaded_at = (uint64_t)time(NULL);
  snprintf(object->record.path, sizeof(object->record.path), "%s", file->path);
  int status = load(object, &plan, failure);
  if (status == 0 && object->options.pins)
    status = pin_all(object, failure);
  return status;
}

int object_start(struct object **out, const struct object_options *options,
                 struct failure *failure) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  if (!kernel.new_enough)
    return failure_set(failure, -ENOTSUP,
                       "Linux %s is too old: %d.%d or newer is needed",
                       kernel.release, PROBE_KERNEL_MAJOR, PROBE_KERNEL_MINOR);
  struct load_file file;
  int status = pins_check_name(options->name, failure);
  if (status == 0)
    status = load_read_file(&file, options->name, options->path, failure);
  if (status != 0)
    return status;

  struct object *object = new_object(options), *old = new_object(options);
  if (!object || !old)
    status = failure_set(failure, -ENOMEM, "out of memory");
  bool pinned = status == 0 && options->pins &&
                pins_read_record(pins_path(options->pins), options->name,
                                 &old->record, NULL) == 0 &&
                open_pinned_windows(old) == 0;
  if (pinned && old->record.content == file.content) {
    object->record = old->record;
    status = adopt(object, failure);
  } else if (status == 0) {
    status = load_and_pin(object, &file, pinned ? old : NULL, failure);
  }
  load_free_file(&file);
  free_object(&old);
  if (status != 0)
    free_object(&object);
  else
    *out = object;
  return status;
}

void object_stop(struct object **object, bool keep) {
  if (!*object)
    return;
  const struct object_options *options = &(*object)->options;
  if (!keep && options->pins)
    pins_remove(pins_path(options->pins), options->name, NULL);
  free_object(object);
}

/* ---- What it is ---- */

unsigned object_windows(const struct object *object,
                        const struct object_window **windows) {
  *windows = object->window;
  return object->windows;
}

enum object_origin object_origin(const struct object *object) {
  return object->origin;
}

const struct pins_record *object_record(const struct object *object) {
  return &object->record;
}

int object_set_policy(struct object *object, const struct policy *policy,
                      bool enforce, struct failure *failure) {
  if (object->policy_fd >= 0 && object->policy_state_fd >= 0)
    return policy_install(policy, object->policy_fd, object->policy_state_fd,
                          enforce, failure);
  if (policy)
    return failure_set(failure, -EINVAL,
                       "%s has no file policy: remove the Policy block",
                       object->options.name);
  return 0;
}

void object_log_libbpf(void (*log)(const char *line)) { load_log_libbpf(log); }
