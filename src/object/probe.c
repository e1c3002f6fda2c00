/* SPDX-License-Identifier: MIT */
#include "probe.h"

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <linux/capability.h>
#include <linux/magic.h>

#include <bpf/libbpf.h>

/* Reads the first line of a file; an unreadable one gives the empty string. */
static void read_line(const char *path, char *line, size_t size) {
  line[0] = '\0';
  FILE *file = fopen(path, "re");
  if (!file)
    return;
  if (!fgets(line, (int)size, file))
    line[0] = '\0';
  line[strcspn(line, "\n")] = '\0';
  fclose(file);
}

/* Whether a list such as "lockdown,yama,bpf" has the word. */
static bool list_has(const char *list, const char *word) {
  size_t length = strlen(word);
  for (const char *at = list; at; at = strchr(at, ',')) {
    at += *at == ',';
    if (strncmp(at, word, length) == 0 &&
        (at[length] == ',' || at[length] == '\0'))
      return true;
  }
  return false;
}

/* "none [integrity] confidentiality" -> "integrity" */
static void bracketed(char *text) {
  char *open = strchr(text, '['), *close = strchr(text, ']');
  if (!open || !close || close < open) {
    text[0] = '\0';
    return;
  }
  *close = '\0';
  memmove(text, open + 1, (size_t)(close - open));
}

static bool has_capability(const struct __user_cap_data_struct data[2],
                           unsigned capability) {
  return data[capability / 32].effective >> (capability % 32) & 1;
}

static void probe_capabilities(struct probe_kernel *kernel) {
  struct __user_cap_header_struct header = {_LINUX_CAPABILITY_VERSION_3, 0};
  struct __user_cap_data_struct data[2] = {{0, 0, 0}, {0, 0, 0}};
  if (syscall(SYS_capget, &header, data) != 0)
    return;
  bool admin = has_capability(data, CAP_SYS_ADMIN);
  kernel->cap_bpf = admin || has_capability(data, CAP_BPF);
  kernel->cap_perfmon = admin || has_capability(data, CAP_PERFMON);
}

void probe_kernel(struct probe_kernel *kernel) {
  memset(kernel, 0, sizeof(*kernel));
  struct utsname name;
  unsigned major = 0, minor = 0;
  if (uname(&name) == 0) {
    snprintf(kernel->release, sizeof(kernel->release), "%s", name.release);
    sscanf(name.release, "%u.%u", &major, &minor);
  }
  kernel->new_enough =
      major > PROBE_KERNEL_MAJOR ||
      (major == PROBE_KERNEL_MAJOR && minor >= PROBE_KERNEL_MINOR);
  kernel->btf = access("/sys/kernel/btf/vmlinux", R_OK) == 0;
  read_line("/sys/kernel/security/lsm", kernel->lsm_list,
            sizeof(kernel->lsm_list));
  kernel->bpf_lsm = kernel->lsm_list[0] == '\0'         ? PROBE_UNKNOWN
                    : list_has(kernel->lsm_list, "bpf") ? PROBE_YES
                                                        : PROBE_NO;
  struct statfs filesystem;
  kernel->securityfs = statfs("/sys/kernel/security", &filesystem) == 0 &&
                       (uint32_t)filesystem.f_type == SECURITYFS_MAGIC;
  kernel->tracefs = access("/sys/kernel/tracing/events", F_OK) == 0 ||
                    access("/sys/kernel/debug/tracing/events", F_OK) == 0;
  char lockdown[64];
  read_line("/sys/kernel/security/lockdown", lockdown, sizeof(lockdown));
  bracketed(lockdown);
  snprintf(kernel->lockdown, sizeof(kernel->lockdown), "%.31s", lockdown);
  probe_capabilities(kernel);
}

const char *probe_libbpf_version(void) {
  const char *version = libbpf_version_string();
  return version + (*version == 'v');
}

bool probe_symbol(const char *name) {
  FILE *file = fopen("/proc/kallsyms", "re");
  if (!file)
    return false;
  char line[512], symbol[256];
  unsigned long long address;
  bool found = false;
  while (!found && fgets(line, sizeof(line), file))
    found = sscanf(line, "%llx %*c %255s", &address, symbol) == 2 &&
            address != 0 && strcmp(symbol, name) == 0;
  fclose(file);
  return found;
}

bool probe_on_bpffs(const char *path) {
  char parent[512];
  snprintf(parent, sizeof(parent), "%s", path);
  struct statfs filesystem;
  while (statfs(parent, &filesystem) != 0) {
    char *slash = strrchr(parent, '/');
    if (!slash || slash == parent)
      return false;
    *slash = '\0';
  }
  return (uint32_t)filesystem.f_type == BPF_FS_MAGIC;
}

uint64_t probe_map_bytes(int map_fd) {
  char path[64], line[128];
  unsigned long long bytes = 0;
  snprintf(path, sizeof(path), "/proc/self/fdinfo/%d", map_fd);
  FILE *file = fopen(path, "re");
  if (!file)
    return 0;
  while (fgets(line, sizeof(line), file))
    if (sscanf(line, "memlock: %llu", &bytes) == 1)
      break;
  fclose(file);
  return bytes;
}
