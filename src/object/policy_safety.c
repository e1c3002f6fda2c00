/* SPDX-License-Identifier: MIT */
/* policy_safety.c - whether an enforced policy would lock its own program out */
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static int refuse(const char *path, const char *place,
                  struct failure *failure) {
  return failure_set(failure, -EPERM,
                     "%s: the rule would deny %s, which this program needs; "
                     "leave it out, or write Force true",
                     place, path);
}

static int check_path(const struct policy *policy, const char *path,
                      struct failure *failure) {
  const char *place;
  if (policy_match(policy, path, &place) != FILE_DENY)
    return 0;
  return refuse(path, place, failure);
}

/* Symbolic links are followed when a file is opened. */
int policy_check_needed(const struct policy *policy, const char *path,
                        struct failure *failure) {
  int status = path[0] == '/' ? check_path(policy, path, failure) : 0;
  char *real = status == 0 ? realpath(path, NULL) : NULL;
  if (real)
    status = check_path(policy, real, failure);
  free(real);
  return status;
}

/* The files that this process has mapped: the program, its libraries and
 * plugins. */
static int check_mapped(const struct policy *policy, struct failure *failure) {
  FILE *maps = fopen("/proc/self/maps", "re");
  if (!maps)
    return failure_set(failure, -errno, "cannot read /proc/self/maps: %s",
                       strerror(errno));
  char *line = NULL;
  size_t room = 0;
  int status = 0;
  while (status == 0 && getline(&line, &room, maps) > 0) {
    char *path = strchr(line, '/'); /* no '/' in the columns in front of it */
    if (!path)
      continue;
    path[strcspn(path, "\n")] = '\0';
    status = check_path(policy, path, failure);
  }
  free(line);
  fclose(maps);
  return status;
}

int policy_check_safe(const struct policy *policy, const char *const *needed,
                      struct failure *failure) {
  const struct policy_rule *root = policy_find(policy, "/");
  if (root && root->verdict == FILE_DENY)
    return refuse(root->path, root->place, failure);
  int status = check_mapped(policy, failure);
  for (; status == 0 && needed && *needed; needed++)
    status = policy_check_needed(policy, *needed, failure);
  return status;
}
