/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "load.h"
#include "policy.h"
#include "probe.h"
#include "window/clock.h"

/* ---- Descriptors ---- */

int object_keep_fd(int fd) { return fcntl(fd, F_DUPFD_CLOEXEC, 0); }

static void close_fd(int *fd) {
  if (*fd >= 0)
    close(*fd);
  *fd = -1;
}

void object_drop_windows(struct object *object) {
  for (unsigned i = 0; i < object->windows; i++) {
    close_fd(&object->window[i].ring_fd);
    close_fd(&object->window[i].epoch_fd);
    close_fd(&object->window[i].cursor_fd);
    close_fd(&object->window[i].edge_fd);
  }
  object->windows = 0;
}

void object_drop_links(struct object *object) {
  while (object->links > 0)
    close_fd(&object->link[--object->links].fd);
}

void object_drop_policy(struct object *object) {
  close_fd(&object->policy_fd);
  close_fd(&object->policy_state_fd);
}

/* ---- The policy ---- */

int object_install_policy(struct object *object, const struct policy *policy,
                          const struct policy_terms *terms,
                          struct failure *failure) {
  if (object->policy_fd >= 0 && object->policy_state_fd >= 0) {
    struct failure reason;
    int status = policy_install(policy, object->policy_fd,
                                object->policy_state_fd, terms, &reason);
    return status == 0 ? 0
                       : failure_set(failure, status, "policy of %s: %.600s",
                                     object->options.name, reason.text);
  }
  if (policy)
    return failure_set(failure, -EINVAL,
                       "%s has no file policy: remove the Policy block",
                       object->options.name);
  return 0;
}

/* Needs the programs: they make the marks, and refuse the opens that are for
 * that only. Without marks paths are denied all the same, so that what goes
 * wrong is a warning. */
static void mark_denied(struct object *object, const struct policy *policy,
                        bool enforce) {
  const char *front = object->record.front;
  bool denies = !*front || strcmp(front, "lsm") == 0;
  object->warning.text[0] = '\0';
  if (enforce && denies && object->policy_state_fd >= 0)
    policy_mark(policy, object->policy_state_fd, &object->warning);
}

/* ---- Start ---- */

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
  object_drop_links(*object);
  object_drop_policy(*object);
  object_drop_windows(*object);
  free(*object);
  *object = NULL;
}

static int load_and_pin(struct object *object, const struct load_file *file,
                        struct object *old, struct failure *failure) {
  object->record.format = PINS_FORMAT;
  object->record.content = file->content;
  object->record.loaded_at = (uint64_t)time(NULL);
  snprintf(object->record.path, sizeof(object->record.path), "%s", file->path);
  int status = attempt_fronts(object, file, old, failure);
  object->record.links = object->links;
  if (status == 0 && object->options.pins) {
    bool has_counts = old && object->origin != OBJECT_REPLACED;
    status = adopt_pin_all(object, failure);
    if (status != 0 && !has_counts)
      pins_unstage(object->options.pins, object->options.name, true);
  }
  return status;
}

/* What is pinned under the object's name. */
enum found {
  FOUND_NOTHING,
  FOUND_MAPS,  /* windows that can be taken over */
  FOUND_WHOLE, /* and the programs of this very file */
};

/* Opens it into old. A pin that is there but cannot be opened is an error:
 * taking it for absent would throw away its counts. */
static int find_pinned(struct object *old, const struct load_file *file,
                       enum found *found, struct failure *failure) {
  const struct object_options *options = &old->options;
  *found = FOUND_NOTHING;
  if (!options->pins)
    return 0;
  int status = pins_read_record(pins_path(options->pins), options->name,
                                &old->record, failure);
  if (status == -ENOENT || status == -EINVAL) /* none, or of another version */
    return 0;
  if (status == 0)
    status = adopt_windows(old);
  if (status == -ENOENT)
    return 0;
  *found = FOUND_MAPS;
  if (status == 0)
    status = adopt_programs(old);
  if (status == -ENOENT)
    return 0;
  if (status == -EINVAL)
    return failure_set(failure, status,
                       "%s/%s has pins of another kind than those of this "
                       "version: `bpf-window detach --pin-dir %s %s` removes "
                       "them",
                       pins_path(options->pins), options->name,
                       pins_path(options->pins), options->name);
  if (status != 0)
    return failure_set(failure, status, "cannot open its pins in %s/%s: %s",
                       pins_path(options->pins), options->name,
                       strerror(-status));
  if (old->record.content == file->content &&
      (!options->front || strcmp(options->front, old->record.front) == 0))
    *found = FOUND_WHOLE;
  return 0;
}

static int start(struct object **out, const struct load_file *file,
                 const struct object_options *options,
                 struct failure *failure) {
  struct object *object = new_object(options), *old = new_object(options);
  enum found found = FOUND_NOTHING;
  int status = 0;
  if (!object || !old)
    status = failure_set(failure, -ENOMEM, "out of memory");
  if (status == 0)
    status = find_pinned(old, file, &found, failure);
  if (status == 0 && found == FOUND_WHOLE) {
    free_object(&object);
    object = old;
    old = NULL;
    object->origin = OBJECT_ADOPTED;
    status =
        object_set_policy(object, options->policy, &options->terms, failure);
  } else if (status == 0) {
    bool same_file = old->record.content == file->content;
    status = load_and_pin(object, file, found ? old : NULL, failure);
    if (status == 0 && same_file && object->origin == OBJECT_UPGRADED)
      object->origin = OBJECT_REATTACHED;
    if (status == 0)
      mark_denied(object, options->policy, options->terms.enforce);
  }
  free_object(&old);
  if (status != 0)
    free_object(&object);
  else
    *out = object;
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
  int status = clock_check(failure);
  if (status == 0)
    status = pins_check_name(options->name, failure);
  if (status == 0)
    status = load_read_file(&file, options->name, options->path, failure);
  if (status != 0)
    return status;
  status = start(out, &file, options, failure);
  load_free_file(&file);
  return status;
}

/* ---- Stop ---- */

int object_stop(struct object **object, bool keep, struct failure *failure) {
  if (!*object)
    return 0;
  const struct object_options *options = &(*object)->options;
  int status = 0;
  if (!keep && options->pins)
    status = pins_remove(pins_path(options->pins), options->name, failure);
  free_object(object);
  return status;
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

const char *object_warning(const struct object *object) {
  return object->warning.text;
}

int object_set_policy(struct object *object, const struct policy *policy,
                      const struct policy_terms *terms,
                      struct failure *failure) {
  int status = object_install_policy(object, policy, terms, failure);
  if (status == 0)
    mark_denied(object, policy, terms->enforce);
  return status;
}

void object_log_libbpf(void (*log)(const char *line)) { load_log_libbpf(log); }
