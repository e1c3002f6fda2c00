/* SPDX-License-Identifier: MIT */
#include "pin_dir.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

const char *pin_dir_of(const char *given, const struct conf *conf) {
  if (!given && conf)
    given = conf_plugin_text(conf, "bpf_window", "PinDir");
  return given ? given : PINS_ROOT;
}

int pin_dir_read(const char *given, const char *config, char *dir,
                 struct failure *failure) {
  struct conf *conf = NULL;
  struct failure reason;
  if (!given && (config || access(CONF_DEFAULT_FILE, F_OK) == 0)) {
    int status = conf_read(&conf, config ? config : CONF_DEFAULT_FILE, &reason);
    if (status != 0)
      return failure_set(failure, status,
                         "%.600s (it may set PinDir; --pin-dir does without)",
                         reason.text);
  }
  const char *path = pin_dir_of(given, conf);
  int status = 0;
  if (strlen(path) < PINS_PATH_SIZE)
    strcpy(dir, path);
  else
    status = failure_set(failure, -ENAMETOOLONG, "%s: path too long", path);
  conf_free(&conf);
  return status;
}

const char *pin_dir_for_reading(const char *given) {
  if (given)
    return given;
  const char *dir = pin_dir_of(NULL, conf_installed());
  return strlen(dir) < PINS_PATH_SIZE ? dir : PINS_ROOT;
}

int pin_dir_readable(const char *pin_dir) {
  int fd = open(pin_dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0)
    return -errno;
  close(fd);
  return 0;
}

int pin_dir_unreadable(const char *pin_dir, int status,
                       struct failure *failure) {
  return failure_set(failure, status, "cannot look into %s: %s%s", pin_dir,
                     strerror(-status),
                     status == -EACCES ? " (run as root)" : "");
}
