/* SPDX-License-Identifier: MIT */
/*
 * Preloaded into a program: makes the nth step of bringing up an object fail, or kills
 * the program there. Steps are bpf(2) calls that change something, and the calls that
 * change the folder of pins.
 *
 *   FAULT_NTH    which step, from 1
 *   FAULT_MODE   "fail": the step returns -1 with EIO; "kill": SIGKILL before it
 *
 *   FAULT_MARK   a file that is made when the step was reached
 */
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <unistd.h>

#include <linux/bpf.h>

long syscall(long number, ...);

/* Whether this step is the one: then it fails, or never returns. */
static int strikes(void) {
  static long step;
  const char *nth = getenv("FAULT_NTH"), *mode = getenv("FAULT_MODE");
  if (!nth || ++step != atol(nth))
    return 0;
  FILE *mark = fopen(getenv("FAULT_MARK"), "w");
  if (mark)
    fclose(mark);
  if (mode && strcmp(mode, "kill") == 0)
    kill(getpid(), SIGKILL);
  errno = EIO;
  return 1;
}

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

long syscall(long number, ...) {
  static long (*next)(long, ...);
  long a[6];
  va_list arguments;
  va_start(arguments, number);
  for (int i = 0; i < 6; i++)
    a[i] = va_arg(arguments, long);
  va_end(arguments);
  if (!next)
    *(void **)&next = dlsym(RTLD_NEXT, "syscall");
  if (number == SYS_bpf && changes_something(a[0]) && strikes())
    return -1;
  return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

#define CHANGES_PINS(name, parameters, arguments)                              \
  int name parameters {                                                        \
    static int(*next) parameters;                                              \
    if (!next)                                                                 \
      *(void **)&next = dlsym(RTLD_NEXT, #name);                               \
    return strikes() ? -1 : next arguments;                                    \
  }
CHANGES_PINS(mkdir, (const char *path, mode_t mode), (path, mode))
CHANGES_PINS(rename, (const char *from, const char *to), (from, to))
CHANGES_PINS(unlink, (const char *path), (path))
CHANGES_PINS(rmdir, (const char *path), (path))
