/* SPDX-License-Identifier: MIT */
/*
 * run_plain OBJECT_FILE EVENTS [PIN] - loads the plain window, counts that many
 * events of its own in it, and then waits, holding it, until its input ends.
 * Before the events it writes a bucket of an earlier lap, which nobody may
 * count. Prints "ready" when the events are done.
 *
 * The window's name is "w" and this process in eight digits, so that others of this
 * kind on the machine have another.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

static void die(const char *what) {
  perror(what);
  exit(1);
}

/* A bucket 300 s before one in the ring: in slot 250, with label 250 - 300
 * laps. */
static void write_stale_lap(int ring_fd) {
  int cpus = libbpf_num_possible_cpus();
  unsigned slot = 250;
  unsigned long long *value = calloc(7 * cpus, sizeof(*value));
  for (int cpu = 0; cpu < cpus; cpu++) {
    value[7 * cpu] = ~0ULL - 49; /* long gone, as the epoch is now */
    value[7 * cpu + 1] = 1000000;
  }
  if (bpf_map_update_elem(ring_fd, &slot, value, BPF_ANY) != 0)
    die("stale lap");
  free(value);
}

#define NAME "stats_map" /* in the file */

/* Opens the file with that name, wherever it has it, replaced by one as long. */
static struct bpf_object *open_renamed(const char *path, const char *name) {
  static _Alignas(8) char bytes[1 << 20];
  FILE *file = fopen(path, "re");
  size_t size = file ? fread(bytes, 1, sizeof(bytes), file) : 0;
  if (size == 0 || size == sizeof(bytes) || strlen(name) != strlen(NAME))
    die(path);
  fclose(file);
  char *at = bytes;
  while ((at = memmem(at, size - (size_t)(at - bytes), NAME, sizeof(NAME))))
    memcpy(at, name, strlen(name));
  return bpf_object__open_mem(bytes, size, NULL);
}

int main(int argc, char **argv) {
  if (argc < 3)
    return 2;
  char name[16];
  snprintf(name, sizeof(name), "w%08d", getpid());
  struct bpf_object *object = open_renamed(argv[1], name);
  if (!object)
    die(argv[1]);
  struct bpf_map *constants = bpf_object__find_map_by_name(object, ".rodata");
  size_t size;
  char *data = (char *)bpf_map__initial_value(constants, &size);
  *(unsigned *)data = (unsigned)getpid();
  *(unsigned long long *)(data + 8) = SYS_getpgid;
  if (bpf_object__load(object) != 0)
    die("load");
  struct bpf_program *program =
      bpf_object__find_program_by_name(object, "count");
  struct bpf_link *link = bpf_program__attach(program);
  if (!link)
    die("attach");
  struct bpf_map *ring = bpf_object__find_map_by_name(object, name);
  write_stale_lap(bpf_map__fd(ring));
  if (argc > 3 && bpf_map__pin(ring, argv[3]) != 0)
    die(argv[3]);
  for (long i = 0; i < atol(argv[2]); i++) {
    syscall(SYS_getpgid, 0);
    if (i % 100 == 99)
      usleep(1000);
  }
  puts("ready");
  fflush(stdout);
  while (getchar() != EOF)
    ;
  if (argc > 3)
    bpf_map__unpin(ring, argv[3]);
  bpf_link__destroy(link);
  bpf_object__close(object);
  return 0;
}
