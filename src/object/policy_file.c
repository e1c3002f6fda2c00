/* SPDX-License-Identifier: MIT */
/* policy_file.c - rules from a text file, one a line: VERDICT PATH */
#include "policy.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define SPACE " \t\r\n"

/* Cuts the next word off a line; NULL at the line's end or at a comment. */
static char *cut_word(char **line) {
  char *word = *line + strspn(*line, SPACE);
  *line = word;
  if (*word == '\0' || *word == '#')
    return NULL;
  *line += strcspn(word, SPACE);
  if (**line)
    *(*line)++ = '\0';
  return word;
}

/* The same for a path, which may be quoted. NULL too if the closing quote is
 * missing or text is stuck to it. */
static char *cut_path(char **line) {
  char *read = *line + strspn(*line, SPACE);
  if (*read != '"')
    return cut_word(line);
  char *path = ++read;
  char *write = path;
  while (*read && *read != '"') {
    if (*read == '\\' && (read[1] == '"' || read[1] == '\\'))
      read++;
    *write++ = *read++;
  }
  if (*read != '"' || !strchr(SPACE "#", read[1]))
    return NULL;
  *write = '\0';
  *line = read + 1;
  return path;
}

static bool read_verdict(const char *word, enum file_verdict *verdict) {
  static const char *const words[] = {
      [FILE_NO_POLICY] = "none", [FILE_ALLOW] = "allow", [FILE_DENY] = "deny"};
  for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++) {
    if (strcmp(word, words[i]) == 0) {
      *verdict = i;
      return true;
    }
  }
  return false;
}

static int read_line(struct policy *policy, char *line, const char *place,
                     struct failure *failure) {
  enum file_verdict verdict;
  char *word = cut_word(&line);
  if (!word)
    return 0;
  if (!read_verdict(word, &verdict))
    return failure_set(failure, -EINVAL,
                       "%s: \"%s\" is not allow, deny or none", place, word);
  char *path = cut_path(&line);
  if (!path)
    return failure_set(failure, -EINVAL,
                       "%s: expected a path, in \"\" if it has spaces", place);
  word = cut_word(&line);
  if (word)
    return failure_set(failure, -EINVAL, "%s: \"%s\" stands behind the path",
                       place, word);
  return policy_add(policy, verdict, path, place, failure);
}

int policy_read_file(struct policy *policy, const char *path,
                     struct failure *failure) {
  FILE *file = fopen(path, "re");
  if (!file)
    return failure_set(failure, -errno, "cannot open the policy file %s: %s",
                       path, strerror(errno));
  char *line = NULL;
  size_t room = 0;
  ssize_t length;
  int status = 0;
  for (unsigned number = 1;
       status == 0 && (length = getline(&line, &room, file)) >= 0; number++) {
    char place[4200];
    snprintf(place, sizeof(place), "%s:%u", path, number);
    if (strlen(line) != (size_t)length)
      status = failure_set(failure, -EINVAL,
                           "%s: the line has a NUL byte in it", place);
    else
      status = read_line(policy, line, place, failure);
  }
  if (status == 0 && ferror(file))
    status = failure_set(failure, -EIO, "cannot read the policy file %s", path);
  free(line);
  fclose(file);
  return status;
}
