/* SPDX-License-Identifier: MIT */
#include "file_text.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define MAX_BYTES (64 << 20)

static char *read_all(FILE *file, size_t *length) {
  char *text = NULL;
  size_t room = 0;
  *length = 0;
  do {
    if (*length + 1 >= room) {
      room = room ? 2 * room : 1 << 16;
      char *larger = room <= MAX_BYTES ? realloc(text, room) : NULL;
      if (!larger) {
        free(text);
        errno = room <= MAX_BYTES ? ENOMEM : EFBIG;
        return NULL;
      }
      text = larger;
    }
    *length += fread(text + *length, 1, room - *length - 1, file);
  } while (!feof(file) && !ferror(file));
  if (ferror(file)) {
    free(text);
    return NULL;
  }
  text[*length] = '\0';
  return text;
}

char *file_text_read(const char *path, size_t *length,
                     struct failure *failure) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
  char *text = file ? read_all(file, length) : NULL;
  int cause = errno;
  if (!text)
    failure_set(failure, 0, "cannot read %s: %s", path, strerror(cause));
  if (file && file != stdin)
    fclose(file);
  errno = cause;
  return text;
}
