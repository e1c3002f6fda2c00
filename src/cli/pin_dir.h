/* SPDX-License-Identifier: MIT */
/* pin_dir.h - the folder of pins: which it is, and whether it can be read. */
#ifndef BPF_WINDOW_PIN_DIR_H
#define BPF_WINDOW_PIN_DIR_H

#include "conf.h"
#include "object/pins.h"

/* The folder of pins: the one given by an option (NULL: none), else PinDir of the
 * configuration (NULL: none), else PINS_ROOT. Lives as long as the two. */
const char *pin_dir_of(const char *given, const struct conf *conf);

/*
 * The same for a verb that needs nothing else of the configuration. config is
 * its file (NULL: the default one, if there is one); it is read only where no
 * folder is given. dir has room for PINS_PATH_SIZE.
 */
int pin_dir_read(const char *given, const char *config, char *dir,
                 struct failure *failure);

/*
 * The same for verbs that only read, which no configuration stops: one that
 * cannot be read is as none. Lives as long as given, else as the process.
 */
const char *pin_dir_for_reading(const char *given);

/* Of their help. */
#define PIN_DIR_HELP                                                           \
  "  --pin-dir DIR     look for pins below DIR (default: PinDir of "           \
  "collectd's\n"                                                               \
  "                    configuration, else " PINS_ROOT ")\n"

/* Whether the folder of pins can be read: 0, -ENOENT if there is none, -EACCES.
 * Unlike access(2) it counts capabilities; unlike glob(3) it does not take a
 * folder that may not be read for an empty one. */
int pin_dir_readable(const char *pin_dir);

/* The text for such a status; returns it. */
int pin_dir_unreadable(const char *pin_dir, int status,
                       struct failure *failure);

#endif
