/* SPDX-License-Identifier: MIT */
#include "config.h"

#include "collectd.h"

#include "liboconfig/oconfig.h"

#include "config_value.h"
#include "object/pins.h"
#include "rules.h"
#include "window/window.h"

const struct config_window config_window_default = {
    .ratio_from_roles = true,
    .ratio_seconds = 300,
    .percentile = {50, 90, 99},
    .percentiles = 3,
};

const struct config config_default = {.backfill = true};

/* Makes room for one more element of an array and returns it zeroed, or NULL.
 */
static void *append(void *array, size_t *count, size_t size) {
  void **elements = array;
  char *grown = realloc(*elements, (*count + 1) * size);
  if (!grown)
    return NULL;
  *elements = grown;
  return memset(grown + (*count)++ * size, 0, size);
}

/* ---- Blocks ---- */

static int read_names(const struct config_place *place, char ***names,
                      size_t *count, struct failure *failure) {
  const oconfig_item_t *option = place->option;
  if (option->values_num < 1)
    return config_wrong(place, failure, "needs names of counters in quotes");
  for (int i = 0; i < option->values_num; i++) {
    if (option->values[i].type != OCONFIG_TYPE_STRING)
      return config_wrong(place, failure, "needs names of counters in quotes");
    char **name = append(names, count, sizeof(**names));
    if (!name || !(*name = strdup(option->values[i].value.string)))
      return failure_set(failure, -ENOMEM, "out of memory");
  }
  return 0;
}

static int read_ratio(struct config_window *window,
                      const struct config_place *place,
                      struct failure *failure) {
  struct config_ratio *ratio =
      append(&window->ratio, &window->ratios, sizeof(*ratio));
  if (!ratio)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = config_copy(place, &ratio->name, failure);
  if (status == 0 && strlen(ratio->name) >= BPF_WINDOW_NAME_SIZE)
    status =
        config_wrong(place, failure, "the ratio's name has over 39 characters");
  for (int i = 0; status == 0 && i < place->option->children_num; i++) {
    const struct config_place inner = {&place->option->children[i], place};
    const char *key = inner.option->key;
    if (strcasecmp(key, "Numerator") == 0)
      status = read_names(&inner, &ratio->member, &ratio->members, failure);
    else if (strcasecmp(key, "Denominator") == 0)
      status = read_names(&inner, &ratio->base, &ratio->bases, failure);
    else
      status = config_unknown(&inner, failure);
  }
  if (status == 0 && (ratio->members == 0 || ratio->bases == 0))
    status = config_wrong(place, failure,
                          "needs a line Numerator and a line Denominator");
  return status;
}

/* The line's take the place of the default ones. */
static int read_percentiles(struct config_window *window,
                            const struct config_place *place,
                            struct failure *failure) {
  const oconfig_item_t *option = place->option;
  bool good =
      option->values_num >= 1 && option->values_num <= CONFIG_MAX_PERCENTILES;
  for (int i = 0; good && i < option->values_num; i++) {
    const oconfig_value_t *value = &option->values[i];
    good = value->type == OCONFIG_TYPE_NUMBER && value->value.number > 0 &&
           value->value.number <= 100;
    window->percentile[i] = good ? value->value.number : 0;
  }
  if (!good)
    return config_wrong(
        place, failure,
        "needs up to 16 numbers above 0, at most 100, without quotes");
  window->percentiles = (size_t)option->values_num;
  return 0;
}

/* One more window of an array. */
static int read_window(struct config_window **windows, size_t *count,
                       const struct config_place *place,
                       struct failure *failure) {
  struct config_window *window = append(windows, count, sizeof(*window));
  if (!window)
    return failure_set(failure, -ENOMEM, "out of memory");
  *window = config_window_default;
  window->name = NULL;
  int status = config_copy(place, &window->name, failure);
  for (int i = 0; status == 0 && i < place->option->children_num; i++) {
    const struct config_place inner = {&place->option->children[i], place};
    const char *key = inner.option->key;
    if (strcasecmp(key, "Ratio") == 0)
      status = read_ratio(window, &inner, failure);
    else if (strcasecmp(key, "DefaultRatio") == 0)
      status = config_boolean(&inner, &window->ratio_from_roles, failure);
    else if (strcasecmp(key, "RatioSeconds") == 0)
      status = config_seconds(&inner, &window->ratio_seconds, failure);
    else if (strcasecmp(key, "Percentile") == 0)
      status = read_percentiles(window, &inner, failure);
    else if (strcasecmp(key, "Instance") == 0)
      status = config_copy(&inner, &window->instance, failure);
    else
      status = config_unknown(&inner, failure);
  }
  struct failure reason;
  if (status != 0 ||
      pins_check_watch_name(config_window_instance(window), &reason) == 0)
    return status;
  char text[900];
  snprintf(text, sizeof(text), "%s (Instance \"...\" in the block names it)",
           reason.text);
  return config_wrong(place, failure, text);
}

static int read_own_window(struct config_object *object,
                           const struct config_place *place,
                           struct failure *failure) {
  int status = read_window(&object->window, &object->windows, place, failure);
  if (status != 0)
    return status;
  const char *name = object->window[object->windows - 1].name;
  if (config_find_window(object, name) == &object->window[object->windows - 1])
    return 0;
  return config_wrong(place, failure,
                      "there is a block of this window already");
}

static int read_watched(struct config *config, const struct config_place *place,
                        struct failure *failure) {
  int status = read_window(&config->watched, &config->watches, place, failure);
  if (status != 0)
    return status;
  const struct config_window *window = &config->watched[config->watches - 1];
  const char *instance = config_window_instance(window);
  if (window->name[0] != '/')
    return config_wrong(
        place, failure,
        "outside of an <Object> it needs the path of a pin, such as "
        "/sys/fs/bpf/agent/my_stats");
  for (size_t i = 0; i + 1 < config->watches; i++)
    if (strcmp(config_window_instance(&config->watched[i]), instance) == 0)
      return config_wrong(
          place, failure,
          "there is a window of this name already; give one of them "
          "another with Instance");
  return 0;
}

static int read_rule(struct rules *rules, const struct config_place *place,
                     enum file_verdict verdict, struct failure *failure) {
  const char *path = NULL;
  char text[400];
  int status = config_string(place, &path, failure);
  if (status != 0)
    return status;
  config_place_text(place, text, sizeof(text));
  return policy_add(rules->own, verdict, path, text, failure);
}

static int read_rules_file(struct rules *rules,
                           const struct config_place *place,
                           struct failure *failure) {
  const char *path = NULL;
  char text[400];
  int status = config_string(place, &path, failure);
  if (status != 0)
    return status;
  config_place_text(place, text, sizeof(text));
  return rules_add_file(rules, path, text, failure);
}

/* Reads the rules once, so that what is wrong with them is said at the start.
 */
static int check_rules(const struct config_object *object,
                       struct failure *failure) {
  struct policy *policy;
  struct config_needed needed;
  config_needed(object, &needed);
  int status = rules_read(object->rules, needed.path, &policy, failure);
  if (status == 0)
    policy_free(&policy);
  return status;
}

static int read_policy(struct config_object *object,
                       const struct config_place *place,
                       struct failure *failure) {
  if (!object->rules && rules_new(&object->rules) != 0)
    return failure_set(failure, -ENOMEM, "out of memory");
  struct rules *rules = object->rules;
  int status = 0;
  for (int i = 0; status == 0 && i < place->option->children_num; i++) {
    const struct config_place inner = {&place->option->children[i], place};
    const char *key = inner.option->key;
    if (strcasecmp(key, "Allow") == 0)
      status = read_rule(rules, &inner, FILE_ALLOW, failure);
    else if (strcasecmp(key, "Deny") == 0)
      status = read_rule(rules, &inner, FILE_DENY, failure);
    else if (strcasecmp(key, "None") == 0)
      status = read_rule(rules, &inner, FILE_NO_POLICY, failure);
    else if (strcasecmp(key, "PolicyFile") == 0)
      status = read_rules_file(rules, &inner, failure);
    else if (strcasecmp(key, "Enforce") == 0)
      status = config_boolean(&inner, &rules->enforce, failure);
    else if (strcasecmp(key, "Force") == 0)
      status = config_boolean(&inner, &rules->force, failure);
    else if (strcasecmp(key, "Scope") == 0)
      status = config_scope(&inner, &rules->host_only, failure);
    else
      status = config_unknown(&inner, failure);
  }
  return status;
}

void config_needed(const struct config_object *object,
                   struct config_needed *needed) {
  config_main_file(needed->main_file, sizeof(needed->main_file));
  needed->path[0] = needed->main_file;
  needed->path[1] = object->path;
  needed->path[2] = NULL;
}

static int default_path(struct config_object *object) {
  if (object->path)
    return 0;
  return asprintf(&object->path, "%s/%s.bpf.o", BPF_OBJECT_DIR, object->name) <
                 0
             ? -ENOMEM
             : 0;
}

static int read_object(struct config *config, const struct config_place *place,
                       struct failure *failure) {
  struct config_object *object =
      append(&config->object, &config->objects, sizeof(*object));
  if (!object)
    return failure_set(failure, -ENOMEM, "out of memory");
  bool says_persist = false;
  object->persist = true;
  int status = config_copy(place, &object->name, failure);
  struct failure reason;
  if (status == 0 && pins_check_name(object->name, &reason) != 0)
    return config_wrong(place, failure, reason.text);
  for (size_t i = 0; status == 0 && i + 1 < config->objects; i++)
    if (strcmp(config->object[i].name, object->name) == 0)
      return config_wrong(place, failure,
                          "there is an object of this name already");
  for (int i = 0; status == 0 && i < place->option->children_num; i++) {
    const struct config_place inner = {&place->option->children[i], place};
    const char *key = inner.option->key;
    if (strcasecmp(key, "File") == 0)
      status = config_copy(&inner, &object->path, failure);
    else if (strcasecmp(key, "Front") == 0)
      status = config_copy(&inner, &object->front, failure);
    else if (strcasecmp(key, "Persist") == 0) {
      says_persist = true;
      status = config_boolean(&inner, &object->persist, failure);
    } else if (strcasecmp(key, "Policy") == 0)
      status = read_policy(object, &inner, failure);
    else if (strcasecmp(key, "Window") == 0)
      status = read_own_window(object, &inner, failure);
    else
      status = config_unknown(&inner, failure);
  }
  if (status == 0 && default_path(object) != 0)
    status = failure_set(failure, -ENOMEM, "out of memory");
  if (status == 0 && object->rules && object->rules->enforce && !says_persist)
    status =
        config_wrong(place, failure,
                     "with Enforce, say what happens when collectd stops: "
                     "Persist true (go on denying) or Persist false (stop)");
  if (status == 0 && object->rules)
    status = check_rules(object, failure);
  return status;
}

int config_read(struct config *config, const oconfig_item_t *block,
                struct failure *failure) {
  const struct config_place place = {block, NULL};
  int status = 0;
  for (int i = 0; status == 0 && i < block->children_num; i++) {
    const struct config_place inner = {&block->children[i], &place};
    const char *key = inner.option->key;
    if (strcasecmp(key, "PinDir") == 0)
      status = config_copy(&inner, &config->pin_dir, failure);
    else if (strcasecmp(key, "Backfill") == 0)
      status = config_boolean(&inner, &config->backfill, failure);
    else if (strcasecmp(key, "Statistics") == 0)
      status = config_boolean(&inner, &config->statistics, failure);
    else if (strcasecmp(key, "Object") == 0)
      status = read_object(config, &inner, failure);
    else if (strcasecmp(key, "Window") == 0)
      status = read_watched(config, &inner, failure);
    else
      status = config_unknown(&inner, failure);
  }
  return status;
}

/* ---- The rest of its life ---- */

static void free_names(char **names, size_t count) {
  for (size_t i = 0; i < count; i++)
    free(names[i]);
  free(names);
}

static void free_window(struct config_window *window) {
  for (size_t i = 0; i < window->ratios; i++) {
    free(window->ratio[i].name);
    free_names(window->ratio[i].member, window->ratio[i].members);
    free_names(window->ratio[i].base, window->ratio[i].bases);
  }
  free(window->ratio);
  free(window->name);
  free(window->instance);
}

void config_free(struct config *config) {
  for (size_t i = 0; i < config->objects; i++) {
    struct config_object *object = &config->object[i];
    for (size_t w = 0; w < object->windows; w++)
      free_window(&object->window[w]);
    free(object->window);
    free(object->name);
    free(object->path);
    free(object->front);
    rules_free(&object->rules);
  }
  free(config->object);
  for (size_t w = 0; w < config->watches; w++)
    free_window(&config->watched[w]);
  free(config->watched);
  free(config->pin_dir);
  *config = config_default;
}

const char *config_window_instance(const struct config_window *window) {
  const char *slash = strrchr(window->name, '/');
  return window->instance ? window->instance : slash ? slash + 1 : window->name;
}

const struct config_window *
config_find_window(const struct config_object *object, const char *name) {
  for (size_t i = 0; i < object->windows; i++)
    if (strcmp(object->window[i].name, name) == 0)
      return &object->window[i];
  return NULL;
}
