/* SPDX-License-Identifier: MIT */
#include "pin_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

int pin_dir_readable(const char *pin_dir) {
  int fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  close(fd);
  return 0;
}
