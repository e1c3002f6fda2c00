/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: makes one call fail, or kills the program there.
 *
 *   FAULT_NTH    which, from 1
 *   FAULT_MODE   "fail": it returns a failure; "kill": SIGKILL before it
 *   FAULT_CALL   count the calls of this function alone, made by the program itself
 *                and not by its libraries. Not set: count steps, which are bpf(2) calls
 *                that change something, and the calls that change the folder of pins
 *   FAULT_IN     a part of a library's name: count the calls that it makes, not the
 *                program
 *   FAULT_WAIT   set: calls count from when the program itself sets FAULT_BEGUN
 *   FAULT_ERRNO  the error, a number (EIO)
 *   FAULT_MARK   a file that is made when it was reached
 *   FAULT_COUNTS a file into which is written, at the end, how often the program called
 *                each function that can be made to fail: a line NAME NUMBER each
 */
#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <linux/bpf.h>

long syscall(long number, ...);

/* A sanitizer calls these before it is ready itself. */
#define PLAIN __attribute__((no_sanitize_address, no_sanitize_undefined))

/* ---- Which one ---- */

/* At the program's end others write their data by its calls. */
static bool over;

static int fault_error(void) {
  const char *number = getenv("FAULT_ERRNO");
  return number ? atoi(number) : EIO;
}

static void strike(void) {
  over = true;
  FILE *mark = fopen(getenv("FAULT_MARK"), "w");
  if (mark)
    fclose(mark);
  const char *mode = getenv("FAULT_MODE");
  if (mode && strcmp(mode, "kill") == 0)
    kill(getpid(), SIGKILL);
  errno = fault_error();
}

/* Whether this step is the one: then it fails, or never returns. */
PLAIN static bool strikes_step(void) {
  static long step;
  const char *nth = getenv("FAULT_NTH");
  if (over || !nth || getenv("FAULT_CALL") || ++step != atol(nth))
    return false;
  strike();
  return true;
}

struct counter {
  const char *name;
  long calls;
  struct counter *next;
};
static struct counter *counters;

PLAIN static bool is_of_the_program(const void *caller) {
  Dl_info own, of_caller;
  const char *library = getenv("FAULT_IN");
  if (library)
    return dladdr(caller, &of_caller) != 0 && of_caller.dli_fname &&
           strstr(of_caller.dli_fname, library);
  return dladdr((void *)getauxval(AT_ENTRY), &own) != 0 &&
         dladdr(caller, &of_caller) != 0 &&
         own.dli_fbase == of_caller.dli_fbase;
}

/* The same for a call. */
PLAIN static bool strikes_call(struct counter *counter, const void *caller) {
  if (over || (getenv("FAULT_WAIT") && !getenv("FAULT_BEGUN")) ||
      !is_of_the_program(caller))
    return false;
  if (counter->calls++ == 0) {
    counter->next = counters;
    counters = counter;
  }
  const char *call = getenv("FAULT_CALL"), *nth = getenv("FAULT_NTH");
  if (!call || !nth || strcmp(call, counter->name) != 0 ||
      counter->calls != atol(nth))
    return false;
  strike();
  return true;
}

static void at_end(void) {
  over = true;
  const char *path = getenv("FAULT_COUNTS");
  FILE *file = path ? fopen(path, "w") : NULL;
  for (struct counter *counter = counters; file && counter;
       counter = counter->next)
    fprintf(file, "%s %ld\n", counter->name, counter->calls);
  if (file)
    fclose(file);
}

__attribute__((constructor)) static void begin(void) { atexit(at_end); }

/* ---- Steps ---- */

static int changes_something(long command) {
  switch (command) {
  case BPF_MAP_CREATE:
  case BPF_MAP_UPDATE_ELEM:
  case BPF_MAP_FREEZE:
  case BPF_PROG_LOAD:
  case BPF_OBJ_PIN:
  case BPF_OBJ_GET:
  case BPF_LINK_CREATE:
  case BPF_RAW_TRACEPOINT_OPEN:
    return 1;
  default:
    return 0;
  }
}

PLAIN long syscall(long number, ...) {
  static long (*next)(long, ...);
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_bpf && changes_something(a[0]) && strikes_step())
    return -1;
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/* ---- Calls ---- */

/* How a function tells its failure. */
#define MINUS_1 -1
#define NOTHING NULL
#define MINUS_ERRNO -errno

#define WRAP(type, name, parameters, arguments, failed, step)                  \
  type name parameters;                                                        \
  PLAIN type name parameters {                                                 \
    static type(*next) parameters;                                             \
    static struct counter counter = {#name, 0, NULL};                          \
    if (!next)                                                                 \
      *(void **)&next = dlsym(RTLD_NEXT, #name);                               \
    return strikes_call(&counter, __builtin_return_address(0)) || step         \
               ? failed                                                        \
               : next arguments;                                               \
  }
#define CALL(type, name, parameters, arguments, failed)                        \
  WRAP(type, name, parameters, arguments, failed, false)
#define CHANGES_PINS(name, parameters, arguments)                              \
  WRAP(int, name, parameters, arguments, -1, strikes_step())

CHANGES_PINS(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES_PINS(rename, (const char *from, const char *to), (from, to))
CHANGES_PINS(unlink, (const char *path), (path))
CHANGES_PINS(rmdir, (const char *path), (path))

CALL(void *, calloc, (size_t n, size_t size), (n, size), NOTHING)
CALL(void *, realloc, (void *old, size_t size), (old, size), NOTHING)
CALL(void *, reallocarray, (void *old, size_t n, size_t size), (old, n, size),
     NOTHING)
CALL(char *, strdup, (const char *text), (text), NOTHING)
CALL(FILE *, fopen, (const char *path, const char *mode), (path, mode), NOTHING)
CALL(DIR *, opendir, (const char *path), (path), NOTHING)
CALL(int, flock, (int fd, int operation), (fd, operation), MINUS_1)
CALL(int, fstat, (int fd, struct stat *info), (fd, info), MINUS_1)
CALL(ssize_t, read, (int fd, void *to, size_t size), (fd, to, size), MINUS_1)

/* Those whose last argument may be missing. */
#define CALL_VARIADIC(name, first_type, type)                                  \
  PLAIN int name(first_type first, int second, ...) {                          \
    static int (*next)(first_type, int, ...);                                  \
    static struct counter counter = {#name, 0, NULL};                          \
    va_list arguments;                                                         \
    va_start(arguments, second);                                               \
    type third = va_arg(arguments, type);                                      \
    va_end(arguments);                                                         \
    if (!next)                                                                 \
      *(void **)&next = dlsym(RTLD_NEXT, #name);                               \
    return strikes_call(&counter, __builtin_return_address(0))                 \
               ? -1                                                            \
               : next(first, second, third);                                   \
  }
CALL_VARIADIC(open, const char *, mode_t)
CALL_VARIADIC(fcntl, int, long)

/* libbpf: -errno, and errno, too. */
CALL(int, bpf_map_create,
     (int type, const char *name, uint32_t key, uint32_t value,
      uint32_t entries, const void *options),
     (type, name, key, value, entries, options), MINUS_ERRNO)
CALL(int, bpf_map_update_elem,
     (int fd, const void *key, const void *value, uint64_t flags),
     (fd, key, value, flags), MINUS_ERRNO)
CALL(int, bpf_map_delete_elem, (int fd, const void *key), (fd, key),
     MINUS_ERRNO)
CALL(int, bpf_map_lookup_elem, (int fd, const void *key, void *value),
     (fd, key, value), MINUS_ERRNO)
CALL(int, bpf_map_lookup_batch,
     (int fd, void *in, void *out, void *keys, void *values, uint32_t *count,
      const void *options),
     (fd, in, out, keys, values, count, options), MINUS_ERRNO)
CALL(int, bpf_map_freeze, (int fd), (fd), MINUS_ERRNO)
CALL(int, bpf_obj_pin, (int fd, const char *path), (fd, path), MINUS_ERRNO)
CALL(int, bpf_obj_get, (const char *path), (path), MINUS_ERRNO)
CALL(int, bpf_obj_get_opts, (const char *path, const void *options),
     (path, options), MINUS_ERRNO)
CALL(int, bpf_obj_get_info_by_fd, (int fd, void *info, uint32_t *size),
     (fd, info, size), MINUS_ERRNO)
CALL(int, bpf_map_get_next_id, (uint32_t id, uint32_t *next_id), (id, next_id),
     MINUS_ERRNO)
CALL(int, bpf_prog_get_next_id, (uint32_t id, uint32_t *next_id), (id, next_id),
     MINUS_ERRNO)
CALL(int, bpf_link_get_next_id, (uint32_t id, uint32_t *next_id), (id, next_id),
     MINUS_ERRNO)
CALL(int, bpf_map_get_fd_by_id, (uint32_t id), (id), MINUS_ERRNO)
CALL(int, bpf_map_get_fd_by_id_opts, (uint32_t id, const void *options),
     (id, options), MINUS_ERRNO)
CALL(int, bpf_prog_get_fd_by_id, (uint32_t id), (id), MINUS_ERRNO)
CALL(int, bpf_link_get_fd_by_id, (uint32_t id), (id), MINUS_ERRNO)
CALL(int, bpf_enable_stats, (int type), (type), MINUS_ERRNO)
CALL(int, bpf_prog_load,
     (int type, const char *name, const char *license, const void *program,
      size_t size, const void *options),
     (type, name, license, program, size, options), MINUS_ERRNO)
CALL(int, bpf_raw_tracepoint_open, (const char *name, int fd), (name, fd),
     MINUS_ERRNO)
CALL(int, bpf_map__reuse_fd, (void *map, int fd), (map, fd), MINUS_ERRNO)
CALL(void *, bpf_object__open_mem,
     (const void *bytes, size_t size, const void *options),
     (bytes, size, options), NOTHING)
CALL(int, bpf_object__load, (void *object), (object), MINUS_ERRNO)
CALL(void *, bpf_program__attach, (const void *program), (program), NOTHING)
CALL(int, libbpf_num_possible_cpus, (void), (), MINUS_ERRNO)
CALL(void *, btf__load_from_kernel_by_id, (uint32_t id), (id), NOTHING)
