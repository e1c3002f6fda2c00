/* SPDX-License-Identifier: MIT */
#include "load.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <bpf/libbpf.h>

#include "explain.h"
#include "probe_hook.h"

#define MAX_FILE_SIZE (16u << 20)

/* ---- libbpf's log ---- */

static void (*log_line)(const char *line);
/* The warning that says most: the first since the last load_open. */
static char first_warning[256];

static int print(enum libbpf_print_level level, const char *format,
                 va_list arguments) {
  char text[4096];
  vsnprintf(text, sizeof(text), format, arguments);
  char *rest = text, *line;
  while ((line = strsep(&rest, "\n"))) {
    if (*line == '\0')
      continue;
    if (level == LIBBPF_WARN && first_warning[0] == '\0')
      snprintf(first_warning, sizeof(first_warning), "%s", line);
    if (log_line)
      log_line(line);
  }
  return 0;
}

void load_log_libbpf(void (*log)(const char *line)) {
  log_line = log;
  libbpf_set_print(print);
}

/* ---- The file ---- */

int load_read_file(struct load_file *file, const char *name, const char *path,
                   struct failure *failure) {
  *file = (struct load_file){.name = name, .path = path};
  int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0)
    return failure_set(failure, -errno, "cannot open the object file %s: %s",
                       path, strerror(errno));
  struct stat info;
  int status = 0;
  if (fstat(fd, &info) != 0)
    status = failure_set(failure, -errno, "cannot read the object file %s: %s",
                         path, strerror(errno));
  else if (!S_ISREG(info.st_mode))
    status = failure_set(failure, -EINVAL, "%s is no regular file", path);
  else if (info.st_size > MAX_FILE_SIZE)
    status = failure_set(failure, -EFBIG, "%s is over %u MiB, no BPF object",
                         path, MAX_FILE_SIZE >> 20);
  else if (!(file->bytes = malloc((size_t)info.st_size + 1)))
    status = failure_set(failure, -ENOMEM, "out of memory");
  while (status == 0 && file->size < (size_t)info.st_size) {
    ssize_t got = read(fd, (char *)file->bytes + file->size,
                       (size_t)info.st_size - file->size);
    if (got < 0)
      status =
          failure_set(failure, -errno, "cannot read the object file %s: %s",
                      path, strerror(errno));
    else if (got == 0)
      status = failure_set(failure, -EIO,
                           "the object file %s became shorter while it was "
                           "read: start again when it is whole",
                           path);
    else
      file->size += (size_t)got;
  }
  close(fd);
  if (status != 0)
    load_free_file(file);
  else
    file->content = describe_hash(file->bytes, file->size);
  return status;
}

void load_free_file(struct load_file *file) {
  free(file->bytes);
  file->bytes = NULL;
}

int load_open(const struct load_file *file, struct bpf_object **object,
              struct failure *failure) {
  first_warning[0] = '\0';
  libbpf_set_print(print);
  LIBBPF_OPTS(bpf_object_open_opts, options, .object_name = file->name);
  *object = bpf_object__open_mem(file->bytes, file->size, &options);
  if (*object)
    return 0;
  int status = -errno;
  return failure_set(failure, status,
                     "%s is no BPF object that libbpf %s can "
                     "read: %s",
                     file->path, libbpf_version_string(),
                     first_warning[0] ? first_warning : strerror(-status));
}

/* ---- Fronts ---- */

/* A trial program must have run, unless that cannot be told. */
static int check_lsm(struct failure *failure) {
  int status = probe_hook(PROBE_HOOK_LSM, failure);
  return status == -EINPROGRESS ? 0 : status;
}

bool load_wants(const struct btf *btf, const struct bpf_program *program,
                const char *front) {
  bool by_default = bpf_program__autoload(program);
  return btf ? describe_wants_function(btf, bpf_program__name(program), front,
                                       by_default)
             : by_default;
}

int load_select_front(struct bpf_object *object, const char *front,
                      struct failure *failure) {
  const struct btf *btf = bpf_object__btf(object);
  struct bpf_program *program;
  struct bpf_map *map;
  bool needs_lsm = false;
  bpf_object__for_each_program(program, object) {
    bool wanted = load_wants(btf, program, front);
    bpf_program__set_autoload(program, wanted);
    needs_lsm |= wanted && bpf_program__type(program) == BPF_PROG_TYPE_LSM;
  }
  bpf_object__for_each_map(map, object) {
    if (btf && !describe_wants_map(btf, bpf_map__name(map), front))
      bpf_map__set_autocreate(map, false);
  }
  return needs_lsm ? check_lsm(failure) : 0;
}

/* ---- Loading ---- */

int load_explain(int status, const char *doing, struct failure *failure) {
  return explain_refusal(status, doing,
                         first_warning[0] ? first_warning : strerror(-status),
                         failure);
}

int load_into_kernel(struct bpf_object *object, struct failure *failure) {
  first_warning[0] = '\0';
  int status = bpf_object__load(object);
  return status == 0 ? 0 : load_explain(status, "loading", failure);
}
