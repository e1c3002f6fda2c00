/* SPDX-License-Identifier: MIT */
/*
 * The options that a <Plugin bpf_window> block may have, as a table, and
 * whether a block keeps to it.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "check.h"
#include "object/policy.h"

enum kind { STRING, STRINGS, BOOLEAN, SECONDS, PERCENTS, SCOPE, RULE, BLOCK };

struct rule {
  const char *key;
  enum kind kind;
  const struct rule *children; /* of a block; ends with a rule without key */
};

static const struct rule ratio_rules[] = {
    {"Numerator", STRINGS, NULL}, {"Denominator", STRINGS, NULL}, {0}};

static const struct rule window_rules[] = {
    {"Instance", STRING, NULL},      {"Ratio", BLOCK, ratio_rules},
    {"DefaultRatio", BOOLEAN, NULL}, {"RatioSeconds", SECONDS, NULL},
    {"Percentile", PERCENTS, NULL},  {0}};

static const struct rule policy_rules[] = {
    {"Allow", RULE, NULL},      {"Deny", RULE, NULL},
    {"None", RULE, NULL},       {"PolicyFile", STRING, NULL},
    {"Enforce", BOOLEAN, NULL}, {"Force", BOOLEAN, NULL},
    {"Scope", SCOPE, NULL},     {0}};

static const struct rule object_rules[] = {
    {"File", STRING, NULL},          {"Front", STRING, NULL},
    {"Persist", BOOLEAN, NULL},      {"Policy", BLOCK, policy_rules},
    {"Window", BLOCK, window_rules}, {0}};

static const struct rule plugin_rules[] = {
    {"PinDir", STRING, NULL},        {"Backfill", BOOLEAN, NULL},
    {"Statistics", BOOLEAN, NULL},   {"Object", BLOCK, object_rules},
    {"Window", BLOCK, window_rules}, {0}};

static const char *problem_with_percents(const struct conf_item *item) {
  bool good = item->values >= 1 && item->values <= 16, twice = false;
  char name[16][32];
  for (size_t i = 0; good && i < item->values; i++) {
    double percent = strtod(item->value[i].text, NULL);
    good = item->value[i].type == CONF_NUMBER && percent > 0 && percent <= 100;
    snprintf(name[i], sizeof(name[i]), "%g", percent); /* as in its series */
    for (size_t k = 0; k < i; k++)
      twice |= strcmp(name[k], name[i]) == 0;
  }
  if (!good)
    return "needs up to 16 numbers above 0, at most 100, without quotes";
  return twice ? "has a number twice" : NULL;
}

/* What is wrong with the values of an option, or NULL. */
static const char *problem_with(const struct conf_item *item, enum kind kind) {
  const struct conf_value *value = item->value;
  switch (kind) {
  case STRING:
  case RULE:
    return item->values == 1 && value->type == CONF_STRING && value->text[0]
               ? NULL
               : "needs one string in quotes";
  case STRINGS:
    for (size_t i = 0; i < item->values; i++)
      if (value[i].type != CONF_STRING)
        return "needs names of counters in quotes";
    return item->values ? NULL : "needs names of counters in quotes";
  case BOOLEAN:
    return item->values == 1 && value->type == CONF_BOOLEAN
               ? NULL
               : "needs true or false, without quotes";
  case SECONDS:
    return item->values == 1 && value->type == CONF_NUMBER &&
                   strtod(value->text, NULL) >= 1 &&
                   strtod(value->text, NULL) <= 300
               ? NULL
               : "needs a number of seconds from 1 to 300, without quotes";
  case PERCENTS:
    return problem_with_percents(item);
  case SCOPE: {
    bool host_only;
    return item->values == 1 && value->type == CONF_STRING &&
                   policy_read_scope(value->text, &host_only) == 0
               ? NULL
               : POLICY_SCOPE_NEEDS;
  }
  case BLOCK:
    return NULL; /* a Policy has no name, the others need one */
  }
  return NULL;
}

static const struct rule *find_rule(const struct rule *rules, const char *key) {
  for (; rules->key; rules++)
    if (strcasecmp(rules->key, key) == 0)
      return rules;
  return NULL;
}

static void check_children(struct check *check, const struct conf_item *block,
                           const struct rule *rules);

static void check_item(struct check *check, const struct conf_item *item,
                       const struct rule *rules) {
  const struct rule *rule = find_rule(rules, item->key);
  const char *problem = NULL;
  if (!rule)
    problem = "unknown option; see collectd-bpf_window(5)";
  else if (item->block != (rule->kind == BLOCK))
    problem = item->block ? "is no block" : "must be a block <...>";
  else if (rule->kind == BLOCK && rule->children != policy_rules)
    problem = problem_with(item, STRING);
  else
    problem = problem_with(item, rule->kind);
  if (problem)
    check_problem(check, item, "%s", problem);
  else if (rule->kind == BLOCK)
    check_children(check, item, rule->children);
}

static void check_children(struct check *check, const struct conf_item *block,
                           const struct rule *rules) {
  for (size_t i = 0; i < block->children; i++)
    check_item(check, &block->child[i], rules);
}

bool check_options(struct check *check, const struct conf_item *plugin) {
  unsigned before = check->problems;
  check_children(check, plugin, plugin_rules);
  return check->problems == before;
}
