/* SPDX-License-Identifier: MIT */
/*
 * Windows, of objects and of others: their counters, their plugin instances,
 * and whether they can be read at collectd's interval.
 */
#include "check_parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "object/locate.h"
#include "object/pins.h"
#include "window/clock.h"
#include "window/window.h"

/* ---- Ratios ---- */

static void check_counters(struct check *check, const struct conf_item *option,
                           const char *window,
                           const struct bpf_window_epoch *record) {
  char known[400];
  uint32_t first;
  window_counter_names(record, known, sizeof(known));
  for (size_t i = 0; i < option->values; i++)
    if (window_values_of(record, option->value[i].text, &first) == 0)
      check_problem(check, option,
                    "window %s has no counter %s (there are: %s)", window,
                    option->value[i].text, known);
}

static void check_ratio(struct check *check, const struct conf_item *ratio,
                        const char *window,
                        const struct bpf_window_epoch *record) {
  for (size_t i = 0; i < ratio->children; i++)
    check_counters(check, &ratio->child[i], window, record);
  if (!conf_find(ratio, "Numerator") || !conf_find(ratio, "Denominator"))
    check_problem(check, ratio,
                  "needs a line Numerator and a line Denominator");
}

/* The one of its name before it in the block, or NULL. */
static const struct conf_item *earlier_ratio(const struct conf_item *block,
                                             const struct conf_item *ratio) {
  for (const struct conf_item *item = block->child; item < ratio; item++)
    if (conf_is(item, "Ratio") &&
        strcmp(conf_text(item), conf_text(ratio)) == 0)
      return item;
  return NULL;
}

static void check_ratio_name(struct check *check, const struct conf_item *block,
                             const struct conf_item *ratio,
                             const struct bpf_window_epoch *record) {
  const struct conf_item *earlier = earlier_ratio(block, ratio);
  const struct conf_item *option = conf_find(block, "DefaultRatio");
  struct window_ratio by_roles;
  if (earlier)
    check_problem(check, ratio, "there is a ratio %s already, in line %d",
                  conf_text(ratio), earlier->line);
  else if (strlen(conf_text(ratio)) >= sizeof(by_roles.name))
    check_problem(check, ratio, "the ratio's name has over 39 characters");
  else if ((!option || conf_truth(option->value)) &&
           window_ratio_from_roles(&by_roles, record) &&
           strcmp(by_roles.name, conf_text(ratio)) == 0)
    check_problem(check, ratio,
                  "the window has a ratio %s of its own (DefaultRatio false "
                  "leaves that out)",
                  conf_text(ratio));
}

static void check_ratios(struct check *check, const struct conf_item *block,
                         const char *window,
                         const struct bpf_window_epoch *record) {
  for (size_t i = 0; i < block->children; i++) {
    const struct conf_item *ratio = &block->child[i];
    if (!conf_is(ratio, "Ratio"))
      continue;
    check_ratio(check, ratio, window, record);
    check_ratio_name(check, block, ratio, record);
  }
}

/* block: the window's, or NULL; place: where to tell what none of its lines has. */
static void check_values(struct check *check, const struct conf_item *block,
                         const struct conf_item *place, const char *window,
                         const struct bpf_window_epoch *record) {
  unsigned before = check->problems;
  if (block)
    check_ratios(check, block, window, record);
  if (check->problems == before)
    check_series(check, block, place, window, record);
}

/* ---- The interval ---- */

/* Told once: it is one line that is wrong. */
static void check_interval(struct check_config *config, const char *window,
                           const struct bpf_window_epoch *record) {
  struct failure failure;
  if (config->interval_told || !config->loaded ||
      window_check_interval(record,
                            (uint64_t)(config->interval * NS_PER_SECOND + 0.5),
                            &failure) == 0)
    return;
  config->interval_told = true;
  if (config->interval_at)
    check_problem(config->check, config->interval_at, "window %s: %s", window,
                  failure.text);
  else
    check_say(config->check, CHECK_PROBLEM, "config", "%s: window %s: %s",
              config->path, window, failure.text);
}

/* ---- Plugin instances ---- */

struct check_instance {
  char name[PINS_NAME_SIZE];
  const struct conf_item *block; /* of the window or, without one, its object */
};

static const char *instance_of(const struct conf_item *window) {
  const struct conf_item *instance = conf_find(window, "Instance");
  const char *slash = strrchr(conf_text(window), '/');
  return instance ? conf_text(instance) : slash ? slash + 1 : conf_text(window);
}

/* block: of the window, or of the object that has it without saying so. */
static void check_instance(struct check_config *config, const char *name,
                           const struct conf_item *block) {
  struct failure failure;
  if (pins_check_watch_name(name, &failure) != 0) {
    check_problem(config->check, block,
                  "%s (Instance \"...\" in the block names it)", failure.text);
    return;
  }
  for (size_t i = 0; i < config->instances; i++)
    if (strcmp(config->instance[i].name, name) == 0)
      check_problem(config->check, block,
                    "there is a window %s already, of %s:%d; give one of them "
                    "another name with Instance in its <Window> block",
                    name, config->instance[i].block->file,
                    config->instance[i].block->line);
  struct check_instance *larger =
      realloc(config->instance, (config->instances + 1) * sizeof(*larger));
  if (!larger)
    return;
  config->instance = larger;
  larger = &larger[config->instances++];
  snprintf(larger->name, sizeof(larger->name), "%s", name);
  larger->block = block;
}

/* ---- Windows of an object ---- */

static const struct conf_item *block_of(const struct conf_item *object,
                                        const char *window) {
  for (size_t i = 0; i < object->children; i++)
    if (conf_is(&object->child[i], "Window") &&
        strcmp(conf_text(&object->child[i]), window) == 0)
      return &object->child[i];
  return NULL;
}

/* Blocks that no window of the object file has, or that it has already. */
static void check_blocks(struct check *check, const struct conf_item *object,
                         const struct inspect_object *inspected) {
  for (size_t i = 0; i < object->children; i++) {
    const struct conf_item *block = &object->child[i];
    if (!conf_is(block, "Window"))
      continue;
    const struct conf_item *first = block_of(object, conf_text(block));
    bool found = false;
    for (size_t w = 0; w < inspected->windows; w++)
      found |= strcmp(inspected->window[w].name, conf_text(block)) == 0;
    if (first != block)
      check_problem(check, block, "window %s has a block already in line %d",
                    conf_text(block), first->line);
    else if (!found)
      check_problem(check, block,
                    "the object has no window %s; its first is %s",
                    conf_text(block), inspected->window[0].name);
  }
}

void check_windows(struct check_config *config, const struct conf_item *object,
                   const struct inspect_object *inspected) {
  check_blocks(config->check, object, inspected);
  for (size_t i = 0; i < inspected->windows; i++) {
    const struct inspect_window *window = &inspected->window[i];
    const struct conf_item *block = block_of(object, window->name);
    check_interval(config, window->name, &window->record);
    check_instance(config, block ? instance_of(block) : window->name,
                   block ? block : object);
    check_values(config->check, block, block ? block : object, window->name,
                 &window->record);
  }
}

/* ---- Windows that others own ---- */

/* Its pin may come later; what is there must be a window. */
void check_watched(struct check_config *config, const struct conf_item *block) {
  struct check *check = config->check;
  struct reader *reader = NULL;
  struct failure failure;
  const char *path = conf_text(block);
  if (path[0] != '/') {
    check_problem(check, block,
                  "outside of an <Object> it needs the path of a pin, such as "
                  "/sys/fs/bpf/agent/my_stats");
    return;
  }
  check_instance(config, instance_of(block), block);
  int status = locate_pinned(path, 0, &reader, NULL, &failure);
  if (status == 0) {
    check_values(check, block, block, path, reader_epoch(reader));
    check_interval(config, path, reader_epoch(reader));
  } else if (status == -ENOENT) {
    check_say(check, CHECK_NOTE, "config",
              "%s:%d: Window: nothing is pinned at %s now; collectd would wait "
              "for it",
              block->file, block->line, path);
  } else {
    check_problem(check, block, "%s", failure.text);
  }
  reader_close(&reader);
}
