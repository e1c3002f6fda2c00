/* SPDX-License-Identifier: MIT */
#include "edges.h"

static uint64_t round_down(uint64_t value, uint64_t step) {
  return value - value % step;
}

static uint64_t round_up(uint64_t value, uint64_t step) {
  return round_down(value + step - 1, step);
}

/* Wall-clock time of a CLOCK_MONOTONIC time not later than now. */
static uint64_t wall_of(const struct clock_pair *now, uint64_t mono_ns) {
  return now->wall_ns - (now->mono_ns - mono_ns);
}

uint64_t edges_in_window(const struct bpf_window_epoch *epoch,
                         const struct clock_pair *now, uint64_t wall_ns) {
  uint64_t ago_ns = now->wall_ns - wall_ns;
  return ago_ns < now->mono_ns ? window_edge_near(epoch, now->mono_ns - ago_ns)
                               : 0;
}

/* E3: how far counts would be from the time at which they happened if the edge
 * at wall_ns came next; 0 if the writers bridge that with the right sum. */
static uint64_t gap_ns(const struct bpf_window_epoch *epoch,
                       const struct clock_pair *now, uint64_t interval_ns,
                       const struct pins_edge *last, uint64_t wall_ns) {
  uint64_t on_wall_ns = wall_ns - last->wall_ns;
  uint64_t in_window_ns =
      (edges_in_window(epoch, now, wall_ns) - last->edge) * epoch->width_ns;
  uint64_t gap = on_wall_ns > in_window_ns ? on_wall_ns : in_window_ns;
  return gap > 2 * interval_ns ? gap : 0;
}

/* The first edge behind the last one, perhaps not due yet. */
static struct edges next_due(const struct bpf_window_epoch *epoch,
                             const struct clock_pair *now, uint64_t interval_ns,
                             const struct pins_edge *last, uint64_t newest_ns,
                             uint64_t oldest_ns) {
  /* Another interval than this one may have been in use then. */
  uint64_t before_ns = round_down(last->wall_ns, interval_ns);
  struct edges due = {.first_ns = before_ns + interval_ns};
  bool untold = due.first_ns < oldest_ns; /* E2 */
  if (untold)
    due.first_ns = oldest_ns;
  /* E1: after a step forward of the wall clock, or a suspend, the window is
   * behind. */
  while (due.first_ns <= newest_ns &&
         edges_in_window(epoch, now, due.first_ns) < last->edge)
    due.first_ns += interval_ns;
  if (due.first_ns > newest_ns ||
      (!untold && gap_ns(epoch, now, interval_ns, last, due.first_ns) == 0))
    return due;
  if (due.first_ns <= last->wall_ns + 2 * interval_ns)
    due.first_ns = before_ns + 3 * interval_ns;
  if (due.first_ns <= newest_ns)
    due.lost_ns = gap_ns(epoch, now, interval_ns, last, due.first_ns);
  return due;
}

struct edges edges_due(const struct bpf_window_epoch *epoch,
                       const struct clock_pair *now, uint64_t interval_ns,
                       const struct pins_edge *last) {
  uint64_t newest_ns = round_down(now->wall_ns - WINDOW_SETTLE_NS, interval_ns);
  uint64_t told_edge = window_history_start(epoch, now->mono_ns);
  /* The clocks are read one after the other and slewed apart: an edge of the
   * window is at the same wall-clock time only nearly, read by read. Half a
   * width to either side it is still the nearest. */
  uint64_t near_ns = epoch->width_ns / 2;
  uint64_t oldest_ns = round_up(
      wall_of(now, window_edge_ns(epoch, told_edge)) - near_ns, interval_ns);
  struct edges due;

  if (last->wall_ns != 0) {
    due = next_due(epoch, now, interval_ns, last, newest_ns, oldest_ns);
  } else {
    /* Nothing was counted before the epoch; the edge at or before it is the
     * zero. */
    uint64_t zero_ns = round_down(
        wall_of(now, window_edge_ns(epoch, 0)) + near_ns - 1, interval_ns);
    due = (struct edges){.first_ns = told_edge == 0 ? zero_ns : oldest_ns};
  }
  if (due.first_ns <= newest_ns)
    due.count = (newest_ns - due.first_ns) / interval_ns + 1;
  return due;
}
