/* SPDX-License-Identifier: MIT */
/* What is kept of windows that others own; see pins.h. */
#include "pins.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

int pins_check_watch_name(const char *name, struct failure *failure) {
  bool good = *name && strlen(name) < PINS_NAME_SIZE;
  for (const char *c = name; *c; c++)
    good = good && (isalnum((unsigned char)*c) || *c == '_' || *c == '-');
  return good ? 0
              : failure_set(
                    failure, -EINVAL,
                    "\"%s\" cannot be the name of a window: use up to %d "
                    "letters, digits, \"_\" and \"-\"",
                    name, PINS_NAME_SIZE - 1);
}

static int watch_path(const struct pins_root *root, const char *name,
                      char path[PINS_PATH_SIZE]) {
  return pins_object_path(pins_path(root), PINS_WATCH_FOLDER, name, path);
}

/* A descriptor of what is kept there; -ENOENT if there is none, -EINVAL if it is of
 * another version. Every other error is no answer: making another map then would
 * throw away what was kept. */
static int open_state(const char *path) {
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info);
  int fd = bpf_obj_get(path), status = 0;
  if (fd < 0)
    return -errno;
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    status = -errno;
  else if (info.type != BPF_MAP_TYPE_ARRAY ||
           info.value_size != sizeof(struct pins_watch))
    status = -EINVAL;
  if (status == 0)
    return fd;
  close(fd);
  return status;
}

static int pin(const struct pins_root *root, const char *name, int map_fd,
               struct failure *failure) {
  char folder[PINS_PATH_SIZE], path[PINS_PATH_SIZE];
  if (watch_path(root, "", folder) != 0 || watch_path(root, name, path) != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s: name too long", name);
  int status = pins_renew(root, failure);
  if (status != 0)
    return status;
  if (mkdir(folder, 0700) != 0 && errno != EEXIST)
    return failure_set(failure, -errno, "cannot make the folder %s: %s", folder,
                       strerror(errno));
  return bpf_obj_pin(map_fd, path) == 0
             ? 0
             : failure_set(failure, -errno, "cannot pin %s: %s", path,
                           strerror(errno));
}

/* The map pinned there before; -ENOENT if there is none that can be used. */
static int open_pinned(const struct pins_root *root, const char *name,
                       struct failure *failure) {
  char path[PINS_PATH_SIZE];
  if (watch_path(root, name, path) != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s: name too long", name);
  int fd = open_state(path);
  if (fd == -EINVAL)
    return unlink(path) == 0
               ? -ENOENT
               : failure_set(failure, -errno, "cannot remove %s: %s", path,
                             strerror(errno));
  return fd >= 0 || fd == -ENOENT
             ? fd
             : failure_set(failure, fd, "cannot open the pin %s: %s", path,
                           strerror(-fd));
}

int pins_open_watch(const struct pins_root *root, const char *name,
                    struct failure *failure) {
  int fd = root ? open_pinned(root, name, failure) : -ENOENT;
  if (fd != -ENOENT)
    return fd;
  fd = bpf_map_create(BPF_MAP_TYPE_ARRAY, "bpf_window_watc", sizeof(uint32_t),
                      sizeof(struct pins_watch), 1, NULL);
  if (fd < 0)
    return failure_set(failure, fd, "cannot make the map of the last edge: %s",
                       strerror(-fd));
  int status = root ? pin(root, name, fd, failure) : 0;
  if (status == 0)
    return fd;
  close(fd);
  return status;
}

int pins_mend_watch(const struct pins_root *root, const char *name, int fd,
                    struct failure *failure) {
  char path[PINS_PATH_SIZE];
  if (watch_path(root, name, path) != 0 || access(path, F_OK) == 0)
    return 0;
  int status = pin(root, name, fd, failure);
  return status == 0 ? 1 : status;
}

void pins_forget_watches(const struct pins_root *root,
                         bool (*wanted)(const char *name, void *context),
                         void *context) {
  char folder[PINS_PATH_SIZE], path[PINS_PATH_SIZE];
  if (watch_path(root, "", folder) != 0)
    return;
  DIR *entries = opendir(folder);
  struct dirent *entry;
  while (entries && (entry = readdir(entries)))
    if (entry->d_name[0] != '.' && !wanted(entry->d_name, context) &&
        watch_path(root, entry->d_name, path) == 0)
      unlink(path);
  if (entries)
    closedir(entries);
  rmdir(folder); /* if it is empty now */
}
