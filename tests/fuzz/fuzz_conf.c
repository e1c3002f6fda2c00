/* SPDX-License-Identifier: MIT */
/* Configuration files: parsed, and held against the table of options. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "cli/check.h"
#include "cli/conf.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  stdout = fopen("/dev/null", "w");
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  struct failure failure;
  struct conf *conf = NULL;
  if (conf_parse(&conf, text, "fuzz", &failure) == 0) {
    const struct conf_item *root = conf_root(conf);
    struct check check = {0};
    for (size_t i = 0; i < root->children; i++)
      if (strcasecmp(root->child[i].key, "Plugin") == 0)
        check_options(&check, &root->child[i]);
  }
  conf_free(&conf);
  free(text);
  return 0;
}
