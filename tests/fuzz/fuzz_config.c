/* SPDX-License-Identifier: MIT */
/* The plugin's own reader of its configuration: trees of options as collectd hands
 * them over, whose keys and values the input chooses. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "collectd.h"

#include "liboconfig/oconfig.h"

#include "collectd/config.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

struct input {
  const uint8_t *data;
  size_t size;
};

static uint8_t take(struct input *input) {
  if (input->size == 0)
    return 0;
  input->size--;
  return *input->data++;
}

static const char *const words[] = {
    "PinDir",
    "Backfill",
    "Statistics",
    "Object",
    "Window",
    "File",
    "Front",
    "Persist",
    "Policy",
    "Ratio",
    "Numerator",
    "Denominator",
    "DefaultRatio",
    "RatioSeconds",
    "Percentile",
    "Instance",
    "Allow",
    "Deny",
    "None",
    "PolicyFile",
    "Enforce",
    "Force",
    "Scope",
    "inode_cache",
    "host",
    "",
    "/",
    "/sys/fs/bpf",
    "/etc/shadow",
    "/usr/",
    "staging_x",
    "a b",
    "hits",
    "/sys/fs/bpf/a/x",
    "/nowhere/rules",
};
#define OPTIONS 23 /* the first of them */
#define WORDS (sizeof(words) / sizeof(*words))

/* A copy of its exact size, so that a byte read too much is seen. */
static char *string(struct input *input) {
  uint8_t which = take(input);
  if (which < WORDS)
    return strdup(words[which]);
  size_t length = which < 250 ? which - WORDS : 4 * (size_t)take(input);
  if (length > input->size)
    length = input->size;
  char *text = malloc(length + 1);
  for (size_t i = 0; i < length; i++) {
    text[i] = (char)take(input);
    if (text[i] == '\0')
      text[i] = '0';
  }
  text[length] = '\0';
  return text;
}

/* Mostly an option that there is. */
static char *key(struct input *input) {
  uint8_t which = take(input);
  return which < 220 ? strdup(words[which % OPTIONS]) : string(input);
}

static double number(struct input *input) {
  static const double some[] = {0, 1, 50, 99.9, 100, 300, 301, -1, 1e300};
  uint8_t which = take(input);
  if (which < sizeof(some) / sizeof(*some))
    return some[which];
  double any = 0;
  uint8_t bytes[sizeof(any)];
  for (size_t i = 0; i < sizeof(bytes); i++)
    bytes[i] = take(input);
  memcpy(&any, bytes, sizeof(any));
  return any;
}

static void make(struct input *input, oconfig_item_t *item, int depth) {
  item->key = key(input);
  item->values_num = take(input) % 40;
  if (item->values_num > 18)
    item->values_num = 1;
  if (item->values_num > 3 && input->size < 20)
    item->values_num = 1;
  item->values = calloc((size_t)item->values_num + 1, sizeof(*item->values));
  for (int i = 0; i < item->values_num; i++) {
    oconfig_value_t *value = &item->values[i];
    switch (take(input) % 4) {
    case 0:
      value->type = OCONFIG_TYPE_BOOLEAN;
      value->value.boolean = take(input) & 1;
      break;
    case 1:
      value->type = OCONFIG_TYPE_NUMBER;
      value->value.number = number(input);
      break;
    default:
      value->type = OCONFIG_TYPE_STRING;
      value->value.string = string(input);
    }
  }
  item->children_num = depth < 5 && input->size ? take(input) % 8 : 0;
  if (depth == 0)
    item->children_num++;
  item->children =
      calloc((size_t)item->children_num + 1, sizeof(*item->children));
  for (int i = 0; i < item->children_num; i++)
    make(input, &item->children[i], depth + 1);
}

static void destroy(oconfig_item_t *item) {
  for (int i = 0; i < item->children_num; i++)
    destroy(&item->children[i]);
  for (int i = 0; i < item->values_num; i++)
    if (item->values[i].type == OCONFIG_TYPE_STRING)
      free(item->values[i].value.string);
  free(item->children);
  free(item->values);
  free(item->key);
}

/* What a reader accepts must hold what the rest of the plugin relies on. */
static void check(const struct config *config) {
  for (size_t i = 0; i < config->objects; i++)
    if (!config->object[i].name || !config->object[i].path)
      abort();
  for (size_t i = 0; i < config->watches; i++) {
    const struct config_window *window = &config->watched[i];
    if (!window->name || !*config_window_instance(window) ||
        window->percentiles > CONFIG_MAX_PERCENTILES)
      abort();
    for (size_t p = 0; p < window->percentiles; p++)
      if (!(window->percentile[p] > 0 && window->percentile[p] <= 100))
        abort();
  }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  struct input input = {data, size};
  struct config config = config_default;
  struct failure failure = {""};
  /* Several blocks add up, as in collectd. */
  int status = 0;
  for (int blocks = 1 + take(&input) % 2; status == 0 && blocks; blocks--) {
    oconfig_item_t block = {0};
    make(&input, &block, 0);
    status = config_read(&config, &block, &failure);
    destroy(&block);
  }
  if (status == 0)
    check(&config);
  else if (!failure.text[0] || strchr(failure.text, '\n'))
    abort(); /* one line for whoever is to mend it */
  config_free(&config);
  return 0;
}
