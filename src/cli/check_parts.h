/* SPDX-License-Identifier: MIT */
/*
 * check_parts.h - what the parts of `check` that look at a configuration share.
 */
#ifndef BPF_WINDOW_CHECK_PARTS_H
#define BPF_WINDOW_CHECK_PARTS_H

#include <stdint.h>

#include "check.h"
#include "object/inspect.h"

struct check_instance; /* a window's plugin instance, and its block */

struct check_config {
  struct check *check;
  const struct conf *conf;
  const char *path; /* of the main file */
  /* As collectd has them where it loads the plugin. */
  bool loaded;
  double interval;                     /* seconds */
  const struct conf_item *interval_at; /* the line; NULL: collectd's default */
  const struct conf_item *plugin_dir;  /* likewise */
  bool interval_told;                  /* that it does not fit */
  struct check_instance *instance;     /* of all windows so far; owned */
  size_t instances;
};

/* ---- check_collectd.c: what collectd's own options make of the plugin ---- */

/* Sets what follows from LoadPlugin, AutoLoadPlugin, Interval, PluginDir. */
void check_read_collectd(struct check_config *config);

/* Whether it is loaded; configured: there is something for it to do. */
void check_loading(struct check_config *config, bool configured);

/* ---- check_objects.c ---- */

/* An <Object> block with sound options: what it names is there and works. */
void check_object(struct check_config *config, const struct conf_item *block);

/* ---- check_policy.c ---- */

/* The <Policy> of such a block; object_path: the object file. */
void check_policy(struct check_config *config, const struct conf_item *object,
                  const char *object_path, const struct conf_item *policy);

/* ---- check_series.c ---- */

/* Whether a window's values have names of their own. block: the window's, or NULL;
 * place: where to tell it. */
void check_series(struct check *check, const struct conf_item *block,
                  const struct conf_item *place, const char *window,
                  const struct bpf_window_epoch *record);

/* ---- check_windows.c ---- */

/* The windows that an object file declares, and their blocks. */
void check_windows(struct check_config *config, const struct conf_item *object,
                   const struct inspect_object *inspected);

/* A <Window> outside of objects. */
void check_watched(struct check_config *config, const struct conf_item *block);

#endif
