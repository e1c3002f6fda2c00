/* SPDX-License-Identifier: MIT */
/*
 * Configuration files with what they include. As in collectd, `Include` stands
 * outside of all blocks and names files, patterns or folders; a block
 * <Include "..."> may hold Filter patterns for the names of files.
 */
#include <dirent.h>
#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "conf_tree.h"
#include "file_text.h"

#define MAX_INCLUDE_DEPTH 8

static int read_path(struct conf *conf, const char *path,
                     const struct conf_item *include, int depth,
                     struct failure *failure);

static bool passes_filter(const char *path, const struct conf_item *include) {
  const char *slash = strrchr(path, '/');
  bool filtered = false;
  for (size_t i = 0; include && i < include->children; i++) {
    const struct conf_item *filter = &include->child[i];
    if (strcasecmp(filter->key, "Filter") != 0 || filter->values == 0)
      continue;
    filtered = true;
    if (fnmatch(filter->value[0].text, slash ? slash + 1 : path, FNM_PERIOD) ==
        0)
      return true;
  }
  return !filtered;
}

static int read_folder(struct conf *conf, const char *folder,
                       const struct conf_item *include, int depth,
                       struct failure *failure) {
  struct dirent **entry;
  int count = scandir(folder, &entry, NULL, alphasort), status = 0;
  if (count < 0)
    return failure_set(failure, -errno, "cannot read %s: %s", folder,
                       strerror(errno));
  for (int i = 0; i < count; i++) {
    char path[1024];
    if (status == 0 && entry[i]->d_name[0] != '.') {
      snprintf(path, sizeof(path), "%s/%s", folder, entry[i]->d_name);
      status = read_path(conf, path, include, depth, failure);
    }
    free(entry[i]);
  }
  free(entry);
  return status;
}

static int read_include(struct conf *conf, const struct conf_item *include,
                        int depth, struct failure *failure) {
  glob_t found;
  int status = 0;
  if (include->values == 0)
    return failure_set(failure, -EINVAL, "%s:%d: Include without a path",
                       include->file, include->line);
  if (glob(include->value[0].text, 0, NULL, &found) != 0)
    return 0; /* collectd warns, and goes on */
  for (size_t i = 0; status == 0 && i < found.gl_pathc; i++)
    status = read_path(conf, found.gl_pathv[i], include, depth + 1, failure);
  globfree(&found);
  return status;
}

static int read_file(struct conf *conf, const char *path, int depth,
                     struct failure *failure) {
  size_t length, first = conf_root(conf)->children;
  char *text = file_text_read(path, &length, failure);
  if (!text)
    return -errno;
  int status =
      conf_parse_into(conf, conf_mutable_root(conf), text, path, failure);
  free(text);
  size_t end = conf_root(conf)->children;
  for (size_t i = first; status == 0 && i < end; i++) {
    /* A copy: reading more files may move the children. Its parts stay. */
    struct conf_item item = conf_root(conf)->child[i];
    if (strcasecmp(item.key, "Include") == 0)
      status = read_include(conf, &item, depth, failure);
  }
  return status;
}

/* include: the line that named the path; NULL for the main file. */
static int read_path(struct conf *conf, const char *path,
                     const struct conf_item *include, int depth,
                     struct failure *failure) {
  struct stat info;
  if (depth > MAX_INCLUDE_DEPTH)
    return failure_set(failure, -ELOOP, "%s:%d: Include nested too deeply",
                       include->file, include->line);
  if (stat(path, &info) == 0 && S_ISDIR(info.st_mode))
    return read_folder(conf, path, include, depth, failure);
  if (!passes_filter(path, include))
    return 0;
  return read_file(conf, path, depth, failure);
}

int conf_read(struct conf **out, const char *path, struct failure *failure) {
  struct conf *conf = conf_new();
  if (!conf)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = read_file(conf, path, 0, failure);
  if (status == 0)
    *out = conf;
  else
    conf_free(&conf);
  return status;
}

const struct conf *conf_installed(void) {
  static struct conf *conf;
  static bool looked;
  struct failure ignored;
  if (!looked && access(CONF_DEFAULT_FILE, R_OK) == 0)
    conf_read(&conf, CONF_DEFAULT_FILE, &ignored);
  looked = true;
  return conf;
}
