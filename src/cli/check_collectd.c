/* SPDX-License-Identifier: MIT */
/*
 * What collectd's own options make of the plugin: whether it is loaded, from
 * which folder, and its interval. collectd takes each as it stands before the
 * line that loads the plugin.
 */
#include "check_parts.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define PLUGIN_FILE "bpf_window.so"
#define DEFAULT_INTERVAL 10

/* Of Debian's package: enables the rest of its configuration. */
#define DEBIAN_SWITCH "/etc/collectd/collectd.conf.d/bpf_window.conf"

/* ---- The options ---- */

static void take_interval(struct check_config *config,
                          const struct conf_item *item) {
  double interval = strtod(conf_text(item), NULL);
  config->interval = interval > 0 ? interval : DEFAULT_INTERVAL;
  config->interval_at = item;
}

static void take_load(struct check_config *config,
                      const struct conf_item *load) {
  const struct conf_item *interval = conf_find(load, "Interval");
  config->loaded = true;
  if (interval)
    take_interval(config, interval);
}

void check_read_collectd(struct check_config *config) {
  const struct conf_item *root = conf_root(config->conf);
  bool loads_by_itself = false;
  config->interval = DEFAULT_INTERVAL;
  for (size_t i = 0; i < root->children && !config->loaded; i++) {
    const struct conf_item *item = &root->child[i];
    if (conf_is(item, "Interval"))
      take_interval(config, item);
    else if (conf_is(item, "PluginDir"))
      config->plugin_dir = item;
    else if (conf_is(item, "AutoLoadPlugin"))
      loads_by_itself = item->values > 0 && conf_truth(&item->value[0]);
    else if (conf_is_ours(item, "LoadPlugin"))
      take_load(config, item);
    else if (loads_by_itself && conf_is_ours(item, "Plugin"))
      config->loaded = true;
  }
}

/* ---- The plugin's file ---- */

static bool has_plugin(const char *folder) {
  char path[1024];
  snprintf(path, sizeof(path), "%s/" PLUGIN_FILE, folder);
  return access(path, F_OK) == 0 || (errno != ENOENT && errno != ENOTDIR);
}

/* Whether the plugins of collectd's own are there: any that is not this one. */
static bool is_of_collectd(const char *folder) {
  char pattern[1024];
  glob_t found;
  snprintf(pattern, sizeof(pattern), "%s/*.so", folder);
  if (glob(pattern, 0, NULL, &found) != 0)
    return false;
  bool others = found.gl_pathc > (has_plugin(folder) ? 1 : 0);
  globfree(&found);
  return others;
}

/* Where a collectd that is not told looks for plugins was chosen when it was
 * built. */
static void check_usual_folders(struct check *check) {
  static const char usual[] = "{/usr/lib,/usr/lib64,/usr/lib/*-linux-*,"
                              "/usr/local/lib,/opt/collectd/lib}/collectd";
  glob_t found;
  const char *lacking = NULL;
  bool there = false;
  if (glob(usual, GLOB_BRACE, NULL, &found) != 0)
    return;
  for (size_t i = 0; i < found.gl_pathc && !there; i++) {
    if (!is_of_collectd(found.gl_pathv[i]))
      continue;
    there = has_plugin(found.gl_pathv[i]);
    lacking = found.gl_pathv[i];
  }
  if (lacking && !there)
    check_say(check, CHECK_PROBLEM, "plugin",
              "collectd's plugins are in %s, and " PLUGIN_FILE " is not: "
              "./configure --with-collectd-plugindir=%s, make install",
              lacking, lacking);
  globfree(&found);
}

static void check_file(struct check_config *config) {
  const struct conf_item *dir = config->plugin_dir;
  if (!dir)
    check_usual_folders(config->check);
  else if (!has_plugin(conf_text(dir)))
    check_problem(config->check, dir,
                  "there is no " PLUGIN_FILE " in %s: ./configure "
                  "--with-collectd-plugindir=%s, make install",
                  conf_text(dir), conf_text(dir));
}

void check_loading(struct check_config *config, bool configured) {
  bool debian = access(DEBIAN_SWITCH, F_OK) == 0;
  if (!config->loaded)
    check_say(config->check, configured ? CHECK_PROBLEM : CHECK_NOTE, "config",
              "%s does not load the plugin: %s", config->path,
              debian ? "remove the # in " DEBIAN_SWITCH
                       ", or add LoadPlugin bpf_window"
                     : "add LoadPlugin bpf_window");
  else
    check_file(config);
}
