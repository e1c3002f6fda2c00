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
struct rules;

/* <Ratio "name">: sum of the members over sum of the base, in percent. */
struct config_ratio {
  char *name;
  char **member, **base; /* counters' names */
  size_t members, bases;
};

#define CONFIG_MAX_PERCENTILES 16

/* <Window "name">: what differs from what follows from the roles. */
struct config_window {
  char *name;     /* of one of an object's windows; of others: the pin's path */
  char *instance; /* Instance: NULL for the (of a pin: last) name */
  struct config_ratio *ratio;
  size_t ratios;
  bool ratio_from_roles;  /* DefaultRatio */
  unsigned ratio_seconds; /* RatioSeconds: length of the rolling values */
  double percentile[CONFIG_MAX_PERCENTILES]; /* Percentile: of histograms */
  size_t percentiles;
};

/* <Object "name"> */
struct config_object {
  char *name;  /* of its pins */
  char *path;  /* File: the object file */
  char *front; /* Front: NULL for the first that works */
  bool persist;
  struct rules *rules; /* NULL without a Policy block */
  struct config_window *window;
  size_t windows;
};

struct config {
  char *pin_dir;   /* NULL: PINS_ROOT */
  bool backfill;   /* dispatch the edges that were missed, too */
  bool statistics; /* let the kernel count runs and run time of programs */
  struct config_object *object;
  size_t objects;
  struct config_window *watched; /* windows that others own */
  size_t watches;
};

/* Values of a window that the config does not name. */
extern const struct config_window config_window_default;

extern const struct config config_default;

/* Reads a block into config, which begins as config_default; several blocks add
 * up. 0, or -errno with the line to log. */
int config_read(struct config *config, const struct oconfig_item_s *block,
                struct failure *failure);
void config_free(struct config *config);

/* Files that a policy of an object must leave accessible, besides its own. */
struct config_needed {
  char main_file[512];
  const char *path[3]; /* ends with NULL; points into this and the object */
};
void config_needed(const struct config_object *object,
                   struct config_needed *needed);

/* The plugin instance of a window with a block. */
const char *config_window_instance(const struct config_window *window);

const struct config_window *
config_find_window(const struct config_object *object, const char *name);

#endif
