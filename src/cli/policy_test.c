/* SPDX-License-Identifier: MIT */
/* `bpf-window policy test`: what rules say of a path. */
#include "policy.h"

#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "object/pins.h"
#include "pin_dir.h"

/* ---- The path ---- */

/* Rules are about paths without symbolic links. A file that does not exist yet
 * is named by its folder; where that is not there either, as it was typed. */
static int resolve(const char *typed, char path[PATH_MAX],
                   struct failure *failure) {
  if (realpath(typed, path))
    return 0;
  size_t length = strlen(typed);
  if (errno != ENOENT || typed[0] != '/' || length >= PATH_MAX)
    return failure_set(failure, -errno, "%s: %s", typed, strerror(errno));
  char folder[PATH_MAX];
  memcpy(folder, typed, length + 1);
  char *name = strrchr(folder, '/');
  *name++ = '\0';
  char resolved[PATH_MAX] = "";
  if (*folder && !realpath(folder, resolved)) {
    memcpy(path, typed, length + 1);
    return 0;
  }
  int written = snprintf(path, PATH_MAX, "%s/%s",
                         strcmp(resolved, "/") == 0 ? "" : resolved, name);
  return written < PATH_MAX
             ? 0
             : failure_set(failure, -ENAMETOOLONG, "%s: path too long", typed);
}

/* ---- The answer ---- */

static const char *word(enum file_verdict verdict) {
  switch (verdict) {
  case FILE_ALLOW:
    return "allowed";
  case FILE_DENY:
    return "denied";
  case FILE_NO_POLICY:
    break;
  }
  return "no verdict";
}

/* What else there is to know of rules than themselves. */
struct reach {
  const char *origin; /* of rules that do not tell theirs; or NULL */
  uint32_t namespace; /* see policy_terms */
};

static int answer(const struct policy *policy, const char *path,
                  const struct reach *reach) {
  uint32_t own = 0;
  const struct policy_rule *rule = policy_deciding(policy, path);
  if (!rule) {
    printf("%s: no rule\n", path);
    return CLI_OK;
  }
  /* The path was resolved here, and here is where it would be opened. */
  if (reach->namespace &&
      (policy_own_namespace(&own) != 0 || own != reach->namespace)) {
    printf("%s: no rule here: Scope \"host\", and this is another mount "
           "namespace\n",
           path);
    return CLI_OK;
  }
  printf("%s: %s by \"%s\" (%s%s)\n", path, word(rule->verdict), rule->path,
         reach->origin ? reach->origin : rule->place,
         reach->namespace ? ", on the host only" : "");
  return rule->verdict == FILE_DENY ? CLI_PROBLEM : CLI_OK;
}

/* ---- Whose rules ---- */

struct wanted {
  const char *object; /* NULL: the only one */
  const char *pin_dir;
  const struct conf_item *block;
  char found[PINS_NAME_SIZE];
  unsigned count;
};

static void note(struct wanted *wanted, const char *object) {
  snprintf(wanted->found, sizeof(wanted->found), "%s", object);
  wanted->count++;
}

static int note_configured(const char *object, const struct conf_item *block,
                           void *context) {
  struct wanted *wanted = context;
  wanted->block = block;
  note(wanted, object);
  return 0;
}

static int note_pinned(const char *object, void *context) {
  struct wanted *wanted = context;
  char path[PINS_PATH_SIZE];
  if ((!wanted->object || strcmp(wanted->object, object) == 0) &&
      pins_object_path(wanted->pin_dir, object, POLICY_MAP, path) == 0 &&
      access(path, F_OK) == 0)
    note(wanted, object);
  return 0;
}

/* One, neither none nor several. */
static int decide(const struct wanted *wanted, const char *where,
                  struct failure *failure) {
  if (wanted->count == 1)
    return 0;
  if (wanted->count > 1)
    return failure_set(failure, -EINVAL,
                       "%s has several objects with a policy: name one, such "
                       "as %s",
                       where, wanted->found);
  return failure_set(failure, -ENOENT, "%s has no object %s%swith a policy",
                     where, wanted->object ? wanted->object : "",
                     wanted->object ? " " : "");
}

static int test_file(const char *file, const char *path,
                     struct failure *failure) {
  struct policy *policy;
  if (policy_new(&policy) != 0)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = policy_read_file(policy, file, failure);
  if (status == 0)
    status = answer(policy, path, &(struct reach){NULL, 0});
  policy_free(&policy);
  return status;
}

static int test_config(const char *file, const char *object, const char *path,
                       struct failure *failure) {
  struct wanted wanted = {.object = object};
  struct reach reach = {NULL, 0};
  struct policy *policy = NULL;
  struct conf *conf;
  int status = conf_read(&conf, file, failure);
  if (status != 0)
    return status;
  policy_for_each(conf, object, note_configured, &wanted);
  status = decide(&wanted, file, failure);
  if (status == 0)
    status = policy_of_block(wanted.block, &policy, failure);
  if (status == 0 && conf_policy_terms(wanted.block).host_only)
    status = policy_host_namespace(&reach.namespace, failure);
  if (status == 0)
    status = answer(policy, path, &reach);
  policy_free(&policy);
  conf_free(&conf);
  return status;
}

static int test_pinned(const char *pin_dir, const char *object,
                       const char *path, struct failure *failure) {
  struct wanted wanted = {.object = object, .pin_dir = pin_dir};
  struct policy_in_force in_force;
  char origin[200];
  int status = pins_for_each(pin_dir, note_pinned, &wanted);
  if (status != 0)
    return pin_dir_unreadable(pin_dir, status, failure);
  status = decide(&wanted, pin_dir, failure);
  if (status == 0)
    status = policy_of_pins(pin_dir, wanted.found, &in_force, failure);
  if (status != 0)
    return status;
  snprintf(origin, sizeof(origin), "in force in %s, generation %" PRIu64 ", %s",
           wanted.found, in_force.generation,
           in_force.terms.enforce ? "enforced" : "counted only");
  status = answer(in_force.policy, path,
                  &(struct reach){origin, in_force.terms.namespace});
  policy_free(&in_force.policy);
  return status;
}

int policy_test(const struct policy_options *options, const char *typed,
                const char *object) {
  struct failure failure;
  char path[PATH_MAX], pin_dir[PINS_PATH_SIZE];
  int status = resolve(typed, path, &failure);
  if (status == 0 && options->file)
    status = test_file(options->file, path, &failure);
  else if (status == 0 && options->config)
    status = test_config(options->config, object, path, &failure);
  else if (status == 0)
    status = pin_dir_read(options->pin_dir, NULL, pin_dir, &failure);
  if (status == 0 && !options->file && !options->config)
    status = test_pinned(pin_dir, object, path, &failure);
  if (status >= 0)
    return status;
  complain("policy", "%s", failure.text);
  return CLI_NO_ANSWER;
}
