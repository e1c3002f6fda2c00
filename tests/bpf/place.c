/* SPDX-License-Identifier: MIT */
#include "place.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/file.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "object/pins.h"
#include "object/probe.h"

static char pins[64];

const char *place_object(const char *name) {
  static char path[4][512];
  static unsigned next;
  const char *build = getenv("BUILD_DIR");
  char *at = path[next++ % 4];
  snprintf(at, sizeof(path[0]), "%s/%s.bpf.o", build ? build : ".", name);
  return at;
}

const char *place_pins(void) {
  if (!probe_on_bpffs("/sys/fs/bpf") &&
      mount("bpf", "/sys/fs/bpf", "bpf", 0, NULL) != 0)
    return NULL;
  snprintf(pins, sizeof(pins), "/sys/fs/bpf/bpf_window_test_%d", getpid());
  return pins;
}

static int remove_object(const char *object, void *root) {
  return pins_remove(root, object, NULL);
}

void place_clear(void) {
  pins_for_each(pins, remove_object, pins);
  rmdir(pins);
}

/* Marked calls are counted whoever makes them: one test with them at a time. Released
 * when the process ends. */
static void take_marks_lock(void) {
  int fd = open("/tmp/bpf_window_marked_calls.lock", O_CREAT | O_RDWR, 0600);
  if (fd >= 0)
    flock(fd, LOCK_EX);
}

bool place_can_load_unmarked(void) {
  struct probe_kernel kernel;
  probe_kernel(&kernel);
  if (kernel.new_enough && kernel.cap_bpf && kernel.cap_perfmon)
    return true;
  printf("# needs root and Linux 5.15 or newer\n");
  return false;
}

bool place_can_load(void) {
  if (!place_can_load_unmarked())
    return false;
  take_marks_lock();
  return true;
}

void place_marked_calls(unsigned n) {
  while (n-- > 0)
    prctl(0x77696e64, 0, 0, 0, 0);
}
