/* SPDX-License-Identifier: MIT */
/*
 * start_object PINS FILE CALLS: starts the object "marked" of a test's BPF file, makes
 * CALLS marked calls, prints the total, and stops with everything pinned. What a fault is
 * injected into. Exit status 1, with the reason, if it cannot be started.
 */
#include <stdio.h>
#include <stdlib.h>

#include "../bpf/place.h"
#include "object/object.h"
#include "window/reader.h"

static int print_total(const struct object *object, struct failure *failure) {
  const struct object_window *window;
  const struct window_snapshot *snapshot;
  struct reader *reader;
  uint64_t totals[BPF_WINDOW_MAX_VALUES];
  object_windows(object, &window);
  int status = reader_open(&reader, window->ring_fd, window->epoch_fd,
                           window->cursor_fd, failure);
  if (status != 0)
    return status;
  status = reader_snapshot(reader, &snapshot, failure);
  if (status == 0) {
    window_total_at(snapshot, UINT64_MAX, totals);
    printf("%llu\n", (unsigned long long)totals[0]);
  }
  reader_close(&reader);
  return status;
}

int main(int count, char **argument) {
  if (count != 4)
    return 2;
  struct failure failure = {""};
  struct pins_root *root = NULL;
  struct object *object = NULL;
  object_log_libbpf(NULL);
  int status = pins_open(&root, argument[1], &failure);
  struct object_options options = {
      .name = "marked", .path = place_object(argument[2]), .pins = root};
  if (status == 0)
    status = object_start(&object, &options, &failure);
  if (status == 0) {
    place_marked_calls((unsigned)atoi(argument[3]));
    status = print_total(object, &failure);
  }
  object_stop(&object, true, NULL);
  pins_close(&root);
  if (status != 0)
    fprintf(stderr, "%s\n", failure.text);
  return status == 0 ? 0 : 1;
}
