/* SPDX-License-Identifier: MIT */
/*
 * `bpf-window policy reload`: checks changed rules, and waits until collectd
 * has put them in force. It does so by itself; nothing is changed here.
 */
#include "policy.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "object/pins.h"
#include "pin_dir.h"
#include "window/clock.h"

#define LOOK_AGAIN_NS 200000000L

struct reload {
  const struct policy_options *options;
  const char *pin_dir;
  unsigned objects;
  struct failure failure;
};

static size_t count(const struct policy *policy) {
  size_t rules = 0;
  while (policy_rule(policy, rules))
    rules++;
  return rules;
}

/* Whether the kernel has these rules, under another generation than the one
 * before, and sets generation and terms to those that it has. 1: yes, 0: not
 * yet, or -errno. */
static int look(struct reload *reload, const char *object,
                const struct policy *rules, uint64_t before,
                uint64_t *generation, struct policy_terms *terms) {
  struct policy_in_force now;
  int status = policy_of_pins(reload->pin_dir, object, &now, &reload->failure);
  if (status != 0)
    /* Perhaps collectd is about to pin it. */
    return status == -EAGAIN || status == -ENOENT ? 0 : status;
  *generation = now.generation;
  *terms = now.terms;
  status = now.generation != before && policy_same(now.policy, rules);
  policy_free(&now.policy);
  return status;
}

/* Rules alone are no proof that all that the block says holds. */
static int compare_terms(struct reload *reload, const char *object,
                         const struct conf_policy_terms *configured,
                         const struct policy_terms *in_force) {
  if (configured->enforce != in_force->enforce)
    return failure_set(
        &reload->failure, -ESTALE,
        "%s: the rules are in force, but %s; collectd reads "
        "Enforce at a start only",
        object, in_force->enforce ? "still enforced" : "not enforced yet");
  if (configured->host_only != (in_force->namespace != 0))
    return failure_set(
        &reload->failure, -ESTALE,
        "%s: the rules are in force, but for %s; collectd reads "
        "Scope at a start only",
        object, in_force->namespace ? "the host only" : "all mount namespaces");
  return 0;
}

static int wait_for(struct reload *reload, const char *object,
                    const struct policy *rules,
                    const struct conf_policy_terms *configured) {
  const struct timespec pause = {.tv_nsec = LOOK_AGAIN_NS};
  char holder[PINS_HOLDER_SIZE];
  int64_t until_ns = clock_ns(CLOCK_MONOTONIC) + reload->options->timeout_ns;
  /* No generation is the highest: what is in force already will do. */
  uint64_t generation = 0, before = UINT64_MAX;
  struct policy_terms terms = {.enforce = false};
  int status = look(reload, object, rules, before, &generation, &terms);
  before = generation;
  while (status == 0) {
    if (!pins_held(reload->pin_dir, holder))
      return failure_set(&reload->failure, -ESRCH,
                         "%s: no collectd runs on %s; the rules come into "
                         "force when it starts",
                         object, reload->pin_dir);
    if (clock_ns(CLOCK_MONOTONIC) > until_ns)
      return failure_set(
          &reload->failure, -ETIMEDOUT,
          "%s: not in force after %.0f s. %s reads changed files at its "
          "interval, and rules in its own configuration at a start only; its "
          "log may tell more",
          object, (double)reload->options->timeout_ns / 1e9, holder);
    nanosleep(&pause, NULL);
    status = look(reload, object, rules, before, &generation, &terms);
  }
  if (status > 0)
    status = compare_terms(reload, object, configured, &terms);
  if (status < 0)
    return status;
  printf("%s: %zu rules are in force (generation %" PRIu64 ")\n", object,
         count(rules), generation);
  return 0;
}

static int reload_object(const char *object, const struct conf_item *block,
                         void *context) {
  struct reload *reload = context;
  struct policy *rules;
  int status = policy_of_block(block, &rules, &reload->failure);
  if (status != 0)
    return status;
  reload->objects++;
  const struct conf_policy_terms terms = conf_policy_terms(block);
  status = wait_for(reload, object, rules, &terms);
  policy_free(&rules);
  return status;
}

int policy_reload(const struct policy_options *options, const char *object) {
  struct reload reload = {.options = options};
  struct conf *conf;
  const char *file = options->config ? options->config : CONF_DEFAULT_FILE;
  int status = conf_read(&conf, file, &reload.failure);
  if (status == 0) {
    reload.pin_dir = pin_dir_of(options->pin_dir, conf);
    status = policy_for_each(conf, object, reload_object, &reload);
    if (status == 0 && reload.objects == 0)
      status = failure_set(&reload.failure, -ENOENT,
                           "%s has no object %s%swith a <Policy>", file,
                           object ? object : "", object ? " " : "");
    conf_free(&conf);
  }
  if (status == 0)
    return CLI_OK;
  complain("policy", "%s", reload.failure.text);
  return CLI_PROBLEM;
}
