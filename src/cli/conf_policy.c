/* SPDX-License-Identifier: MIT */
#include "conf_policy.h"

#include <errno.h>
#include <stdio.h>
#include <strings.h>

static int check_scope(const struct conf_item *option, const char *place,
                       struct failure *failure) {
  bool host_only;
  return option->values == 1 && option->value[0].type == CONF_STRING &&
                 policy_read_scope(option->value[0].text, &host_only) == 0
             ? 0
             : failure_set(failure, -EINVAL, "%s: %s: %s", place, option->key,
                           POLICY_SCOPE_NEEDS);
}

int conf_policy_add(struct policy *policy, const struct conf_item *option,
                    struct failure *failure) {
  static const char *const rules[] = {
      [FILE_NO_POLICY] = "None", [FILE_ALLOW] = "Allow", [FILE_DENY] = "Deny"};
  char place[512];
  snprintf(place, sizeof(place), "%s:%d", option->file, option->line);
  if (strcasecmp(option->key, "Scope") == 0)
    return check_scope(option, place, failure);
  bool is_file = strcasecmp(option->key, "PolicyFile") == 0;
  for (size_t i = 0; i < sizeof(rules) / sizeof(rules[0]); i++) {
    if (!is_file && strcasecmp(option->key, rules[i]) != 0)
      continue;
    if (option->values != 1 || option->value[0].type != CONF_STRING)
      return failure_set(failure, -EINVAL, "%s: %s: needs one string in quotes",
                         place, option->key);
    if (!is_file)
      return policy_add(policy, i, option->value[0].text, place, failure);
    struct failure reason;
    int status = policy_read_file(policy, option->value[0].text, &reason);
    return status == 0 ? 0
                       : failure_set(failure, status, "%s: %s: %.600s", place,
                                     option->key, reason.text);
  }
  return 0;
}

struct conf_policy_terms conf_policy_terms(const struct conf_item *block) {
  struct conf_policy_terms terms = {.enforce = false};
  for (size_t i = 0; i < block->children; i++) {
    const struct conf_item *option = &block->child[i];
    if (option->values != 1)
      continue;
    if (strcasecmp(option->key, "Enforce") == 0)
      terms.enforce = conf_truth(&option->value[0]);
    else if (strcasecmp(option->key, "Force") == 0)
      terms.force = conf_truth(&option->value[0]);
    else if (strcasecmp(option->key, "Scope") == 0)
      policy_read_scope(option->value[0].text, &terms.host_only);
  }
  return terms;
}
