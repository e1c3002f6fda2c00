/* SPDX-License-Identifier: MIT */
#include "source.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "history_json.h"
#include "window/reader.h"

struct source {
  struct reader *reader;
  char window[HISTORY_NAME_SIZE], object[HISTORY_NAME_SIZE];
};

/* ---- Finding ---- */

static int no_such_window(const char *name, const char *pin_dir,
                          struct failure *failure) {
  /* A folder that cannot be searched looks empty to glob(). */
  if (access(pin_dir, R_OK | X_OK) != 0 && errno != ENOENT)
    return failure_set(failure, -errno,
                       "cannot look into %s: %s (run as root, or with CAP_BPF "
                       "and access to the folder)",
                       pin_dir, strerror(errno));
  return failure_set(failure, -ENOENT,
                     "no window %s is pinned below %s (is its object loaded? "
                     "`bpf-window list` names all)",
                     name, pin_dir);
}

/* Writes the path of the window's pin. */
static int find_pin(const char *name, const char *pin_dir, char *path,
                    size_t size, struct failure *failure) {
  if (name[0] == '/' || name[0] == '.') {
    snprintf(path, size, "%s", name);
    return 0;
  }
  char pattern[512];
  const char *form = strchr(name, '/') ? "%s/%s" : "%s/*/%s";
  snprintf(pattern, sizeof(pattern), form, pin_dir, name);
  glob_t found;
  if (glob(pattern, 0, NULL, &found) != 0)
    return no_such_window(name, pin_dir, failure);
  int status = 0;
  if (found.gl_pathc > 1)
    status = failure_set(failure, -ENOTUNIQ,
                         "%zu objects have a window %s, say which: %s, %s%s",
                         found.gl_pathc, name, found.gl_pathv[0],
                         found.gl_pathv[1], found.gl_pathc > 2 ? ", ..." : "");
  else
    snprintf(path, size, "%s", found.gl_pathv[0]);
  globfree(&found);
  return status;
}

/* Cuts the last name off a path. */
static const char *cut_last(char *path) {
  char *slash = strrchr(path, '/');
  if (!slash)
    return "";
  *slash = '\0';
  return slash + 1;
}

static void copy_name(char name[HISTORY_NAME_SIZE], const char *from) {
  snprintf(name, HISTORY_NAME_SIZE, "%.*s", HISTORY_NAME_SIZE - 1, from);
}

int source_open(struct source **out, const char *name, const char *pin_dir,
                struct failure *failure) {
  char path[512];
  int status = find_pin(name, pin_dir, path, sizeof(path), failure);
  if (status != 0)
    return status;
  struct source *source = calloc(1, sizeof(*source));
  if (!source)
    return failure_set(failure, -ENOMEM, "out of memory");
  status = reader_open_pinned(&source->reader, path, failure);
  if (status != 0) {
    source_close(&source);
    return status;
  }
  copy_name(source->window, cut_last(path));
  copy_name(source->object, cut_last(path));
  *out = source;
  return 0;
}

void source_close(struct source **source) {
  if (!*source)
    return;
  reader_close(&(*source)->reader);
  free(*source);
  *source = NULL;
}

/* ---- Reading ---- */

static int64_t clock_ns(clockid_t clock) {
  struct timespec now;
  clock_gettime(clock, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

int source_read(struct source *source, struct history **history,
                struct failure *failure) {
  /* The time before the copy decides what is settled in it. */
  int64_t mono_ns = clock_ns(CLOCK_MONOTONIC);
  int64_t real_ns = clock_ns(CLOCK_REALTIME);
  const struct window_snapshot *snapshot;
  int status = reader_snapshot(source->reader, &snapshot, failure);
  if (status != 0)
    return status;
  *history =
      history_from_snapshot(snapshot, reader_epoch(source->reader),
                            HISTORY_ALL_CPUS, (uint64_t)mono_ns, real_ns);
  if (!*history)
    return failure_set(failure, -ENOMEM, "out of memory");
  memcpy((*history)->window, source->window, sizeof(source->window));
  memcpy((*history)->object, source->object, sizeof(source->object));
  return 0;
}

/* ---- Files ---- */

#define FILE_MAX_BYTES (64 << 20)

/* The whole file with a NUL behind it, or NULL with errno. */
static char *read_all(FILE *file, size_t *length) {
  char *text = NULL;
  size_t room = 0;
  *length = 0;
  do {
    if (*length + 1 >= room) {
      room = room ? 2 * room : 1 << 16;
      char *larger = room <= FILE_MAX_BYTES ? realloc(text, room) : NULL;
      if (!larger) {
        free(text);
        errno = room <= FILE_MAX_BYTES ? ENOMEM : EFBIG;
        return NULL;
      }
      text = larger;
    }
    *length += fread(text + *length, 1, room - *length - 1, file);
  } while (!feof(file) && !ferror(file));
  text[*length] = '\0';
  if (ferror(file)) {
    free(text);
    return NULL;
  }
  return text;
}

int source_read_file(const char *path, struct history **history,
                     struct failure *failure) {
  FILE *file = strcmp(path, "-") == 0 ? stdin : fopen(path, "re");
  size_t length = 0;
  char *text = file ? read_all(file, &length) : NULL;
  int status = text ? 0 : -errno;
  if (file && file != stdin)
    fclose(file);
  if (status != 0)
    return failure_set(failure, status, "cannot read %s: %s", path,
                       strerror(-status));
  struct failure reason;
  status = history_from_text(history, text, length, &reason);
  if (status != 0)
    failure_set(failure, status,
                "%s: %.500s (give it a file from `report` or `show --json`)",
                path, reason.text);
  free(text);
  return status;
}
