/* SPDX-License-Identifier: MIT */
/* Objects: their files, and whether their fronts work on this machine. */
#include "check_parts.h"

#include <stdio.h>
#include <string.h>

#include "conf_policy.h"
#include "object/explain.h"
#include "object/pins.h"

#define SEE_ABOVE "which does not work here: see the lines on hooks above"

/* ---- Fronts ---- */

/* A hook that a set of them has and that does not work, or NULL. */
static const char *broken_hook(const struct check *check, unsigned hooks) {
  for (int hook = 0; hook < PROBE_HOOKS; hook++)
    if ((hooks >> hook & 1) && check->hook[hook] == PROBE_NO)
      return probe_hook_name((enum probe_hook)hook);
  return NULL;
}

static int index_of(const struct describe_fronts *fronts, const char *name) {
  for (unsigned i = 0; i < fronts->count; i++)
    if (strcmp(fronts->name[i], name) == 0)
      return (int)i;
  return -1;
}

static void check_front(struct check *check, const struct conf_item *front,
                        const struct inspect_object *object) {
  const struct describe_fronts *fronts = &object->fronts;
  int index = index_of(fronts, conf_text(front));
  const char *broken =
      index < 0 ? NULL : broken_hook(check, object->hooks[index]);
  if (index < 0)
    check_problem(check, front, "the object has no front %s%s%s",
                  conf_text(front), fronts->count ? "; its first is " : "",
                  fronts->count ? fronts->name[0] : "");
  else if (broken)
    check_problem(check, front, "%s needs %s, " SEE_ABOVE, conf_text(front),
                  broken);
}

static void check_any_front(struct check *check, const struct conf_item *block,
                            const struct inspect_object *object) {
  const char *broken = broken_hook(check, object->hooks[0]);
  for (unsigned i = 1; broken && i < object->fronts.count; i++)
    broken = broken_hook(check, object->hooks[i]);
  if (broken)
    check_problem(check, block, "%s needs %s, " SEE_ABOVE, conf_text(block),
                  broken);
}

/* Only one front can deny. */
static void check_denying(struct check *check, const struct conf_item *enforce,
                          const struct conf_item *front,
                          const struct inspect_object *object) {
  int index = index_of(&object->fronts, "lsm");
  const char *broken =
      index < 0 ? NULL : broken_hook(check, object->hooks[index]);
  if (front && strcmp(conf_text(front), "lsm") != 0)
    check_problem(check, enforce,
                  "nothing would be denied: that needs the front lsm, and "
                  "Front in line %d says %s",
                  front->line, conf_text(front));
  else if (broken && !front)
    check_problem(check, enforce,
                  "nothing would be denied: the front lsm needs %s, " SEE_ABOVE,
                  broken);
}

/* ---- Objects ---- */

static void check_inspected(struct check_config *config,
                            const struct conf_item *block, const char *path,
                            const struct inspect_object *object) {
  struct check *check = config->check;
  const struct conf_item *front = conf_find(block, "Front");
  const struct conf_item *policy = conf_find(block, "Policy");
  struct failure failure;
  if (front)
    check_front(check, front, object);
  else
    check_any_front(check, block, object);
  if (object->at_tracepoints && explain_tracefs(&failure) != 0)
    check_problem(check, block, "%s", failure.text);
  check_windows(config, block, object);
  if (policy && !object->has_policy)
    check_problem(check, policy,
                  "%s has no file policy: remove the Policy block",
                  conf_text(block));
  else if (policy && conf_policy_terms(policy).enforce)
    check_denying(check, conf_find(policy, "Enforce"), front, object);
  if (policy)
    check_policy(config, block, path, policy);
}

void check_object(struct check_config *config, const struct conf_item *block) {
  const struct conf_item *file = conf_find(block, "File");
  struct inspect_object object;
  struct failure failure;
  char path[512];
  if (pins_check_name(conf_text(block), &failure) != 0) {
    check_problem(config->check, block, "%s", failure.text);
    return;
  }
  if (file)
    snprintf(path, sizeof(path), "%s", conf_text(file));
  else
    snprintf(path, sizeof(path), "%s/%s.bpf.o", BPF_OBJECT_DIR,
             conf_text(block));
  if (inspect_file(path, &object, &failure) != 0) {
    check_problem(config->check, file ? file : block, "%s", failure.text);
    return;
  }
  check_inspected(config, block, path, &object);
  inspect_free(&object);
}
