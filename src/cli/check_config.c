/* SPDX-License-Identifier: MIT */
/*
 * What a sound <Plugin bpf_window> block refers to: object files, their
 * windows, counters and fronts, and rules of policies.
 */
#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "check.h"
#include "conf_policy.h"
#include "object/inspect.h"
#include "object/locate.h"
#include "object/pins.h"
#include "window/window.h"

#define PROBLEM(check, item, format, ...)                                      \
  check_say(check, CHECK_PROBLEM, "config", "%s:%d: %s: " format,              \
            (item)->file, (item)->line, (item)->key, __VA_ARGS__)

/* ---- Windows ---- */

static void check_counters(struct check *check, const struct conf_item *option,
                           const char *window,
                           const struct bpf_window_epoch *record) {
  for (size_t i = 0; i < option->values; i++)
    if (window_value_of(record, option->value[i].text) < 0)
      PROBLEM(check, option, "window %s has no counter %s", window,
              option->value[i].text);
}

static void check_ratio(struct check *check, const struct conf_item *ratio,
                        const char *window,
                        const struct bpf_window_epoch *record) {
  for (size_t i = 0; i < ratio->children; i++)
    check_counters(check, &ratio->child[i], window, record);
  if (!conf_find(ratio, "Numerator") || !conf_find(ratio, "Denominator"))
    PROBLEM(check, ratio, "%s",
            "needs a line Numerator and a line Denominator");
}

static void check_ratios(struct check *check, const struct conf_item *block,
                         const char *window,
                         const struct bpf_window_epoch *record) {
  for (size_t i = 0; i < block->children; i++)
    if (conf_is(&block->child[i], "Ratio"))
      check_ratio(check, &block->child[i], window, record);
}

static void check_window(struct check *check, const struct conf_item *block,
                         const struct inspect_object *object) {
  const struct inspect_window *window = NULL;
  for (size_t i = 0; i < object->windows; i++)
    if (strcmp(object->window[i].name, conf_text(block)) == 0)
      window = &object->window[i];
  if (!window) {
    PROBLEM(check, block, "the object has no window %s; its first is %s",
            conf_text(block), object->window[0].name);
    return;
  }
  check_ratios(check, block, window->name, &window->record);
}

/* ---- Windows that others own ---- */

static const char *instance_of(const struct conf_item *window) {
  const struct conf_item *instance = conf_find(window, "Instance");
  const char *slash = strrchr(conf_text(window), '/');
  return instance ? conf_text(instance) : slash ? slash + 1 : conf_text(window);
}

/* Its pin may come later; what is there must be a window. */
static void check_watched(struct check *check, const struct conf_item *block) {
  struct reader *reader = NULL;
  struct failure failure;
  const char *path = conf_text(block);
  if (path[0] != '/') {
    PROBLEM(check, block, "%s",
            "outside of an <Object> it needs the path of a pin, such as "
            "/sys/fs/bpf/agent/my_stats");
    return;
  }
  if (pins_check_watch_name(instance_of(block), &failure) != 0) {
    PROBLEM(check, block, "%s (Instance \"...\" in the block names it)",
            failure.text);
    return;
  }
  int status = locate_pinned(path, 0, &reader, NULL, &failure);
  if (status == 0)
    check_ratios(check, block, path, reader_epoch(reader));
  else if (status == -ENOENT)
    check_say(check, CHECK_NOTE, "config",
              "%s:%d: Window: nothing is pinned at %s now; collectd would wait "
              "for it",
              block->file, block->line, path);
  else
    PROBLEM(check, block, "%s", failure.text);
  reader_close(&reader);
}

static void check_watches(struct check *check, const struct conf_item *plugin) {
  for (size_t i = 0; i < plugin->children; i++) {
    const struct conf_item *window = &plugin->child[i];
    if (!conf_is(window, "Window"))
      continue;
    check_watched(check, window);
    for (size_t other = 0; other < i; other++)
      if (conf_is(&plugin->child[other], "Window") &&
          strcmp(instance_of(&plugin->child[other]), instance_of(window)) == 0)
        PROBLEM(check, window,
                "there is a window %s already in line %d; give one of them "
                "another Instance",
                instance_of(window), plugin->child[other].line);
  }
}

/* ---- Policies ---- */

/* Without a word on it, nobody would expect files to stay closed. */
static void check_enforcing(struct check *check, const struct conf_item *object,
                            const struct conf_item *policy) {
  const struct conf_item *enforce = conf_find(policy, "Enforce");
  if (enforce && conf_truth(&enforce->value[0]) &&
      !conf_find(object, "Persist"))
    PROBLEM(check, enforce, "%s",
            "say what happens when collectd stops: Persist true (go on "
            "denying) or Persist false (stop)");
}

/* Not root, one cannot see whether collectd could. */
static void check_scope(struct check *check, const struct conf_item *policy) {
  uint32_t number;
  struct failure failure;
  if (conf_policy_terms(policy).host_only &&
      policy_host_namespace(&number, &failure) != 0)
    check_say(check, geteuid() == 0 ? CHECK_PROBLEM : CHECK_NOTE, "config",
              "%s:%d: Scope: %s", policy->file,
              conf_find(policy, "Scope")->line, failure.text);
}

static void check_policy(struct check *check, const struct conf_item *block) {
  struct policy *policy;
  struct failure failure;
  if (policy_new(&policy) != 0)
    return;
  for (size_t i = 0; i < block->children; i++)
    if (conf_policy_add(policy, &block->child[i], &failure) != 0)
      check_say(check, CHECK_PROBLEM, "config", "%s", failure.text);
  policy_free(&policy);
}

/* ---- Objects ---- */

static void check_front(struct check *check, const struct conf_item *front,
                        const struct describe_fronts *fronts) {
  for (unsigned i = 0; i < fronts->count; i++)
    if (strcmp(fronts->name[i], conf_text(front)) == 0)
      return;
  PROBLEM(check, front, "the object has no front %s%s%s", conf_text(front),
          fronts->count ? "; its first is " : "",
          fronts->count ? fronts->name[0] : "");
}

static void check_object(struct check *check, const struct conf_item *block) {
  const struct conf_item *file = conf_find(block, "File");
  struct failure failure;
  char path[512];
  if (pins_check_name(conf_text(block), &failure) != 0) {
    PROBLEM(check, block, "%s", failure.text);
    return;
  }
  if (file)
    snprintf(path, sizeof(path), "%s", conf_text(file));
  else
    snprintf(path, sizeof(path), "%s/%s.bpf.o", BPF_OBJECT_DIR,
             conf_text(block));
  struct inspect_object object;
  if (inspect_file(path, &object, &failure) != 0) {
    PROBLEM(check, file ? file : block, "%s", failure.text);
    return;
  }
  for (size_t i = 0; i < block->children; i++) {
    const struct conf_item *option = &block->child[i];
    if (conf_is(option, "Window"))
      check_window(check, option, &object);
    else if (conf_is(option, "Policy")) {
      check_policy(check, option);
      check_enforcing(check, block, option);
      check_scope(check, option);
    } else if (conf_is(option, "Front"))
      check_front(check, option, &object.fronts);
  }
  inspect_free(&object);
}

static void check_objects(struct check *check, const struct conf_item *plugin) {
  for (size_t i = 0; i < plugin->children; i++) {
    const struct conf_item *object = &plugin->child[i];
    if (!conf_is(object, "Object"))
      continue;
    check_object(check, object);
    for (size_t other = 0; other < i; other++)
      if (conf_is(&plugin->child[other], "Object") &&
          strcmp(conf_text(&plugin->child[other]), conf_text(object)) == 0)
        PROBLEM(check, object, "there is an object %s already in line %d",
                conf_text(object), plugin->child[other].line);
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
  unsigned before = check->problems;
  bool loaded = false, configured = false;
  for (size_t i = 0; i < root->children; i++) {
    const struct conf_item *item = &root->child[i];
    loaded |= conf_is_ours(item, "LoadPlugin");
    if (!conf_is_ours(item, "Plugin") || !item->block)
      continue;
    configured |= conf_find(item, "Object") || conf_find(item, "Window");
    if (check_options(check, item)) {
      check_objects(check, item);
      check_watches(check, item);
    }
  }
  if (!loaded)
    check_say(check, configured ? CHECK_PROBLEM : CHECK_NOTE, "config",
              "%s does not load the plugin: add LoadPlugin bpf_window", path);
  else if (!configured)
    check_say(check, CHECK_PROBLEM, "config",
              "%s configures no <Object> and no <Window>: there is nothing to "
              "measure",
              path);
  if (check->problems == before && configured)
    check_say(check, CHECK_OK, "config", "%s", path);
  struct leftovers leftovers = {check, root, pin_dir};
  pins_for_each(pin_dir, check_leftover, &leftovers);
}
