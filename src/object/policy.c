/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <errno.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#define RULE_PATH_MAX (FILE_RULE_SIZE - 1)

struct policy {
  struct policy_rule **rule;
  size_t rules;
  size_t room;
  void *by_path; /* tsearch(3): the same rules, to be found by their path */
};

static int compare_paths(const void *a, const void *b) {
  return strcmp(((const struct policy_rule *)a)->path,
                ((const struct policy_rule *)b)->path);
}

static void free_rule(void *freed) {
  struct policy_rule *rule = freed;
  free((char *)rule->path);
  free((char *)rule->place);
  free(rule);
}

int policy_new(struct policy **policy) {
  struct policy *made = calloc(1, sizeof(*made));
  if (!made)
    return -ENOMEM;
  *policy = made;
  return 0;
}

void policy_free(struct policy **policy) {
  if (!*policy)
    return;
  tdestroy((*policy)->by_path, free_rule);
  free((*policy)->rule);
  free(*policy);
  *policy = NULL;
}

const struct policy_rule *policy_rule(const struct policy *policy,
                                      size_t index) {
  return index < policy->rules ? policy->rule[index] : NULL;
}

const struct policy_rule *policy_find(const struct policy *policy,
                                      const char *path) {
  const struct policy_rule wanted = {.path = path};
  struct policy_rule **found = tfind(&wanted, &policy->by_path, compare_paths);
  return found ? *found : NULL;
}

/* What is wrong with a path, or NULL. */
static const char *path_fault(const char *path) {
  if (path[0] != '/')
    return "is not absolute";
  if (strlen(path) > RULE_PATH_MAX)
    return "is longer than 255 bytes";
  for (const char *name = path + 1; *name;) {
    size_t length = strcspn(name, "/");
    if (length == 0)
      return "has an empty name (//)";
    if (length <= 2 && strncmp(name, "..", length) == 0)
      return "has . or .. in it; write the path that they lead to";
    name += length;
    if (*name == '/')
      name++;
  }
  return NULL;
}

static struct policy_rule *new_rule(enum file_verdict verdict, const char *path,
                                    const char *place) {
  struct policy_rule *rule = calloc(1, sizeof(*rule));
  if (!rule)
    return NULL;
  rule->verdict = verdict;
  rule->path = strdup(path);
  rule->place = strdup(place);
  if (rule->path && rule->place)
    return rule;
  free_rule(rule);
  return NULL;
}

static bool has_room(struct policy *policy) {
  if (policy->rules < policy->room)
    return true;
  size_t room = policy->room ? 2 * policy->room : 16;
  struct policy_rule **grown =
      reallocarray(policy->rule, room, sizeof(struct policy_rule *));
  if (!grown)
    return false;
  policy->rule = grown;
  policy->room = room;
  return true;
}

int policy_add(struct policy *policy, enum file_verdict verdict,
               const char *path, const char *place, struct failure *failure) {
  const char *fault = path_fault(path);
  if (fault)
    return failure_set(failure, -EINVAL, "%s: the path \"%s\" %s", place, path,
                       fault);
  const struct policy_rule *same = policy_find(policy, path);
  if (same && same->verdict != verdict)
    return failure_set(failure, -EEXIST,
                       "%s: %s has another verdict already, given at %s", place,
                       path, same->place);
  if (same)
    return 0;

  struct policy_rule *rule = NULL;
  if (has_room(policy))
    rule = new_rule(verdict, path, place);
  if (!rule || !tsearch(rule, &policy->by_path, compare_paths)) {
    if (rule)
      free_rule(rule);
    return failure_set(failure, -ENOMEM, "%s: out of memory", place);
  }
  policy->rule[policy->rules++] = rule;
  return 0;
}

/*
 * How strongly a rule matches a path: the bytes in common, 0 for none. A rule
 * for the path alone also has its end in common, and so beats the folder that
 * the path is, which has not.
 */
static size_t match_strength(const struct policy_rule *rule, const char *path) {
  size_t length = strlen(rule->path);
  if (rule->path[length - 1] != '/')
    return strcmp(rule->path, path) == 0 ? length + 1 : 0;
  if (strncmp(rule->path, path, length) == 0)
    return length;
  bool itself =
      strlen(path) == length - 1 && strncmp(rule->path, path, length - 1) == 0;
  return itself ? length - 1 : 0;
}

const struct policy_rule *policy_deciding(const struct policy *policy,
                                          const char *path) {
  const struct policy_rule *best = NULL;
  size_t most = 0;
  for (size_t i = 0; i < policy->rules; i++) {
    size_t strength = match_strength(policy->rule[i], path);
    if (strength > most) {
      most = strength;
      best = policy->rule[i];
    }
  }
  return best;
}

enum file_verdict policy_match(const struct policy *policy, const char *path,
                               const char **place) {
  const struct policy_rule *rule = policy_deciding(policy, path);
  if (place)
    *place = rule ? rule->place : NULL;
  return rule ? rule->verdict : FILE_NO_POLICY;
}
