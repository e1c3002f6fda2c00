/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "load.h"
#include "policy.h"
#include "probe_hook.h"

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

static unsigned hook_of(const struct bpf_program *program) {
  enum bpf_attach_type attach = bpf_program__expected_attach_type(program);
  switch (bpf_program__type(program)) {
  case BPF_PROG_TYPE_LSM:
    return 1u << PROBE_HOOK_LSM;
  case BPF_PROG_TYPE_TRACING:
    return attach == BPF_TRACE_FENTRY || attach == BPF_TRACE_FEXIT
               ? 1u << PROBE_HOOK_FENTRY
           : attach == BPF_TRACE_RAW_TP ? 1u << PROBE_HOOK_TRACEPOINT
                                        : 0;
  default:
    return 0;
  }
}

static unsigned hooks_of(struct bpf_object *opened, const char *front) {
  const struct btf *btf = bpf_object__btf(opened);
  struct bpf_program *program;
  unsigned hooks = 0;
  bpf_object__for_each_program(program, opened) {
    if (load_wants(btf, program, front))
      hooks |= hook_of(program);
  }
  return hooks;
}

static void add_programs(struct inspect_object *object,
                         struct bpf_object *opened) {
  struct bpf_program *program;
  object->hooks[0] = hooks_of(opened, NULL);
  for (unsigned i = 0; i < object->fronts.count; i++)
    object->hooks[i] = hooks_of(opened, object->fronts.name[i]);
  bpf_object__for_each_program(program, opened) {
    object->at_tracepoints |=
        bpf_program__type(program) == BPF_PROG_TYPE_TRACEPOINT;
  }
  object->has_policy = bpf_object__find_map_by_name(opened, POLICY_MAP) &&
                       bpf_object__find_map_by_name(opened, POLICY_STATE_MAP);
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
    if (status == 0)
      add_programs(object, opened);
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
