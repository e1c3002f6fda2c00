/* SPDX-License-Identifier: MIT */
/*
 * config_value.h - the values of one option, and what is said of wrong ones.
 *
 * All return 0, or -errno with the line to log: place, option, what would be
 * right. The value is left as it was then.
 */
#ifndef BPF_WINDOW_CONFIG_VALUE_H
#define BPF_WINDOW_CONFIG_VALUE_H

#include <stdbool.h>

#include "config_place.h"
#include "window/failure.h"

/* -EINVAL: "file:12: <Object "x"> Option: what is wrong" */
int config_wrong(const struct config_place *place, struct failure *failure,
                 const char *what);
int config_unknown(const struct config_place *place, struct failure *failure);

/* One string, not empty, which the option keeps. */
int config_string(const struct config_place *place, const char **value,
                  struct failure *failure);

/* The same in place of *copy, which is freed; the caller owns it. */
int config_copy(const struct config_place *place, char **copy,
                struct failure *failure);

int config_boolean(const struct config_place *place, bool *value,
                   struct failure *failure);

/* Of `Scope`. */
int config_scope(const struct config_place *place, bool *host_only,
                 struct failure *failure);

/* Seconds that a window can look back, from 1 to 300. */
int config_seconds(const struct config_place *place, unsigned *value,
                   struct failure *failure);

#endif
