/* SPDX-License-Identifier: MIT */
/*
 * config.h - the <Plugin bpf_window> block, read and checked.
 *
 * Whatever is wrong stops collectd at its start with one line that names the
 * option, where it stands, and what would be right.
 */
#ifndef BPF_WINDOW_CONFIG_H
#define BPF_WINDOW_CONFIG_H

#include <stdbool.h>
#include <stddef.h>

#include "window/failure.h"

struct oconfig_item_s;
struct policy;

/* <Ratio "name">: sum of the members over sum of the base, in percent. */
struct config_ratio {
  char *name;
  char **member, **base; /* counters' names */
  size_t members, bases;
};

/* <Window "name">: what differs from what follows from the roles. */
struct config_window {
  char *name;
  struct config_ratio *ratio;
  size_t ratios;
  bool ratio_from_roles;  /* DefaultRatio */
  unsigned ratio_seconds; /* RatioSeconds: length of the rolling ratios */
};

/* <Object "name"> */
struct config_object {
  char *name;  /* of its pins */
  char *path;  /* File: the object file */
  char *front; /* Front: NULL for the first that works */
  bool persist;
  struct policy *policy; /* NULL without a Policy block */
  bool enforce;
  struct config_window *window;
  size_t windows;
};

struct config {
  char *pin_dir;
  struct config_object *object;
  size_t objects;
};

/* Values of a window that the config does not name. */
extern const struct config_window config_window_default;

/* Reads a block into config, which the caller has zeroed; several blocks add
 * up. 0, or -EINVAL with the line to log. */
int config_read(struct config *config, const struct oconfig_item_s *block,
                struct failure *failure);
void config_free(struct config *config);

const struct config_window *
config_find_window(const struct config_object *object, const char *name);

#endif
