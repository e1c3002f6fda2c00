/* SPDX-License-Identifier: MIT */
#include "config_place.h"

#include "collectd.h"

#include "liboconfig/oconfig.h"

#ifndef DEFAULT_CONFIG_FILE
#define DEFAULT_CONFIG_FILE "/etc/collectd/collectd.conf"
#endif

/* What stands behind -C on collectd's command line. */
void config_main_file(char *name, size_t size) {
  char arguments[4096];
  snprintf(name, size, "%s", DEFAULT_CONFIG_FILE);
  FILE *file = fopen("/proc/self/cmdline", "re");
  if (!file)
    return;
  size_t length = fread(arguments, 1, sizeof(arguments) - 1, file);
  fclose(file);
  arguments[length] = '\0';
  for (const char *argument = arguments; argument < arguments + length;
       argument += strlen(argument) + 1) {
    if (strncmp(argument, "-C", 2) != 0)
      continue;
    const char *value = argument[2] ? argument + 2 : argument + 3;
    if (value < arguments + length)
      snprintf(name, size, "%s", value);
  }
}

/* The first value as it is written, without quotes; "" if there is none. */
static void first_value(const oconfig_item_t *option, char *text, size_t size) {
  text[0] = '\0';
  if (option->values_num == 0)
    return;
  const oconfig_value_t *value = &option->values[0];
  if (value->type == OCONFIG_TYPE_STRING)
    snprintf(text, size, "%s", value->value.string);
  else if (value->type == OCONFIG_TYPE_BOOLEAN)
    snprintf(text, size, "%s", value->value.boolean ? "true" : "false");
  else
    snprintf(text, size, "%g", value->value.number);
}

/* Whether a word stands in the text by itself, in quotes or not. */
static bool has_word(const char *text, const char *word) {
  static const char around[] = " \t\n\">";
  size_t length = strlen(word);
  for (const char *at = text; (at = strcasestr(at, word)); at++)
    if (at > text && strchr(around, at[-1]) && strchr(around, at[length]))
      return true;
  return false;
}

/* Whether a line of the file is that option: the key (of a block: behind "<")
 * comes first, and the value somewhere behind it. */
static bool line_is(const char *line, const char *key, const char *value) {
  line += strspn(line, " \t<");
  size_t length = strlen(key);
  return strncasecmp(line, key, length) == 0 &&
         strchr(" \t>\n", line[length]) != NULL &&
         (!*value || has_word(line + length, value));
}

/*
 * Finds the option below its blocks: each block of the path must have been
 * opened, in order, before the option's own line counts. Returns 0 if it is not
 * in the file.
 */
static int find_line(FILE *file, const oconfig_item_t *const *path, int depth) {
  char line[1024], value[256];
  int found = 0, number = 0;
  while (found < depth && fgets(line, sizeof(line), file)) {
    number++;
    first_value(path[found], value, sizeof(value));
    if (line_is(line, path[found]->key, value))
      found++;
  }
  return found == depth ? number : 0;
}

#define MAX_DEPTH 8

void config_place_text(const struct config_place *place, char *text,
                       size_t size) {
  const oconfig_item_t *path[MAX_DEPTH]; /* from the outermost block inwards */
  int depth = 0;
  for (const struct config_place *at = place; at && depth < MAX_DEPTH;
       at = at->around)
    depth++;
  for (int i = depth; i > 0; i--, place = place->around)
    path[i - 1] = place->option;

  char name[512];
  config_main_file(name, sizeof(name));
  FILE *file = fopen(name, "re");
  int line = file ? find_line(file, path, depth) : 0;
  if (file)
    fclose(file);
  size_t used = 0;
  text[0] = '\0';
  if (line)
    used = (size_t)snprintf(text, size, "%s:%d: ", name, line);
  for (int i = 1; i < depth && used < size; i++) { /* 0 is <Plugin> itself */
    char value[128];
    first_value(path[i], value, sizeof(value));
    used +=
        (size_t)(i < depth - 1
                     ? snprintf(text + used, size - used, "<%s \"%s\"> ",
                                path[i]->key, value)
                     : snprintf(text + used, size - used, "%s", path[i]->key));
  }
}
