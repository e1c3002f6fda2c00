/* SPDX-License-Identifier: MIT */
/* collectd's configuration: each <Plugin bpf_window> block, and what is pinned
 * without being in one. */
#include <stdlib.h>
#include <string.h>

#include "check_parts.h"
#include "object/pins.h"

/* ---- Blocks ---- */

static void check_names(struct check *check, const struct conf_item *plugin) {
  for (size_t i = 0; i < plugin->children; i++) {
    const struct conf_item *object = &plugin->child[i];
    for (size_t other = 0; other < i; other++)
      if (conf_is(object, "Object") &&
          conf_is(&plugin->child[other], "Object") &&
          strcmp(conf_text(&plugin->child[other]), conf_text(object)) == 0)
        check_problem(check, object, "there is an object %s already in line %d",
                      conf_text(object), plugin->child[other].line);
  }
}

static void check_plugin(struct check_config *config,
                         const struct conf_item *plugin) {
  if (!check_options(config->check, plugin))
    return;
  check_names(config->check, plugin);
  for (size_t i = 0; i < plugin->children; i++) {
    if (conf_is(&plugin->child[i], "Object"))
      check_object(config, &plugin->child[i]);
    else if (conf_is(&plugin->child[i], "Window"))
      check_watched(config, &plugin->child[i]);
  }
}

/* ---- What is pinned and nobody asked for ---- */

struct leftovers {
  struct check *check;
  const struct conf_item *root;
  const char *pin_dir;
};

static int check_leftover(const char *pinned, void *context) {
  const struct leftovers *leftovers = context;
  const struct conf_item *root = leftovers->root;
  for (size_t i = 0; i < root->children; i++) {
    const struct conf_item *plugin = &root->child[i];
    for (size_t o = 0; conf_is_ours(plugin, "Plugin") && o < plugin->children;
         o++)
      if (conf_is(&plugin->child[o], "Object") && plugin->child[o].values > 0 &&
          strcmp(conf_text(&plugin->child[o]), pinned) == 0)
        return 0;
  }
  check_say(
      leftovers->check, CHECK_NOTE, "pins",
      "%s is pinned but not configured; `bpf-window detach --pin-dir %s %s` "
      "removes it",
      pinned, leftovers->pin_dir, pinned);
  return 0;
}

/* ---- The file ---- */

void check_config(struct check *check, const struct conf *conf,
                  const char *path, const char *pin_dir) {
  const struct conf_item *root = conf_root(conf);
  struct check_config config = {.check = check, .conf = conf, .path = path};
  unsigned before = check->problems;
  bool configured = false;
  check_read_collectd(&config);
  for (size_t i = 0; i < root->children; i++) {
    const struct conf_item *item = &root->child[i];
    if (!conf_is_ours(item, "Plugin") || !item->block)
      continue;
    configured |= conf_find(item, "Object") || conf_find(item, "Window");
    check_plugin(&config, item);
  }
  check_loading(&config, configured);
  if (config.loaded && !configured)
    check_say(check, CHECK_PROBLEM, "config",
              "%s configures no <Object> and no <Window>: there is nothing to "
              "measure",
              path);
  if (check->problems == before && configured)
    check_say(check, CHECK_OK, "config", "%s", path);
  struct leftovers leftovers = {check, root, pin_dir};
  pins_for_each(pin_dir, check_leftover, &leftovers);
  free(config.instance);
}
