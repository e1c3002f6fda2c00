/* SPDX-License-Identifier: MIT */
/*
 * totals PIN: prints what a pinned window has counted since it was loaded, up
 * to this instant, as one line of JSON: {"counter": n, "array": [n, ...]}.
 */
#include <stdio.h>

#include "window/reader.h"

int main(int count, char **argument) {
  if (count != 2)
    return 2;
  struct failure failure = {""};
  struct reader *reader = NULL;
  const struct window_snapshot *snapshot;
  uint64_t totals[BPF_WINDOW_MAX_VALUES];
  int status = reader_open_pinned(&reader, argument[1], &failure);
  if (status == 0)
    status = reader_snapshot(reader, &snapshot, &failure);
  if (status != 0) {
    fprintf(stderr, "%s\n", failure.text);
    return 1;
  }
  window_total_at(snapshot, UINT64_MAX, totals);
  const struct bpf_window_epoch *epoch = reader_epoch(reader);
  const uint64_t *next = totals;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *counter = &epoch->counter[c];
    printf("%s\"%s\": %s", c ? ", " : "{", counter->name,
           counter->values > 1 ? "[" : "");
    for (uint32_t i = 0; i < counter->values; i++)
      printf("%s%llu", i ? ", " : "", (unsigned long long)*next++);
    printf("%s", counter->values > 1 ? "]" : "");
  }
  puts("}");
  reader_close(&reader);
  return 0;
}
