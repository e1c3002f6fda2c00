/* SPDX-License-Identifier: MIT */
#include <strings.h>

#include "conf.h"

bool conf_is(const struct conf_item *item, const char *key) {
  return strcasecmp(item->key, key) == 0;
}

const char *conf_text(const struct conf_item *item) {
  return item->values > 0 ? item->value[0].text : "";
}

const char *conf_plugin_text(const struct conf *conf, const char *plugin,
                             const char *key) {
  const struct conf_item *root = conf_root(conf);
  for (size_t i = root->children; i > 0; i--) {
    const struct conf_item *block = &root->child[i - 1];
    const struct conf_item *option =
        conf_is(block, "Plugin") && strcasecmp(conf_text(block), plugin) == 0
            ? conf_find(block, key)
            : NULL;
    if (option && option->values > 0)
      return conf_text(option);
  }
  return NULL;
}

bool conf_is_ours(const struct conf_item *item, const char *key) {
  return conf_is(item, key) && strcasecmp(conf_text(item), "bpf_window") == 0;
}

const struct conf_item *conf_find(const struct conf_item *block,
                                  const char *key) {
  for (size_t i = block->children; i > 0; i--)
    if (conf_is(&block->child[i - 1], key))
      return &block->child[i - 1];
  return NULL;
}
