/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "policy.h"

/* ---- Pins found again (O2) ---- */

static int open_pin(const struct object *object, const char *pin,
                    const char *suffix) {
  char path[PINS_PATH_SIZE], name[PINS_NAME_SIZE * 2];
  snprintf(name, sizeof(name), "%s%s", pin, suffix);
  int status = pins_object_path(pins_path(object->options.pins),
                                object->options.name, name, path);
  return status == 0 ? bpf_obj_get(path) : status;
}

/* Opens a pin into *fd, which stays -1 on failure. */
static int open_into(const struct object *object, const char *pin,
                     const char *suffix, int *fd) {
  int opened = open_pin(object, pin, suffix);
  *fd = opened < 0 ? -1 : opened;
  return opened < 0 ? opened : 0;
}

/* The same for an array of one value of that size. Errors: -EINVAL if it is not. */
static int open_value(const struct object *object, const char *pin,
                      const char *suffix, size_t value_size, int *fd) {
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info);
  int status = open_into(object, pin, suffix, fd);
  if (status == 0 && bpf_obj_get_info_by_fd(*fd, &info, &size) != 0)
    status = -errno;
  if (status == 0 &&
      (info.type != BPF_MAP_TYPE_ARRAY || info.key_size != sizeof(uint32_t) ||
       info.value_size != value_size))
    status = -EINVAL;
  return status;
}

static int open_window(struct object *object, const char *name) {
  if (object->windows == OBJECT_MAX_WINDOWS || strlen(name) >= PINS_NAME_SIZE)
    return -EOVERFLOW;
  struct object_window *window = &object->window[object->windows++];
  *window = (struct object_window){"", -1, -1, -1, -1};
  snprintf(window->name, sizeof(window->name), "%s", name);
  int status = open_into(object, name, "", &window->ring_fd);
  if (status == 0)
    status = open_into(object, name, "_epoch", &window->epoch_fd);
  if (status == 0)
    status = open_into(object, name, "_cursor", &window->cursor_fd);
  if (status == 0)
    status = open_value(object, name, PINS_EDGE_SUFFIX,
                        sizeof(struct pins_edge), &window->edge_fd);
  return status;
}

static bool is_pinned(const struct object *object, const char *pin,
                      const char *suffix) {
  char path[PINS_PATH_SIZE], name[PINS_NAME_SIZE * 3];
  snprintf(name, sizeof(name), "%s%s", pin, suffix);
  return pins_object_path(pins_path(object->options.pins), object->options.name,
                          name, path) == 0 &&
         access(path, F_OK) == 0;
}

/* A window's name is that of its edge's pin; that of a ring may end so, too. */
static int visit_edge(const char *pin, void *context) {
  size_t length = strlen(pin), suffix = strlen(PINS_EDGE_SUFFIX);
  char name[PINS_NAME_SIZE * 2];
  if (length <= suffix || length >= sizeof(name) ||
      strcmp(pin + length - suffix, PINS_EDGE_SUFFIX) != 0 ||
      is_pinned(context, pin, PINS_EDGE_SUFFIX))
    return 0;
  snprintf(name, sizeof(name), "%.*s", (int)(length - suffix), pin);
  return open_window(context, name);
}

int adopt_windows(struct object *object) {
  int status = pins_for_each_pin(pins_path(object->options.pins),
                                 object->options.name, visit_edge, object);
  return status == 0 && object->windows == 0 ? -ENOENT : status;
}

static int visit_link(const char *pin, void *context) {
  struct object *object = context;
  size_t prefix = strlen(PINS_LINK_PREFIX);
  if (strncmp(pin, PINS_LINK_PREFIX, prefix) != 0)
    return 0;
  if (object->links == OBJECT_MAX_LINKS)
    return -EOVERFLOW;
  int fd = open_pin(object, pin, "");
  if (fd < 0)
    return fd;
  struct object_link *link = &object->link[object->links++];
  link->fd = fd;
  snprintf(link->program, sizeof(link->program), "%.63s", pin + prefix);
  return 0;
}

static int zero_if_absent(int status) { return status == -ENOENT ? 0 : status; }

int adopt_programs(struct object *object) {
  int status = pins_for_each_pin(pins_path(object->options.pins),
                                 object->options.name, visit_link, object);
  if (status == 0 && object->links != object->record.links)
    status = -ENOENT;
  if (status == 0)
    status =
        zero_if_absent(open_into(object, POLICY_MAP, "", &object->policy_fd));
  if (status == 0)
    status = zero_if_absent(open_value(object, POLICY_STATE_MAP, "",
                                       sizeof(struct file_policy_state),
                                       &object->policy_state_fd));
  return status;
}

/* ---- Detaching ---- */

static uint32_t program_id(int link_fd) {
  struct bpf_link_info info = {0};
  uint32_t size = sizeof(info);
  return bpf_obj_get_info_by_fd(link_fd, &info, &size) == 0 ? info.prog_id : 0;
}

#define DETACH_POLL_US 10000
#define DETACH_TRIES 200 /* of one poll each, for all programs together */
#define DETACH_UNSEEN_TRIES 10

/* The kernel detaches behind our back, after a grace period or two. Without
 * CAP_SYS_ADMIN that cannot be watched: a while then has to do. */
static void wait_until_gone(const uint32_t *program, unsigned programs) {
  int tries = DETACH_TRIES;
  for (unsigned i = 0; i < programs && tries > 0;) {
    int fd = program[i] ? bpf_prog_get_fd_by_id(program[i]) : -ENOENT;
    if (fd < 0 && fd != -EPERM) {
      i++;
      continue;
    }
    if (fd >= 0)
      close(fd);
    else if (tries > DETACH_UNSEEN_TRIES)
      tries = DETACH_UNSEEN_TRIES;
    tries--;
    usleep(DETACH_POLL_US);
  }
}

void adopt_detach(struct object *object) {
  uint32_t program[OBJECT_MAX_LINKS];
  unsigned links = object->links;
  for (unsigned i = 0; i < links; i++) {
    char path[PINS_PATH_SIZE], name[PINS_NAME_SIZE * 2];
    program[i] = program_id(object->link[i].fd);
    snprintf(name, sizeof(name), PINS_LINK_PREFIX "%s",
             object->link[i].program);
    if (pins_object_path(pins_path(object->options.pins), object->options.name,
                         name, path) == 0)
      unlink(path);
  }
  object_drop_links(object);
  wait_until_gone(program, links);
}

/* ---- Pins made ---- */

/* Calls visit for all that an object pins but its record; stops at an error. */
static int for_each_fd(const struct object *object,
                       int (*visit)(const struct object *object, int fd,
                                    const char *name, struct failure *failure),
                       struct failure *failure) {
  int status = 0;
  char name[PINS_NAME_SIZE * 2];
  for (unsigned i = 0; status == 0 && i < object->windows; i++) {
    const struct object_window *window = &object->window[i];
    const struct {
      const char *suffix;
      int fd;
    } maps[] = {{"", window->ring_fd},
                {"_epoch", window->epoch_fd},
                {"_cursor", window->cursor_fd},
                {PINS_EDGE_SUFFIX, window->edge_fd}};
    for (size_t m = 0; status == 0 && m < sizeof(maps) / sizeof(*maps); m++) {
      snprintf(name, sizeof(name), "%s%s", window->name, maps[m].suffix);
      status = visit(object, maps[m].fd, name, failure);
    }
  }
  if (status == 0 && object->policy_fd >= 0)
    status = visit(object, object->policy_fd, POLICY_MAP, failure);
  if (status == 0 && object->policy_state_fd >= 0)
    status = visit(object, object->policy_state_fd, POLICY_STATE_MAP, failure);
  for (unsigned i = 0; status == 0 && i < object->links; i++) {
    snprintf(name, sizeof(name), PINS_LINK_PREFIX "%s",
             object->link[i].program);
    status = visit(object, object->link[i].fd, name, failure);
  }
  return status;
}

static int pin_at(const char *path, int fd, struct failure *failure) {
  return bpf_obj_pin(fd, path) == 0
             ? 0
             : failure_set(failure, -errno, "cannot pin %s: %s", path,
                           strerror(errno));
}

static int pin_staged(const struct object *object, int fd, const char *name,
                      struct failure *failure) {
  char path[PINS_PATH_SIZE];
  if (pins_staged_path(object->options.pins, object->options.name, name,
                       path) != 0)
    return failure_set(failure, -ENAMETOOLONG, "pin %s: name too long", name);
  return pin_at(path, fd, failure);
}

static int pin_record(const struct object *object, struct failure *failure) {
  uint32_t zero = 0;
  int fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpf_window_rec", sizeof(zero),
                          sizeof(object->record), 1, NULL);
  if (fd < 0)
    return failure_set(failure, fd, "cannot make the record: %s",
                       strerror(-fd));
  int status = 0;
  if (bpf_map_update_elem(fd, &zero, &object->record, BPF_ANY) != 0 ||
      bpf_map_freeze(fd) != 0)
    status = failure_set(failure, -errno, "cannot write the record: %s",
                         strerror(errno));
  if (status == 0)
    status = pin_staged(object, fd, PINS_RECORD, failure);
  close(fd);
  return status;
}

int adopt_pin_all(const struct object *object, struct failure *failure) {
  int status = pins_stage(object->options.pins, object->options.name, failure);
  if (status == 0)
    status = for_each_fd(object, pin_staged, failure);
  if (status == 0)
    status = pin_record(object, failure); /* last: P1 */
  if (status == 0)
    status = pins_commit(object->options.pins, object->options.name, failure);
  if (status != 0)
    pins_unstage(object->options.pins, object->options.name, false);
  return status;
}

/* ---- Pins that somebody removed ---- */

static int note_missing(const struct object *object, int fd, const char *name,
                        struct failure *failure) {
  (void)fd;
  (void)failure;
  return is_pinned(object, name, "") ? 0 : -ENOENT;
}

int object_mend_pins(struct object *object, struct failure *failure) {
  if (!object->options.pins ||
      (for_each_fd(object, note_missing, NULL) == 0 &&
       note_missing(object, -1, PINS_RECORD, NULL) == 0))
    return 0;
  int status = adopt_pin_all(object, failure);
  return status == 0 ? 1 : status;
}
