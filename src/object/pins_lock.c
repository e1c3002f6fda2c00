/* SPDX-License-Identifier: MIT */
/* Who has a root folder of pins; see pins.h. */
#include "pins.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

/* Finds who holds the flock of a folder: "1: FLOCK ADVISORY WRITE PID MA:MI:INO" */
static bool name_holder(int fd, char holder[PINS_HOLDER_SIZE]) {
  snprintf(holder, PINS_HOLDER_SIZE, "another process");
  struct stat info;
  bool found = false;
  FILE *locks = fopen("/proc/locks", "re");
  if (!locks)
    return false;
  char line[256];
  while (!found && fstat(fd, &info) == 0 && fgets(line, sizeof(line), locks)) {
    int pid;
    unsigned major_, minor_;
    unsigned long inode;
    if (sscanf(line, "%*d: FLOCK %*s %*s %d %x:%x:%lu", &pid, &major_, &minor_,
               &inode) != 4 ||
        inode != info.st_ino || makedev(major_, minor_) != info.st_dev)
      continue;
    char path[64], command[32] = "?";
    snprintf(path, sizeof(path), "/proc/%d/comm", pid);
    FILE *comm = fopen(path, "re");
    if (comm) {
      if (fgets(command, sizeof(command), comm))
        command[strcspn(command, "\n")] = '\0';
      fclose(comm);
    }
    snprintf(holder, PINS_HOLDER_SIZE, "process %d (%s)", pid, command);
    found = true;
  }
  fclose(locks);
  return found;
}

bool pins_held(const char *path, char holder[PINS_HOLDER_SIZE]) {
  int fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return false;
  bool held = name_holder(fd, holder);
  close(fd);
  return held;
}

int pins_lock(int fd, const char *path, struct failure *failure) {
  if (flock(fd, LOCK_EX | LOCK_NB) == 0)
    return 0;
  if (errno != EWOULDBLOCK)
    return failure_set(failure, -errno, "cannot lock %s: %s", path,
                       strerror(errno));
  char holder[PINS_HOLDER_SIZE];
  name_holder(fd, holder);
  return failure_set(failure, -EBUSY,
                     "%s is in use by %s; stop that, or set another PinDir",
                     path, holder);
}
