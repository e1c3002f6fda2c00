/* SPDX-License-Identifier: MIT */
#include "histogram.h"

#include <math.h>

uint64_t histogram_from(uint32_t slot) {
  return slot == 0 ? 0 : UINT64_C(1) << slot;
}

uint64_t histogram_events(const uint64_t *slots, uint32_t count) {
  uint64_t events = 0;
  for (uint32_t i = 0; i < count; i++)
    events += slots[i];
  return events;
}

double histogram_percentile(const uint64_t *slots, uint32_t count,
                            double percent) {
  uint64_t events = histogram_events(slots, count);
  if (events == 0)
    return NAN;
  double rank = percent / 100 * (double)events, below = 0;
  uint32_t last = 0; /* slot with events, so that rounding leads past no end */
  for (uint32_t i = 0; i < count; i++) {
    if (slots[i] == 0)
      continue;
    last = i;
    if (below + (double)slots[i] >= rank)
      break;
    below += (double)slots[i];
  }
  double from = (double)histogram_from(last);
  if (last + 1 == count) /* H3 */
    return from;
  double width = (double)histogram_from(last + 1) - from;
  return from + width * fmin((rank - below) / (double)slots[last], 1); /* H2 */
}

bool histogram_next(const struct bpf_window_epoch *epoch, uint32_t *counter,
                    struct histogram *histogram) {
  uint32_t first = 0;
  for (uint32_t c = 0; c < epoch->counters; c++) {
    const struct bpf_window_counter *field = &epoch->counter[c];
    if (c >= *counter && field->role == BPF_WINDOW_ROLE_LOG2) {
      *histogram = (struct histogram){field->name, first, field->values};
      *counter = c + 1;
      return true;
    }
    first += field->values;
  }
  return false;
}
