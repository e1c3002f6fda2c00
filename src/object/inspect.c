/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "load.h"

static int add_window(struct inspect_object *object, const struct btf *btf,
                      const struct bpf_map *ring, struct failure *failure) {
  struct inspect_window *larger =
      realloc(object->window, (object->windows + 1) * sizeof(*larger));
  if (!larger)
    return failure_set(failure, -ENOMEM, "out of memory");
  object->window = larger;
  struct inspect_window *window = &larger[object->windows++];
  snprintf(window->name, sizeof(window->name), "%.63s", bpf_map__name(ring));
  return describe_window(btf, ring, &window->record, failure);
}

int inspect_file(const char *path, struct inspect_object *object,
                 struct failure *failure) {
  struct load_file file = {0};
  struct bpf_object *opened = NULL;
  memset(object, 0, sizeof(*object));
  int status = load_read_file(&file, "inspected", path, failure);
  if (status == 0)
    status = load_open(&file, &opened, failure);
  if (status == 0) {
    const struct btf *btf = bpf_object__btf(opened);
    struct bpf_map *map;
    bpf_object__for_each_map(map, opened) {
      if (status == 0 && describe_is_ring(btf, map))
        status = add_window(object, btf, map, failure);
    }
    if (status == 0)
      status = describe_fronts(btf, &object->fronts, failure);
  }
  if (status == 0 && object->windows == 0)
    status = failure_set(failure, -EINVAL, "%s declares no window", path);
  bpf_object__close(opened);
  load_free_file(&file);
  if (status != 0)
    inspect_free(object);
  return status;
}

void inspect_free(struct inspect_object *object) {
  free(object->window);
  memset(object, 0, sizeof(*object));
}
