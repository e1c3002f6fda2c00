/* SPDX-License-Identifier: MIT */
#include "pins.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/bpf.h>

#include "probe.h"

/* A staging name, of what is being removed; no object's name begins with a dash. */
#define REMOVED_PREFIX PINS_STAGING_PREFIX "-"

struct pins_root {
  char path[PINS_PATH_SIZE];
  int fd; /* of the folder; holds the lock */
};

/* ---- Names and paths ---- */

static int join(char path[PINS_PATH_SIZE], const char *root, const char *prefix,
                const char *object, const char *pin) {
  int length = snprintf(path, PINS_PATH_SIZE, "%s/%s%s%s%s", root, prefix,
                        object, *pin ? "/" : "", pin);
  return length < PINS_PATH_SIZE ? 0 : -ENAMETOOLONG;
}

int pins_staged_path(const struct pins_root *root, const char *object,
                     const char *pin, char path[PINS_PATH_SIZE]) {
  return join(path, root->path, PINS_STAGING_PREFIX, object, pin);
}

int pins_object_path(const char *root, const char *object, const char *pin,
                     char path[PINS_PATH_SIZE]) {
  return join(path, root, "", object, pin);
}

const char *pins_path(const struct pins_root *root) { return root->path; }

static bool is_staging(const char *name) {
  return strncmp(name, PINS_STAGING_PREFIX, strlen(PINS_STAGING_PREFIX)) == 0;
}

int pins_check_name(const char *name, struct failure *failure) {
  bool good = *name && strlen(name) < PINS_NAME_SIZE && !is_staging(name);
  for (const char *c = name; *c; c++)
    good = good && (isalnum((unsigned char)*c) || *c == '_');
  return good ? 0
              : failure_set(failure, -EINVAL,
                            "\"%s\" cannot be the name of an object: use up to "
                            "%d letters, digits and underscores, and not "
                            "\"" PINS_STAGING_PREFIX "\" in front",
                            name, PINS_NAME_SIZE - 1);
}

/* ---- Folders ---- */

static int visit_entries(const char *path, mode_t kind,
                         int (*visit)(const char *name, void *context),
                         void *context) {
  DIR *folder = opendir(path);
  if (!folder)
    return errno == ENOENT ? 0 : -errno;
  int status = 0;
  struct dirent *entry;
  while (status == 0 && (entry = readdir(folder))) {
    struct stat info;
    if (entry->d_name[0] != '.' &&
        fstatat(dirfd(folder), entry->d_name, &info, AT_SYMLINK_NOFOLLOW) ==
            0 &&
        (info.st_mode & S_IFMT) == kind)
      status = visit(entry->d_name, context);
  }
  closedir(folder);
  return status;
}

static int unlink_pin(const char *name, void *context) {
  char path[PINS_PATH_SIZE + PINS_NAME_SIZE * 2];
  snprintf(path, sizeof(path), "%s/%s", (const char *)context, name);
  return unlink(path) == 0 ? 0 : -errno;
}

/* P1: the record goes first. */
static int remove_folder(const char *path, struct failure *failure) {
  int status = unlink_pin(PINS_RECORD, (void *)path);
  if (status == 0 || status == -ENOENT)
    status = visit_entries(path, S_IFREG, unlink_pin, (void *)path);
  if (status == 0 && rmdir(path) != 0 && errno != ENOENT)
    status = -errno;
  return status == 0
             ? 0
             : failure_set(failure, status, "cannot remove the pins in %s: %s",
                           path, strerror(-status));
}

static int make_folders(const char *path, struct failure *failure) {
  char parent[PINS_PATH_SIZE];
  snprintf(parent, sizeof(parent), "%s", path);
  for (char *slash = strchr(parent + 1, '/');; slash = strchr(slash + 1, '/')) {
    if (slash)
      *slash = '\0';
    if (mkdir(parent, 0700) != 0 && errno != EEXIST)
      return failure_set(failure, -errno, "cannot make the folder %s: %s%s",
                         parent, strerror(errno),
                         errno == EROFS ? " (is ProtectKernelTunables set in "
                                          "the service's unit?)"
                                        : "");
    if (!slash)
      return 0;
    *slash = '/';
  }
}

/* ---- What a crash left ---- */

static bool has_record(const char *folder) {
  char path[PINS_PATH_SIZE];
  return join(path, folder, "", PINS_RECORD, "") == 0 &&
         access(path, F_OK) == 0;
}

/* P2 for one folder below the root. */
static int mend(const char *name, void *context) {
  const struct pins_root *root = context;
  char path[PINS_PATH_SIZE];
  if (join(path, root->path, "", name, "") != 0)
    return 0;
  if (!is_staging(name))
    return 0;
  bool removed = strncmp(name, REMOVED_PREFIX, strlen(REMOVED_PREFIX)) == 0;
  return has_record(path) && !removed
             ? pins_commit(root, name + strlen(PINS_STAGING_PREFIX), NULL)
             : remove_folder(path, NULL);
}

/* Whether it is where a file system is mounted: others have their pins there, too, and
 * would lose them to P2. */
static bool is_mount_point(const char *path) {
  char parent[PINS_PATH_SIZE];
  struct stat here, above;
  return join(parent, path, "", "..", "") == 0 && stat(path, &here) == 0 &&
         stat(parent, &above) == 0 && here.st_dev != above.st_dev;
}

int pins_check_root(const char *path, struct failure *failure) {
  if (path[0] != '/' || strlen(path) > PINS_PATH_SIZE - 3 * PINS_NAME_SIZE)
    return failure_set(failure, -EINVAL,
                       "PinDir \"%s\" must be an absolute path of at most %d "
                       "bytes",
                       path, PINS_PATH_SIZE - 3 * PINS_NAME_SIZE);
  if (!probe_on_bpffs(path))
    return failure_set(
        failure, -ENODEV, "%s is not on a BPF file system (%s)", path,
        probe_on_bpffs("/sys/fs/bpf") ? "choose a PinDir below /sys/fs/bpf"
                                      : "mount -t bpf bpf /sys/fs/bpf");
  if (is_mount_point(path))
    return failure_set(
        failure, -EINVAL,
        "PinDir \"%s\" is the whole of a BPF file system; it must "
        "be a folder of its own in it",
        path);
  return 0;
}

int pins_open(struct pins_root **out, const char *path,
              struct failure *failure) {
  int status = pins_check_root(path, failure);
  if (status == 0)
    status = make_folders(path, failure);
  if (status != 0)
    return status;
  struct pins_root *root = calloc(1, sizeof(*root));
  if (!root)
    return failure_set(failure, -ENOMEM, "out of memory");
  snprintf(root->path, sizeof(root->path), "%s", path);
  root->fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (root->fd < 0)
    status = failure_set(failure, -errno, "cannot open %s: %s", path,
                         strerror(errno));
  if (status == 0)
    status = pins_lock(root->fd, path, failure);
  if (status == 0) {
    status = visit_entries(path, S_IFDIR, mend, root);
    if (status != 0)
      failure_set(failure, status, "cannot mend what is left in %s: %s", path,
                  strerror(-status));
  }
  if (status != 0) {
    pins_close(&root);
    return status;
  }
  *out = root;
  return 0;
}

void pins_close(struct pins_root **root) {
  if (!*root)
    return;
  if ((*root)->fd >= 0)
    close((*root)->fd);
  free(*root);
  *root = NULL;
}

/* ---- A root folder that somebody removed ---- */

/* 1: the folder is the one that was locked, 0: it is gone, or another; -errno if that
 * cannot be told. */
static int is_there(const struct pins_root *root) {
  struct stat ours, found;
  if (fstat(root->fd, &ours) != 0)
    return -errno;
  if (stat(root->path, &found) != 0)
    return errno == ENOENT ? 0 : -errno;
  return ours.st_dev == found.st_dev && ours.st_ino == found.st_ino;
}

static int make_again(const struct pins_root *root, struct failure *failure) {
  int status = make_folders(root->path, failure);
  if (status != 0)
    return status;
  int fd = open(root->path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return failure_set(failure, -errno, "cannot open %s: %s", root->path,
                       strerror(errno));
  status = pins_lock(fd, root->path, failure);
  /* In one step: the lock goes with the folder that is there. */
  if (status == 0 && dup3(fd, root->fd, O_CLOEXEC) < 0)
    status = failure_set(failure, -errno, "cannot keep the lock of %s: %s",
                         root->path, strerror(errno));
  close(fd);
  return status;
}

int pins_renew(const struct pins_root *root, struct failure *failure) {
  static pthread_mutex_t one_at_a_time = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&one_at_a_time);
  int status = is_there(root);
  if (status == 0)
    status = make_again(root, failure);
  else if (status < 0)
    failure_set(failure, status, "cannot look at %s: %s", root->path,
                strerror(-status));
  pthread_mutex_unlock(&one_at_a_time);
  return status < 0 ? status : 0;
}

/* ---- An object's folder ---- */

int pins_stage(const struct pins_root *root, const char *object,
               struct failure *failure) {
  char path[PINS_PATH_SIZE];
  int status = pins_staged_path(root, object, "", path);
  if (status != 0)
    return failure_set(failure, status, "%s: name too long", object);
  status = pins_renew(root, failure);
  if (status == 0)
    status = remove_folder(path, failure);
  if (status == 0 && mkdir(path, 0700) != 0)
    status = failure_set(failure, -errno, "cannot make the folder %s: %s", path,
                         strerror(errno));
  return status;
}

/* P2: at once under a name that says that it is to go. */
static int remove_object(const char *root, const char *object,
                         struct failure *failure) {
  char path[PINS_PATH_SIZE], removed[PINS_PATH_SIZE];
  if (pins_object_path(root, object, "", path) != 0 ||
      join(removed, root, REMOVED_PREFIX, object, "") != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s: name too long", object);
  int status = remove_folder(removed, failure);
  if (status != 0)
    return status;
  if (rename(path, removed) != 0 && errno != ENOENT)
    return failure_set(failure, -errno, "cannot remove the pins in %s: %s",
                       path, strerror(errno));
  return remove_folder(removed, failure);
}

void pins_unstage(const struct pins_root *root, const char *object,
                  bool worthless) {
  char staged[PINS_PATH_SIZE], final[PINS_PATH_SIZE];
  if (pins_staged_path(root, object, "", staged) != 0 ||
      pins_object_path(root->path, object, "", final) != 0 ||
      (!worthless && has_record(staged) && !has_record(final)))
    return;
  remove_folder(staged, NULL);
}

int pins_commit(const struct pins_root *root, const char *object,
                struct failure *failure) {
  char staged[PINS_PATH_SIZE], final[PINS_PATH_SIZE];
  if (pins_staged_path(root, object, "", staged) != 0 ||
      pins_object_path(root->path, object, "", final) != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s: name too long", object);
  int status = remove_object(root->path, object, failure);
  if (status == 0 && rename(staged, final) != 0)
    status = failure_set(failure, -errno, "cannot rename %s to %s: %s", staged,
                         final, strerror(errno));
  return status;
}

int pins_remove(const char *root, const char *object, struct failure *failure) {
  return remove_object(root, object, failure);
}

struct folder_visit {
  int (*visit)(const char *object, void *context);
  void *context;
};

static int visit_object(const char *name, void *context) {
  struct folder_visit *folder = context;
  return pins_check_name(name, NULL) != 0
             ? 0 /* staging, or of others */
             : folder->visit(name, folder->context);
}

int pins_for_each(const char *root,
                  int (*visit)(const char *object, void *context),
                  void *context) {
  struct folder_visit folder = {visit, context};
  return visit_entries(root, S_IFDIR, visit_object, &folder);
}

int pins_for_each_pin(const char *root, const char *object,
                      int (*visit)(const char *pin, void *context),
                      void *context) {
  char path[PINS_PATH_SIZE];
  int status = pins_object_path(root, object, "", path);
  return status == 0 ? visit_entries(path, S_IFREG, visit, context) : status;
}

int pins_read_record(const char *root, const char *object,
                     struct pins_record *record, struct failure *failure) {
  char path[PINS_PATH_SIZE];
  if (pins_object_path(root, object, PINS_RECORD, path) != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s: name too long", object);
  LIBBPF_OPTS(bpf_obj_get_opts, options, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(path, &options);
  if (fd < 0)
    return failure_set(failure, fd, "cannot open the pin %s: %s", path,
                       strerror(-fd));
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info), zero = 0;
  int status = 0;
  memset(record, 0, sizeof(*record));
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    status = -errno;
  else if (info.type != BPF_MAP_TYPE_ARRAY ||
           info.value_size != sizeof(*record))
    status = -EINVAL;
  else if (bpf_map_lookup_elem(fd, &zero, record) != 0)
    status = -errno;
  else if (record->format != PINS_FORMAT)
    status = -EINVAL;
  close(fd);
  record->front[sizeof(record->front) - 1] = '\0';
  record->reason[sizeof(record->reason) - 1] = '\0';
  record->path[sizeof(record->path) - 1] = '\0';
  if (status == -EINVAL)
    return failure_set(failure, status,
                       "%s is the record of another version of this program",
                       path);
  return status == 0
             ? 0
             : failure_set(failure, status, "cannot read the record %s: %s",
                           path, strerror(-status));
}
