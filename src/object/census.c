/* SPDX-License-Identifier: MIT */
#include "census.h"

#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/btf.h>
#include <bpf/libbpf.h>

/* Makes room for one more zeroed element; returns it, or NULL. */
static void *grow(void **elements, size_t *count, size_t size) {
  char *larger = realloc(*elements, (*count + 1) * size);
  if (!larger)
    return NULL;
  *elements = larger;
  return memset(larger + (*count)++ * size, 0, size);
}

/* ---- Programs and their hooks ---- */

static int add_program(struct census *census, uint32_t id, int fd) {
  struct bpf_prog_info info = {0};
  uint32_t size = sizeof(info);
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    return 0; /* it has just gone */
  struct census_program *program = grow(
      (void **)&census->programs, &census->program_count, sizeof(*program));
  if (!program)
    return -ENOMEM;
  program->id = id;
  memcpy(program->name, info.name, sizeof(program->name));
  program->runs = info.run_cnt;
  program->run_ns = info.run_time_ns;
  const char *type = libbpf_bpf_prog_type_str(info.type);
  snprintf(program->hook, sizeof(program->hook), "%s", type ? type : "?");

  size_t maps = info.nr_map_ids;
  if (maps == 0)
    return 0;
  program->map_ids = calloc(maps, sizeof(*program->map_ids));
  if (!program->map_ids)
    return -ENOMEM;
  memset(&info, 0, sizeof(info));
  info.nr_map_ids = (uint32_t)maps;
  info.map_ids = (uintptr_t)program->map_ids;
  if (bpf_obj_get_info_by_fd(fd, &info, &size) == 0)
    program->maps = info.nr_map_ids < maps ? info.nr_map_ids : maps;
  return 0;
}

static int add_programs(struct census *census) {
  uint32_t id = 0;
  while (bpf_prog_get_next_id(id, &id) == 0) {
    int fd = bpf_prog_get_fd_by_id(id);
    if (fd < 0)
      continue;
    int status = add_program(census, id, fd);
    close(fd);
    if (status != 0)
      return status;
  }
  return errno == ENOENT ? 0 : -errno;
}

/* `bpf_lsm_file_open` -> `file_open`, `btf_trace_sys_exit` -> `sys_exit` */
static const char *without_prefix(const char *name) {
  static const char *const prefixes[] = {"bpf_lsm_", "btf_trace_"};
  for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes); i++)
    if (strncmp(name, prefixes[i], strlen(prefixes[i])) == 0)
      return name + strlen(prefixes[i]);
  return name;
}

static const char *tracing_kind(unsigned attach_type) {
  switch (attach_type) {
  case BPF_TRACE_RAW_TP:
    return "tp_btf";
  case BPF_TRACE_FENTRY:
    return "fentry";
  case BPF_TRACE_FEXIT:
    return "fexit";
  case BPF_MODIFY_RETURN:
    return "fmod_ret";
  case BPF_LSM_MAC:
    return "lsm";
  default:
    return "tracing";
  }
}

static void name_hook(struct census_program *program, const struct btf *kernel,
                      const struct bpf_link_info *link, const char *raw_name) {
  if (link->type == BPF_LINK_TYPE_RAW_TRACEPOINT) {
    const char *kind =
        strcmp(program->hook, "tracing") == 0 ? "tp_btf" : "raw_tp";
    snprintf(program->hook, sizeof(program->hook), "%s/%.40s", kind, raw_name);
  } else if (link->type == BPF_LINK_TYPE_TRACING) {
    const struct btf_type *type =
        kernel ? btf__type_by_id(kernel, link->tracing.target_btf_id) : NULL;
    const char *name =
        type ? btf__name_by_offset(kernel, type->name_off) : NULL;
    snprintf(program->hook, sizeof(program->hook), "%s/%.40s",
             tracing_kind(link->tracing.attach_type),
             name ? without_prefix(name) : "?");
  }
}

/* The kernel takes the place of a name, asked for before the type is known, for that
 * of other links' arrays, which are larger. */
static int read_link(int fd, struct bpf_link_info *link, char *raw_name,
                     uint32_t room) {
  uint32_t size = sizeof(*link);
  memset(link, 0, sizeof(*link));
  if (bpf_obj_get_info_by_fd(fd, link, &size) != 0)
    return -errno;
  if (link->type != BPF_LINK_TYPE_RAW_TRACEPOINT)
    return 0;
  memset(link, 0, sizeof(*link));
  link->raw_tracepoint.tp_name = (uintptr_t)raw_name;
  link->raw_tracepoint.tp_name_len = room;
  size = sizeof(*link);
  return bpf_obj_get_info_by_fd(fd, link, &size) == 0 ? 0 : -errno;
}

static void name_hooks(struct census *census) {
  struct btf *kernel = btf__load_vmlinux_btf();
  uint32_t id = 0;
  while (bpf_link_get_next_id(id, &id) == 0) {
    int fd = bpf_link_get_fd_by_id(id);
    if (fd < 0)
      continue;
    char raw_name[64] = "?";
    struct bpf_link_info link;
    if (read_link(fd, &link, raw_name, sizeof(raw_name)) == 0)
      for (size_t i = 0; i < census->program_count; i++)
        if (census->programs[i].id == link.prog_id)
          name_hook(&census->programs[i], kernel, &link, raw_name);
    close(fd);
  }
  btf__free(kernel);
}

bool census_program_uses(const struct census_program *program,
                         uint32_t map_id) {
  for (size_t i = 0; i < program->maps; i++)
    if (program->map_ids[i] == map_id)
      return true;
  return false;
}

/* What a descriptor under /proc is, such as "bpf-map"; empty for what is no
 * BPF. */
static void read_kind(const char *fd_path, char kind[16]) {
  static const char prefix[] = "anon_inode:";
  char target[64];
  ssize_t length = readlink(fd_path, target, sizeof(target) - 1);
  target[length > 0 ? length : 0] = '\0';
  bool bpf = strncmp(target, prefix, strlen(prefix)) == 0;
  snprintf(kind, 16, "%.15s", bpf ? target + strlen(prefix) : "");
  if (strcmp(kind, "bpf_link") == 0) /* where it was made, not opened */
    strcpy(kind, "bpf-link");
}

void census_kind_of(int fd, char kind[16]) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
  read_kind(path, kind);
}

/* ---- Pins ---- */

/* nftw() has no argument for its callback. */
static __thread struct census *pins_into;

static int visit_pin(const char *path, const struct stat *stat, int type,
                     struct FTW *place) {
  (void)stat, (void)place;
  if (type != FTW_F)
    return 0;
  LIBBPF_OPTS(bpf_obj_get_opts, read_only, .file_flags = BPF_F_RDONLY);
  int fd = bpf_obj_get_opts(path, &read_only);
  if (fd < 0)
    return 0; /* a link, or not ours to read */
  struct bpf_map_info info = {0};
  uint32_t size = sizeof(info);
  char kind[16];
  census_kind_of(fd, kind);
  int status = 0;
  if (strcmp(kind, "bpf-map") == 0 &&
      bpf_obj_get_info_by_fd(fd, &info, &size) == 0) {
    struct census_pin *pin =
        grow((void **)&pins_into->pins, &pins_into->pin_count, sizeof(*pin));
    if (pin) {
      pin->map_id = info.id;
      snprintf(pin->path, sizeof(pin->path), "%s", path);
    }
    status = pin ? 0 : -ENOMEM;
  }
  close(fd);
  return status;
}

static int add_pins(struct census *census, const char *bpffs) {
  if (!bpffs)
    return 0;
  pins_into = census;
  int status = nftw(bpffs, visit_pin, 8, FTW_PHYS | FTW_MOUNT);
  return status == -ENOMEM ? status : 0;
}

/* ---- Processes ---- */

/* Reads the id in the line "<key>:\t<id>" of a descriptor's fdinfo. */
static uint32_t fdinfo_id(const char *path, const char *key) {
  FILE *file = fopen(path, "re");
  char line[128];
  uint32_t id = 0;
  size_t length = strlen(key);
  while (file && id == 0 && fgets(line, sizeof(line), file))
    if (strncmp(line, key, length) == 0 && line[length] == ':')
      id = (uint32_t)strtoul(line + length + 1, NULL, 10);
  if (file)
    fclose(file);
  return id;
}

static void read_command(int pid, char command[16]) {
  char path[64];
  snprintf(path, sizeof(path), "/proc/%d/comm", pid);
  FILE *file = fopen(path, "re");
  if (!file || !fgets(command, 16, file))
    strcpy(command, "?");
  command[strcspn(command, "\n")] = '\0';
  if (file)
    fclose(file);
}

static int add_descriptor(struct census *census, int pid, const char *fd) {
  char path[300], kind[16];
  snprintf(path, sizeof(path), "/proc/%d/fd/%s", pid, fd);
  read_kind(path, kind);
  bool map = strcmp(kind, "bpf-map") == 0;
  if (!map && strcmp(kind, "bpf-prog") != 0 && strcmp(kind, "bpf-link") != 0)
    return 0;
  snprintf(path, sizeof(path), "/proc/%d/fdinfo/%s", pid, fd);
  uint32_t id = fdinfo_id(path, map ? "map_id" : "prog_id");
  if (id == 0)
    return 0;
  struct census_holder *holder =
      grow((void **)&census->holders, &census->holder_count, sizeof(*holder));
  if (!holder)
    return -ENOMEM;
  holder->pid = pid;
  *(map ? &holder->map_id : &holder->program_id) = id;
  read_command(pid, holder->command);
  return 0;
}

static int add_holders(struct census *census) {
  DIR *processes = opendir("/proc");
  struct dirent *process, *fd;
  int status = 0;
  while (processes && status == 0 && (process = readdir(processes))) {
    int pid = atoi(process->d_name);
    if (pid <= 0 || pid == getpid())
      continue;
    char path[64];
    snprintf(path, sizeof(path), "/proc/%d/fd", pid);
    DIR *fds = opendir(path);
    while (fds && status == 0 && (fd = readdir(fds)))
      if (isdigit((unsigned char)fd->d_name[0]))
        status = add_descriptor(census, pid, fd->d_name);
    if (fds)
      closedir(fds);
  }
  if (processes)
    closedir(processes);
  return status;
}

/* ---- All ---- */

static int finish(struct census **out, struct census *census, int status,
                  struct failure *failure) {
  if (status == 0) {
    *out = census;
    return 0;
  }
  census_free(&census);
  if (status == -EPERM)
    return failure_set(failure, status,
                       "cannot walk the kernel's BPF programs and maps: it "
                       "needs CAP_SYS_ADMIN (run as root)");
  return failure_set(failure, status,
                     "cannot walk the kernel's BPF programs: %s",
                     strerror(-status));
}

int census_take_programs(struct census **out, struct failure *failure) {
  struct census *census = calloc(1, sizeof(*census));
  return finish(out, census, census ? add_programs(census) : -ENOMEM, failure);
}

int census_take(struct census **out, const char *bpffs,
                struct failure *failure) {
  struct census *census = calloc(1, sizeof(*census));
  int status = census ? add_programs(census) : -ENOMEM;
  if (status == 0) {
    name_hooks(census);
    status = add_pins(census, bpffs);
  }
  if (status == 0)
    status = add_holders(census);
  return finish(out, census, status, failure);
}

void census_free(struct census **census) {
  if (!*census)
    return;
  for (size_t i = 0; i < (*census)->program_count; i++)
    free((*census)->programs[i].map_ids);
  free((*census)->programs);
  free((*census)->pins);
  free((*census)->holders);
  free(*census);
  *census = NULL;
}
