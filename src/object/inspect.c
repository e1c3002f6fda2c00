/* SPDX-License-Identifier: MIT */
#include "inspect.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <bpf/libbpf.h>

#include "load.h"
#include "parts.h"
#include "policy.h"
#include "probe_hook.h"

/* As they would be found when the object starts, with all that is refused then. */
static int add_windows(struct inspect_object *object, struct bpf_object *opened,
                       const char *path, struct failure *failure) {
  struct rings *rings = calloc(1, sizeof(*rings));
  if (!rings)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = rings_find(rings, opened, path, failure);
  if (status == 0) {
    object->window = calloc(rings->count, sizeof(*object->window));
    if (!object->window)
      status = failure_set(failure, -ENOMEM, "out of memory");
  }
  for (unsigned i = 0; status == 0 && i < rings->count; i++) {
    struct inspect_window *window = &object->window[object->windows++];
    memcpy(window->name, rings->ring[i].name, sizeof(window->name));
    window->record = rings->ring[i].record;
  }
  free(rings);
  return status;
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
    status = add_windows(object, opened, path, failure);
    if (status == 0)
      status =
          describe_fronts(bpf_object__btf(opened), &object->fronts, failure);
    if (status == 0)
      add_programs(object, opened);
  }
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
