/* SPDX-License-Identifier: MIT */
/* Policies: their rules, and what enforcing them takes. */
#include "check_parts.h"

#include <unistd.h>

#include "conf_policy.h"

/* Without a word on it, nobody would expect files to stay closed. */
static void check_enforcing(struct check *check, const struct conf_item *object,
                            const struct conf_item *enforce) {
  if (!conf_find(object, "Persist"))
    check_problem(check, enforce,
                  "say what happens when collectd stops: Persist true (go on "
                  "denying) or Persist false (stop)");
}

/* Not root, one cannot see whether collectd could. */
static void check_scope(struct check *check, const struct conf_item *scope) {
  uint32_t number;
  struct failure failure;
  if (policy_host_namespace(&number, &failure) != 0)
    check_say(check, geteuid() == 0 ? CHECK_PROBLEM : CHECK_NOTE, "config",
              "%s:%d: Scope: %s", scope->file, scope->line, failure.text);
}

/* What is needed of this program's libraries collectd needs, too. */
static void check_safe(struct check_config *config, const struct policy *policy,
                       const char *object_path) {
  const char *needed[] = {config->path, object_path, NULL};
  struct failure failure;
  if (policy_check_safe(policy, needed, &failure) != 0)
    check_say(config->check, CHECK_PROBLEM, "config", "%s", failure.text);
}

void check_policy(struct check_config *config, const struct conf_item *object,
                  const char *object_path, const struct conf_item *block) {
  const struct conf_policy_terms terms = conf_policy_terms(block);
  struct check *check = config->check;
  unsigned before = check->problems;
  struct policy *policy;
  struct failure failure;
  if (policy_new(&policy) != 0)
    return;
  for (size_t i = 0; i < block->children; i++)
    if (conf_policy_add(policy, &block->child[i], &failure) != 0)
      check_say(check, CHECK_PROBLEM, "config", "%s", failure.text);
  if (check->problems == before && terms.enforce && !terms.force)
    check_safe(config, policy, object_path);
  policy_free(&policy);
  if (terms.enforce)
    check_enforcing(check, object, conf_find(block, "Enforce"));
  if (terms.host_only)
    check_scope(check, conf_find(block, "Scope"));
}
