/* SPDX-License-Identifier: MIT */
#include "conf_policy.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

int conf_policy_add(struct policy *policy, const struct conf_item *option,
                    struct failure *failure) {
  static const char *const rules[] = {
      [FILE_NO_POLICY] = "None", [FILE_ALLOW] = "Allow", [FILE_DENY] = "Deny"};
  char place[512];
  snprintf(place, sizeof(place), "%s:%d", option->file, option->line);
  bool is_file = strcasecmp(option->key, "PolicyFile") == 0;
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
    if (!is_file && strcasecmp(option->key, rules[i]) != 0)
      continue;
    if (option->values != 1 || option->value[0].type != CONF_STRING)
      return failure_set(failure, -EINVAL, "%s: %s: needs one string in quotes",
                         place, option->key);
    return is_file
               ? policy_read_file(policy, option->value[0].text, failure)
               : policy_add(policy, i, option->value[0].text, place, failure);
  }
  return 0;
}
