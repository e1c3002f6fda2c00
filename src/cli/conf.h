/* SPDX-License-Identifier: MIT */
/*
 * conf.h - a configuration file in collectd's syntax as a tree that remembers
 * where each option stands. It knows the syntax, not the options.
 */
#ifndef BPF_WINDOW_CONF_H
#define BPF_WINDOW_CONF_H

#include <stdbool.h>
#include <stddef.h>

#include "window/failure.h"

/* Where Debian's collectd has it. */
#define CONF_DEFAULT_FILE "/etc/collectd/collectd.conf"

enum conf_type { CONF_STRING, CONF_NUMBER, CONF_BOOLEAN };

struct conf_value {
  enum conf_type type;
  char *text; /* without quotes */
};

/* `Key value...`, or `<Key value...>` with children. */
struct conf_item {
  char *key;
  struct conf_value *value;
  size_t values;
  bool block;
  struct conf_item *child;
  size_t children;
  const char *file; /* lives as long as the tree */
  int line;
};

struct conf; /* owns the tree */

/* Parses a text. Errors: -EINVAL with "file:line: ", -ENOMEM. */
int conf_parse(struct conf **conf, const char *text, const char *file,
               struct failure *failure);

/* Parses a file and those that its Include lines name, as collectd does. */
int conf_read(struct conf **conf, const char *path, struct failure *failure);

/* That of the machine, read once; NULL if there is none that can be read. Lives as long
 * as the process. */
const struct conf *conf_installed(void);

void conf_free(struct conf **conf);

/* The root: an item without key whose children are the file's options. */
const struct conf_item *conf_root(const struct conf *conf);

/* Of a boolean: whether it says yes. */
bool conf_truth(const struct conf_value *value);

/* Whether an item has the key, in any case. */
bool conf_is(const struct conf_item *item, const char *key);

/* Its first value, or the empty text. */
const char *conf_text(const struct conf_item *item);

/* Whether it is that key of this plugin, as in `LoadPlugin bpf_window`. */
bool conf_is_ours(const struct conf_item *item, const char *key);

/* The last option of a block with the key, which is the one that counts; or NULL. */
const struct conf_item *conf_find(const struct conf_item *block,
                                  const char *key);

/* The text of an option in a plugin's blocks, of the last one; or NULL. */
const char *conf_plugin_text(const struct conf *conf, const char *plugin,
                             const char *key);

#endif
