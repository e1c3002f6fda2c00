/* SPDX-License-Identifier: MIT */
/*
 * bpf_window - a collectd plugin that owns the life of BPF objects and
 * dispatches the windows in which they count. See collectd-bpf_window(5).
 */
#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

#include "barrier.h"
#include "config.h"
#include "feed.h"
#include "health.h"
#include "notice.h"
#include "object/object.h"
#include "object/statistics.h"
#include "rules.h"

#define PLUGIN "bpf_window plugin: "

void module_register(void);

/* The plugin's one state. */
static struct {
  struct config config;
  bool configured;        /* config holds something */
  struct pins_root *pins; /* NULL: unpinned */
  struct object **object; /* per config.object; NULL if it failed */
  int statistics_fd; /* holds the kernel's counting of runs; -1: not ours */
} state = {.statistics_fd = -1};

/* ---- Config ---- */

/* Runs before collectd detaches from its terminal: read only, open nothing. */
static int on_config(oconfig_item_t *block) {
  struct failure failure;
  if (!state.configured)
    state.config = config_default;
  state.configured = true;
  int status = config_read(&state.config, block, &failure);
  if (status == 0)
    return 0;
  ERROR(PLUGIN "%s", failure.text);
  config_free(&state.config);
  return status;
}

/* ---- Init ---- */

/* Not the macro DEBUG: it is empty where collectd was built without debugging. */
static void log_libbpf(const char *line) {
  plugin_log(LOG_DEBUG, PLUGIN "%s", line);
}

/* idle: there is nothing to pin, perhaps something to remove. */
static void open_pins(bool idle) {
  struct failure failure;
  const char *path = state.config.pin_dir ? state.config.pin_dir : PINS_ROOT;
  if ((idle && access(path, F_OK) != 0) ||
      pins_open(&state.pins, path, &failure) == 0)
    return;
  WARNING(PLUGIN "%s. Running without pins: counting ends with collectd.",
          failure.text);
}

static void say_started(const struct config_object *config,
                        const struct object *object) {
  static const char *const how[] = {
      [OBJECT_LOADED] = "loaded",
      [OBJECT_ADOPTED] = "adopted as it was left running",
      [OBJECT_UPGRADED] = "new programs on the maps left running",
      [OBJECT_REATTACHED] = "attached again: somebody had detached its "
                            "programs; what happened meanwhile is not counted",
      [OBJECT_REPLACED] = "loaded; the pinned windows had other counters and "
                          "were replaced, totals begin at 0",
  };
  const struct pins_record *record = object_record(object);
  enum object_origin origin = object_origin(object);
  INFO(PLUGIN "%s: %s%s%s.", config->name, how[origin],
       *record->front ? ", counting at " : "", record->front);
  if (origin == OBJECT_REPLACED || origin == OBJECT_REATTACHED)
    notice(NOTIF_WARNING, config->name, "%s", how[origin]);
  if (*record->reason && origin != OBJECT_ADOPTED)
    notice(NOTIF_WARNING, config->name, "counting at %s, since %s",
           record->front, record->reason);
  if (config->rules && config->rules->enforce &&
      strcmp(record->front, "lsm") != 0)
    notice(NOTIF_FAILURE, config->name,
           "nothing is denied: Enforce needs the front lsm, and %s is in use",
           *record->front ? record->front : "none");
  if (*object_warning(object))
    notice(NOTIF_WARNING, config->name, "%s", object_warning(object));
}

static void feed_windows(const struct config_object *config,
                         const struct object *object) {
  const struct object_window *window;
  unsigned windows = object_windows(object, &window);
  for (unsigned i = 0; i < windows; i++) {
    const struct config_window *wanted =
        config_find_window(config, window[i].name);
    struct failure failure;
    if (feed_start(&window[i], wanted ? wanted : &config_window_default,
                   state.config.backfill, &failure) != 0)
      notice(NOTIF_FAILURE, config->name, "<Window \"%s\">: %s", window[i].name,
             failure.text);
  }
  for (size_t w = 0; w < config->windows; w++) {
    bool found = false;
    for (unsigned i = 0; i < windows; i++)
      found |= strcmp(window[i].name, config->window[w].name) == 0;
    if (!found)
      notice(NOTIF_FAILURE, config->name,
             "<Window \"%s\">: %s declares no window of this name",
             config->window[w].name, config->path);
  }
}

static int start_with_rules(const struct config_object *config,
                            struct object **object, struct failure *failure) {
  struct object_options options = {
      .name = config->name,
      .path = config->path,
      .pins = state.pins,
      .front = config->front,
  };
  struct policy *policy = NULL;
  int status = 0;
  if (config->rules) {
    struct config_needed needed;
    config_needed(config, &needed);
    status = rules_terms(config->rules, &options.terms, failure);
    if (status == 0)
      status = rules_read(config->rules, needed.path, &policy, failure);
  }
  options.policy = policy;
  if (status == 0)
    status = object_start(object, &options, failure);
  policy_free(&policy);
  return status;
}

static struct object *start_object(const struct config_object *config) {
  struct object *object;
  struct failure failure;
  if (start_with_rules(config, &object, &failure) != 0) {
    notice(NOTIF_FAILURE, config->name, "%s", failure.text);
    return NULL;
  }
  say_started(config, object);
  feed_windows(config, object);
  if (health_start(object, config, &failure) != 0)
    notice(NOTIF_WARNING, config->name, "%s", failure.text);
  return object;
}

/* ---- Objects that are to go ---- */

static void say_left(const char *name, const struct failure *failure) {
  ERROR(PLUGIN "%s; %s may go on counting: `bpf-window detach --pin-dir %s %s` "
               "ends it",
        failure->text, name, pins_path(state.pins), name);
}

static int remove_if_unnamed(const char *name, void *context) {
  struct pins_record record;
  struct failure failure;
  (void)context;
  for (size_t i = 0; i < state.config.objects; i++)
    if (strcmp(state.config.object[i].name, name) == 0)
      return 0;
  int status = pins_read_record(pins_path(state.pins), name, &record, &failure);
  if (status == -ENOENT)
    return 0; /* not ours */
  if (status == 0)
    status = pins_remove(pins_path(state.pins), name, &failure);
  if (status == 0)
    NOTICE(PLUGIN "%s: no longer in the configuration; detached and unpinned.",
           name);
  else
    say_left(name, &failure);
  return 0;
}

static void remove_unnamed(void) {
  const char *path = pins_path(state.pins);
  int status = pins_for_each(path, remove_if_unnamed, NULL);
  if (status != 0)
    ERROR(PLUGIN "cannot look into %s for objects that are no longer in the "
                 "configuration: %s; the next start does",
          path, strerror(-status));
}

static void count_runs(void) {
  struct failure failure;
  state.statistics_fd = object_count_runs(&failure);
  if (state.statistics_fd < 0)
    WARNING(PLUGIN "Statistics: %s", failure.text);
}

/* ---- Windows that others own ---- */

static void watch_window(const struct config_window *config) {
  struct failure failure;
  if (feed_watch(config, state.pins, state.config.backfill, &failure) != 0)
    notice(NOTIF_FAILURE, config_window_instance(config), "%s: %s",
           config->name, failure.text);
}

static bool is_watched(const char *name, void *context) {
  const struct config *config = context;
  for (size_t i = 0; i < config->watches; i++)
    if (strcmp(config_window_instance(&config->watched[i]), name) == 0)
      return true;
  return false;
}

static int on_init(void) {
  struct config *config = &state.config;
  if (state.object)
    return 0; /* collectd calls init again when it reads its config again */
  bool idle = config->objects == 0 && config->watches == 0;
  if (idle)
    WARNING(PLUGIN "no <Object> and no <Window> block: nothing is counted.");
  state.object = calloc(config->objects + 1, sizeof(*state.object));
  if (!state.object) {
    ERROR(PLUGIN "out of memory");
    return -ENOMEM;
  }
  object_log_libbpf(log_libbpf);
  open_pins(idle);
  if (state.pins) {
    remove_unnamed();
    pins_forget_watches(state.pins, is_watched, config);
  }
  if (config->statistics)
    count_runs();
  barrier_register();
  for (size_t i = 0; i < config->objects; i++)
    state.object[i] = start_object(&config->object[i]);
  for (size_t i = 0; i < config->watches; i++)
    watch_window(&config->watched[i]);
  return 0;
}

/* ---- Shutdown: the feeds are gone by now, freed with their reads ---- */

static void stop_object(const struct config_object *config,
                        struct object **object) {
  struct failure failure;
  if (object_stop(object, config->persist, &failure) != 0)
    say_left(config->name, &failure);
}

static int on_shutdown(void) {
  for (size_t i = 0; state.object && i < state.config.objects; i++)
    stop_object(&state.config.object[i], &state.object[i]);
  free(state.object);
  state.object = NULL;
  if (state.statistics_fd >= 0)
    close(state.statistics_fd);
  state.statistics_fd = -1;
  pins_close(&state.pins);
  config_free(&state.config);
  state.configured = false;
  return 0;
}

void module_register(void) {
  plugin_register_complex_config("bpf_window", on_config);
  plugin_register_init("bpf_window", on_init);
  plugin_register_shutdown("bpf_window", on_shutdown);
}
