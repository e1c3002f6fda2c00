/* SPDX-License-Identifier: MIT */
/*
 * hold PINS NAME FILE [FRONT]: runs an object as the plugin does, until its
 * input ends. Prints "counting at FRONT" ("-": it has none) when its programs
 * are attached; exit status 1, with the reason, if they cannot be.
 */
#include <stdio.h>

#include "object/object.h"

int main(int count, char **argument) {
  if (count < 4)
    return 2;
  struct failure failure = {""};
  struct pins_root *root = NULL;
  struct object *object = NULL;
  object_log_libbpf(NULL);
  int status = pins_open(&root, argument[1], &failure);
  struct object_options options = {.name = argument[2],
                                   .path = argument[3],
                                   .front = count > 4 ? argument[4] : NULL,
                                   .pins = root};
  if (status == 0)
    status = object_start(&object, &options, &failure);
  if (status == 0) {
    const char *front = object_record(object)->front;
    printf("counting at %s\n", front[0] ? front : "-");
    fflush(stdout);
    while (getchar() != EOF)
      ;
  } else {
    fprintf(stderr, "%s\n", failure.text);
  }
  object_stop(&object, false, NULL);
  pins_close(&root);
  return status == 0 ? 0 : 1;
}
