/* SPDX-License-Identifier: MIT */
#ifndef BPF_WINDOW_PIN_DIR_H
#define BPF_WINDOW_PIN_DIR_H

/* Whether the folder of pins can be read: 0, -ENOENT if there is none, -EACCES.
 * Unlike access(2) it counts capabilities; unlike glob(3) it does not take a
 * folder that may not be read for an empty one. */
int pin_dir_readable(const char *pin_dir);

#endif
