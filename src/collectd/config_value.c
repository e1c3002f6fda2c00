/* SPDX-License-Identifier: MIT */
#include "config_value.h"

#include "collectd.h"

#include "liboconfig/oconfig.h"

#include "object/policy.h"

#include <bpf_window/layout.h>

/* ---- Failures ---- */

/* "file:12: <Object "x"> Option: what is wrong" */
int config_wrong(const struct config_place *place, struct failure *failure,
                 const char *what) {
  char text[400];
  config_place_text(place, text, sizeof(text));
  return failure_set(failure, -EINVAL, "%s: %s", text, what);
}

int config_unknown(const struct config_place *place, struct failure *failure) {
  return config_wrong(place, failure,
                      "unknown option; see collectd-bpf_window(5)");
}

/* ---- Values ---- */

int config_string(const struct config_place *place, const char **value,
                  struct failure *failure) {
  const oconfig_item_t *option = place->option;
  if (option->values_num != 1 ||
      option->values[0].type != OCONFIG_TYPE_STRING ||
      option->values[0].value.string[0] == '\0')
    return config_wrong(place, failure, "needs one string in quotes");
  *value = option->values[0].value.string;
  return 0;
}

int config_copy(const struct config_place *place, char **copy,
                struct failure *failure) {
  const char *value = NULL;
  int status = config_string(place, &value, failure);
  if (status != 0)
    return status;
  free(*copy);
  *copy = strdup(value);
  return *copy ? 0 : failure_set(failure, -ENOMEM, "out of memory");
}

int config_boolean(const struct config_place *place, bool *value,
                   struct failure *failure) {
  const oconfig_item_t *option = place->option;
  if (option->values_num != 1 || option->values[0].type != OCONFIG_TYPE_BOOLEAN)
    return config_wrong(place, failure, "needs true or false, without quotes");
  *value = option->values[0].value.boolean;
  return 0;
}

int config_scope(const struct config_place *place, bool *host_only,
                 struct failure *failure) {
  const char *word = NULL;
  if (config_string(place, &word, failure) != 0 ||
      policy_read_scope(word, host_only) != 0)
    return config_wrong(place, failure, POLICY_SCOPE_NEEDS);
  return 0;
}

int config_seconds(const struct config_place *place, unsigned *value,
                   struct failure *failure) {
  const oconfig_item_t *option = place->option;
  if (option->values_num != 1 ||
      option->values[0].type != OCONFIG_TYPE_NUMBER ||
      !(option->values[0].value.number >= 1 &&
        option->values[0].value.number <= BPF_WINDOW_SLOTS))
    return config_wrong(
        place, failure,
        "needs a number of seconds from 1 to 300, without quotes");
  *value = (unsigned)option->values[0].value.number;
  return 0;
}
