/* SPDX-License-Identifier: MIT */
#include "health.h"

#include <bpf/bpf.h>

#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

#include "notice.h"
#include "object/statistics.h"
#include "rules.h"
#include "value.h"

struct health {
  struct object *object;
  const struct config_object *config;
  int pins_status;  /* of the last mending, so that a trouble is told once */
  int rules_status; /* likewise */
  cdtime_t last;    /* time of the values dispatched last */
};

/* ---- Rules ---- */

/* Puts the rules of the configuration, read anew, in force. Errors say what is
 * in force then. */
static int set_rules(struct object *object, const struct config_object *config,
                     struct failure *failure) {
  struct policy *policy;
  struct policy_terms terms;
  struct config_needed needed;
  struct failure reason;
  config_needed(config, &needed);
  int status = rules_terms(config->rules, &terms, &reason);
  if (status == 0)
    status = rules_read(config->rules, needed.path, &policy, &reason);
  if (status != 0)
    return failure_set(failure, status, "the rules stay as they were: %.600s",
                       reason.text);
  status = object_set_policy(object, policy, &terms, failure);
  policy_free(&policy);
  if (status == 0 && *object_warning(object))
    notice(NOTIF_WARNING, config->name, "%s", object_warning(object));
  return status;
}

static void follow_rules(struct health *health) {
  struct failure failure;
  if (!health->config->rules ||
      (health->rules_status == 0 && !rules_changed(health->config->rules)))
    return;
  int before = health->rules_status;
  health->rules_status = set_rules(health->object, health->config, &failure);
  if (health->rules_status == 0)
    notice(NOTIF_OKAY, health->config->name, "the changed rules are in force");
  else if (before == 0)
    notice(NOTIF_FAILURE, health->config->name,
           "%s; it is tried again at every interval", failure.text);
}

/* ---- Pins ---- */

static void mend_pins(struct health *health) {
  struct failure failure;
  int status = object_mend_pins(health->object, &failure);
  if (status > 0)
    notice(NOTIF_WARNING, health->config->name,
           "somebody removed its pins; they were made again");
  else if (status < 0 && health->pins_status >= 0)
    notice(NOTIF_FAILURE, health->config->name,
           "its pins are gone and cannot be made again: %s", failure.text);
  health->pins_status = status;
}

/* ---- What it costs ---- */

/* At multiples of the interval, as the windows' values, and the first at one
 * behind the start: writers that keep whole seconds refuse a second value of
 * the same, and older ones, be the newest from the collectd that ran here
 * before. */
static void dispatch_costs(struct health *health) {
  const char *name = health->config->name;
  const char *front = object_record(health->object)->front;
  cdtime_t interval = plugin_get_interval(), now = cdtime();
  now -= now % interval;
  if (now <= health->last)
    return;
  health->last = now;
  struct object_statistics cost;
  object_statistics(health->object, &cost);
  value_dispatch(name, "count", "self_programs",
                 (value_t){.gauge = cost.programs}, now);
  value_dispatch(name, "memory", "self_maps",
                 (value_t){.gauge = (gauge_t)cost.map_bytes}, now);
  if (*front) {
    char instance[DATA_MAX_NAME_LEN];
    ssnprintf(instance, sizeof(instance), "self_front_%s", front);
    value_dispatch(name, "gauge", instance, (value_t){.gauge = 1}, now);
  }
  if (!cost.runs_known)
    return;
  value_dispatch(name, "derive", "self_runs",
                 (value_t){.derive = (derive_t)cost.runs}, now);
  value_dispatch(name, "derive", "self_run_ns",
                 (value_t){.derive = (derive_t)cost.run_ns}, now);
  value_dispatch(name, "derive", "self_recursion_misses",
                 (value_t){.derive = (derive_t)cost.recursion_misses}, now);
}

static int on_read(user_data_t *user_data) {
  struct health *health = user_data->data;
  follow_rules(health);
  mend_pins(health);
  dispatch_costs(health);
  return 0;
}

/* The newest time under which the record has values of the object, in this or
 * an earlier collectd's time; now, if the wall clock was not set back since. */
static cdtime_t newest_time(const struct object *object) {
  const struct object_window *window;
  unsigned windows = object_windows(object, &window);
  cdtime_t newest = cdtime();
  for (unsigned i = 0; i < windows; i++) {
    const uint32_t zero = 0;
    struct pins_edge edge;
    if (bpf_map_lookup_elem(window[i].edge_fd, &zero, &edge) == 0 &&
        NS_TO_CDTIME_T(edge.wall_ns) > newest)
      newest = NS_TO_CDTIME_T(edge.wall_ns);
  }
  return newest;
}

int health_start(struct object *object, const struct config_object *config,
                 struct failure *failure) {
  struct health *health = calloc(1, sizeof(*health));
  if (!health)
    return failure_set(failure, -ENOMEM, "out of memory");
  health->object = object;
  health->config = config;
  health->last = newest_time(object);
  char name[DATA_MAX_NAME_LEN * 2];
  ssnprintf(name, sizeof(name), "bpf_window/%s/health", config->name);
  user_data_t user_data = {.data = health, .free_func = free};
  return plugin_register_complex_read(NULL, name, on_read, 0, &user_data) == 0
             ? 0
             : failure_set(failure, -EINVAL, "collectd refuses to read it");
}
