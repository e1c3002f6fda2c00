/* SPDX-License-Identifier: MIT */
/*
 * edges.h - which edges a read has to dispatch. Pure arithmetic.
 *
 * An edge here is an instant of the wall clock that is a multiple of the
 * interval. Its counterpart in the window is the bucket that begins nearest to
 * it.
 *
 * E1  Edges are dispatched in order, each once: after the last one on the wall clock,
 *     and not before it in the window (a step of the wall clock must not make totals
 *     go back).
 * E2  Only edges that are settled and still told by the ring.
 * E3  After a gap that the ring does not tell, the next edge is over two intervals
 *     behind the last one: collectd's writers then record the gap as unknown instead
 *     of smearing the counts over it. So it is after a step of the wall clock by more
 *     than an interval: set forward, its times have no counts; set back, nothing is
 *     dispatched until it is past the last edge again, and what was counted meanwhile
 *     would all fall into one interval.
 */
#ifndef BPF_WINDOW_EDGES_H
#define BPF_WINDOW_EDGES_H

#include "object/pins.h"
#include "window/clock.h"
#include "window/window.h"

struct edges {
  uint64_t first_ns; /* wall clock; the first edge to dispatch */
  uint64_t count;    /* how many, an interval apart; 0: none is due */
  /* Of the gap that stays unknown, on the clock on which it is longer; 0: none. */
  uint64_t lost_ns;
};

/* The window's edge at a wall-clock time not later than now. */
uint64_t edges_in_window(const struct bpf_window_epoch *epoch,
                         const struct clock_pair *now, uint64_t wall_ns);

/*
 * The edges due now. last is what was dispatched before; all zeroes for a
 * window that never was: then the first edge is the newest one at or before the
 * epoch's first bucket in use, where every total is 0, so that the first
 * increments have a base.
 */
struct edges edges_due(const struct bpf_window_epoch *epoch,
                       const struct clock_pair *now, uint64_t interval_ns,
                       const struct pins_edge *last);

#endif
