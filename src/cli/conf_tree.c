/* SPDX-License-Identifier: MIT */
#include "conf_tree.h"

#include <stdlib.h>
#include <string.h>

struct conf {
  struct conf_item root;
  char **name; /* of files */
  size_t names;
};

/* The array with room for one more element; NULL: no memory. */
static void *with_room(void *elements, size_t count, size_t size) {
  return realloc(elements, (count + 1) * size);
}

struct conf *conf_new(void) {
  return calloc(1, sizeof(struct conf));
}

struct conf_item *conf_mutable_root(struct conf *conf) {
  return &conf->root;
}

const struct conf_item *conf_root(const struct conf *conf) {
  return &conf->root;
}

const char *conf_keep_name(struct conf *conf, const char *file) {
  char **larger = with_room(conf->name, conf->names, sizeof(*larger));
  if (!larger)
    return NULL;
  conf->name = larger;
  char *copy = strdup(file);
  if (copy)
    larger[conf->names++] = copy;
  return copy;
}

struct conf_item *conf_add_child(struct conf_item *item) {
  struct conf_item *larger =
      with_room(item->child, item->children, sizeof(*larger));
  if (!larger)
    return NULL;
  item->child = larger;
  return memset(&larger[item->children++], 0, sizeof(*larger));
}

int conf_add_value(struct conf_item *item, struct conf_value value) {
  struct conf_value *larger =
      with_room(item->value, item->values, sizeof(*larger));
  if (!larger)
    return -1;
  item->value = larger;
  larger[item->values++] = value;
  return 0;
}

static void free_item(struct conf_item *item) {
  for (size_t i = 0; i < item->values; i++)
    free(item->value[i].text);
  for (size_t i = 0; i < item->children; i++)
    free_item(&item->child[i]);
  free(item->value);
  free(item->child);
  free(item->key);
}

void conf_free(struct conf **conf) {
  if (!*conf)
    return;
  free_item(&(*conf)->root);
  for (size_t i = 0; i < (*conf)->names; i++)
    free((*conf)->name[i]);
  free((*conf)->name);
  free(*conf);
  *conf = NULL;
}
