/* SPDX-License-Identifier: MIT */
#include "parts.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf/bpf.h>
#include <bpf/libbpf.h>

#include "describe.h"
#include "load.h"
#include "policy.h"

/* ---- Attaching ---- */

/* The kernel's link lives by our descriptor, libbpf's goes. What libbpf holds together
 * itself, such as the probes of a USDT, has none: -ENOTSUP. */
static int keep_link(struct bpf_link *link, struct object_link *kept) {
  struct bpf_link_info info = {0};
  uint32_t size = sizeof(info);
  int fd = bpf_link__fd(link), status = 0;
  if (bpf_obj_get_info_by_fd(fd, &info, &size) != 0)
    status = errno == EINVAL || errno == EBADF ? -ENOTSUP : -errno;
  else if (info.prog_id == 0)
    status = -ENOTSUP;
  else if ((kept->fd = object_keep_fd(fd)) < 0)
    status = -errno;
  bpf_link__destroy(link);
  return status;
}

static int attach(struct object *object, struct bpf_object *loaded,
                  struct failure *failure) {
  struct bpf_program *program;
  bpf_object__for_each_program(program, loaded) {
    if (!bpf_program__autoload(program))
      continue;
    struct bpf_link *link = bpf_program__attach(program);
    if (!link && errno == EOPNOTSUPP)
      continue; /* of a type that somebody else runs or attaches */
    char doing[PINS_NAME_SIZE * 2];
    snprintf(doing, sizeof(doing), "attaching %s", bpf_program__name(program));
    if (!link)
      return load_explain(-errno, doing, failure);
    struct object_link kept = {.fd = -1};
    int status = keep_link(link, &kept);
    snprintf(kept.program, sizeof(kept.program), "%s",
             bpf_program__name(program));
    if (status != 0)
      return failure_set(failure, status, "%s: cannot keep its link: %s", doing,
                         status == -ENOTSUP
                             ? "the kernel has none of that kind (of usdt?)"
                             : strerror(-status));
    if (object->links == OBJECT_MAX_LINKS) {
      close(kept.fd);
      return failure_set(failure, -EOVERFLOW,
                         "%s: the object has over %d programs", doing,
                         OBJECT_MAX_LINKS);
    }
    object->link[object->links++] = kept;
  }
  return 0;
}

/* ---- The policy ---- */

static int keep_policy(struct object *object, struct bpf_object *loaded,
                       struct failure *failure) {
  struct bpf_map *policy = bpf_object__find_map_by_name(loaded, POLICY_MAP);
  struct bpf_map *state =
      bpf_object__find_map_by_name(loaded, POLICY_STATE_MAP);
  if (!policy || !state)
    return 0;
  object->policy_fd = object_keep_fd(bpf_map__fd(policy));
  object->policy_state_fd = object_keep_fd(bpf_map__fd(state));
  if (object->policy_fd < 0 || object->policy_state_fd < 0)
    return failure_set(failure, -errno, "cannot keep the policy's maps: %s",
                       strerror(errno));
  return 0;
}

/* ---- One front ---- */

/* From an opened object file to attached programs that count. */
static int bring_up(struct object *object, struct bpf_object *opened,
                    const char *front, const struct rings *rings,
                    struct object *old, struct failure *failure) {
  bool reuse = false;
  int status = old ? rings_continue(rings, old, &reuse, failure) : 0;
  object->origin = !old    ? OBJECT_LOADED
                   : reuse ? OBJECT_UPGRADED
                           : OBJECT_REPLACED;
  if (status == 0)
    status = load_select_front(opened, front, failure);
  if (status == 0 && reuse)
    status = rings_reuse(rings, opened, old, failure);
  if (status == 0)
    status = load_into_kernel(opened, failure);
  if (status == 0)
    status = rings_keep(rings, opened, object, old, !reuse, failure);
  if (status == 0)
    status = keep_policy(object, opened, failure);
  if (status == 0) /* in force before the first program runs */
    status = object_install_policy(object, object->options.policy,
                                   &object->options.terms, failure);
  /* Old programs and new ones would count an event twice; but of two that deny,
   * one must always be there. */
  if (status == 0 && old && !object->options.terms.enforce)
    adopt_detach(old);
  if (status == 0)
    status = attach(object, opened, failure);
  return status;
}

static int attempt(struct object *object, const struct load_file *file,
                   const char *front, struct object *old,
                   struct failure *failure) {
  struct bpf_object *opened;
  struct rings *rings = calloc(1, sizeof(*rings));
  if (!rings)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = load_open(file, &opened, failure);
  if (status == 0) {
    status = rings_find(rings, opened, file->path, failure);
    if (status == 0)
      status = bring_up(object, opened, front, rings, old, failure);
    bpf_object__close(opened);
  }
  free(rings);
  if (status != 0) {
    object_drop_links(object);
    object_drop_policy(object);
    object_drop_windows(object);
  }
  return status;
}

/* ---- The first front that works ---- */

static void add_reason(struct pins_record *record, const char *front,
                       const char *text) {
  size_t used = strlen(record->reason);
  snprintf(record->reason + used, sizeof(record->reason) - used, "%s%s: %s",
           used ? "; " : "", front, text);
}

static int read_fronts(const struct load_file *file,
                       struct describe_fronts *fronts,
                       struct failure *failure) {
  struct bpf_object *opened;
  struct failure reason;
  int status = load_open(file, &opened, failure);
  if (status != 0)
    return status;
  status = describe_fronts(bpf_object__btf(opened), fronts, &reason);
  bpf_object__close(opened);
  return status == 0 ? 0
                     : failure_set(failure, status, "%s: %.600s", file->path,
                                   reason.text);
}

/* Whether the next front may do better. */
static bool is_of_the_front(int status) {
  return status != -ENOMEM && status != -EOVERFLOW;
}

int attempt_fronts(struct object *object, const struct load_file *file,
                   struct object *old, struct failure *failure) {
  struct describe_fronts fronts;
  struct failure reason = {""};
  int status = read_fronts(file, &fronts, failure);
  if (status != 0)
    return status;
  if (fronts.count == 0)
    return attempt(object, file, NULL, old, failure);
  status = -ENOENT;
  for (unsigned i = 0; i < fronts.count && status != 0; i++) {
    const char *wanted = object->options.front;
    if (wanted && strcmp(wanted, fronts.name[i]) != 0)
      continue;
    status = attempt(object, file, fronts.name[i], old, &reason);
    if (status != 0 && !is_of_the_front(status))
      break;
    if (status != 0)
      add_reason(&object->record, fronts.name[i], reason.text);
    else
      snprintf(object->record.front, sizeof(object->record.front), "%s",
               fronts.name[i]);
  }
  if (status != 0)
    failure_set(failure, status, "%s: no front works: %s", file->path,
                object->record.reason[0] ? object->record.reason
                : reason.text[0]         ? reason.text
                                         : "there is none of that name");
  return status;
}
