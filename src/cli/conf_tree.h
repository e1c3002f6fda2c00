/* SPDX-License-Identifier: MIT */
/*
 * conf_tree.h - how conf.h's tree is built: for its parser and its reader only.
 */
#ifndef BPF_WINDOW_CONF_TREE_H
#define BPF_WINDOW_CONF_TREE_H

#include "conf.h"

struct conf *conf_new(void);
struct conf_item *conf_mutable_root(struct conf *conf);

/* A copy of a file's name that lives as long as the tree; NULL: no memory. */
const char *conf_keep_name(struct conf *conf, const char *file);

/* A new last child, zeroed; NULL: no memory. Earlier ones may move. */
struct conf_item *conf_add_child(struct conf_item *item);

/* Takes the value's text over. -1: no memory. */
int conf_add_value(struct conf_item *item, struct conf_value value);

/* Parses a text into the children of a block. */
int conf_parse_into(struct conf *conf, struct conf_item *block,
                    const char *text, const char *file,
                    struct failure *failure);

#endif
