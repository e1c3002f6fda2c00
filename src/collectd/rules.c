/* SPDX-License-Identifier: MIT */
#include "rules.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "window/clock.h"

int rules_new(struct rules **rules) {
  *rules = calloc(1, sizeof(**rules));
  if (!*rules || policy_new(&(*rules)->own) != 0) {
    rules_free(rules);
    return -ENOMEM;
  }
  return 0;
}

void rules_free(struct rules **rules) {
  if (!*rules)
    return;
  for (size_t i = 0; i < (*rules)->files; i++) {
    free((*rules)->file[i].path);
    free((*rules)->file[i].place);
  }
  free((*rules)->file);
  policy_free(&(*rules)->own);
  free(*rules);
  *rules = NULL;
}

int rules_add_file(struct rules *rules, const char *path, const char *place,
                   struct failure *failure) {
  struct rules_file *file =
      realloc(rules->file, (rules->files + 1) * sizeof(*file));
  if (!file)
    return failure_set(failure, -ENOMEM, "out of memory");
  rules->file = file;
  file = &file[rules->files++];
  *file = (struct rules_file){.path = strdup(path), .place = strdup(place)};
  return file->path && file->place
             ? 0
             : failure_set(failure, -ENOMEM, "out of memory");
}

static bool look(const struct rules_file *file, struct rules_file *seen) {
  struct stat info;
  if (stat(file->path, &info) != 0)
    return false;
  seen->modified_ns = timespec_ns(info.st_mtim);
  seen->size = info.st_size;
  seen->inode = info.st_ino;
  return true;
}

/* What is noted of the file is from before it is read: a change meanwhile is
 * seen as one afterwards. */
static int add_file(struct policy *policy, struct rules_file *file,
                    struct failure *failure) {
  struct failure reason;
  look(file, file);
  int status = policy_read_file(policy, file->path, &reason);
  return status == 0 ? 0
                     : failure_set(failure, status, "%s: %.600s", file->place,
                                   reason.text);
}

/* Without its files, too, no collectd would start again. */
static int check_safe(const struct rules *rules, const char *const *needed,
                      const struct policy *policy, struct failure *failure) {
  struct failure reason;
  int status = policy_check_safe(policy, needed, failure);
  for (size_t i = 0; status == 0 && i < rules->files; i++) {
    const struct rules_file *file = &rules->file[i];
    status = policy_check_needed(policy, file->path, &reason);
    if (status != 0)
      failure_set(failure, status, "%s: %.600s", file->place, reason.text);
  }
  return status;
}

int rules_read(struct rules *rules, const char *const *needed,
               struct policy **policy, struct failure *failure) {
  if (policy_new(policy) != 0)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = 0;
  const struct policy_rule *rule;
  for (size_t i = 0; status == 0 && (rule = policy_rule(rules->own, i)); i++)
    status =
        policy_add(*policy, rule->verdict, rule->path, rule->place, failure);
  for (size_t i = 0; status == 0 && i < rules->files; i++)
    status = add_file(*policy, &rules->file[i], failure);
  if (status == 0 && rules->enforce && !rules->force)
    status = check_safe(rules, needed, *policy, failure);
  if (status != 0)
    policy_free(policy);
  return status;
}

int rules_terms(const struct rules *rules, struct policy_terms *terms,
                struct failure *failure) {
  uint32_t host = 0;
  int status = rules->host_only ? policy_host_namespace(&host, failure) : 0;
  if (status == 0)
    *terms = (struct policy_terms){rules->enforce, host};
  return status;
}

bool rules_changed(const struct rules *rules) {
  for (size_t i = 0; i < rules->files; i++) {
    const struct rules_file *file = &rules->file[i];
    struct rules_file now;
    if (look(file, &now) &&
        (now.modified_ns != file->modified_ns || now.size != file->size ||
         now.inode != file->inode))
      return true;
  }
  return false;
}
