/* SPDX-License-Identifier: MIT */
/*
 * barrier.h - waits until collectd's writers have seen what was dispatched.
 *
 * collectd's write threads take values from a queue in parallel, so two edges
 * that are dispatched one after the other may reach a writer in the other
 * order, which then drops the older one. A write callback of our own,
 * registered behind all others, tells when an edge has passed every writer
 * before it.
 */
#ifndef BPF_WINDOW_BARRIER_H
#define BPF_WINDOW_BARRIER_H

#include "collectd.h"

#include "plugin.h"

/* Registers the write callback. From init, so that it is the last in the list. */
int barrier_register(void);

/* What one window has under way. The owner zeroes it. */
struct barrier {
  char plugin_instance[DATA_MAX_NAME_LEN];
  cdtime_t time;    /* of the edge under way */
  unsigned pending; /* values not yet seen */
  struct barrier *next;
};

/* Enters and leaves the list that the write callback searches. */
void barrier_add(struct barrier *barrier);
void barrier_remove(struct barrier *barrier);

/* Announces count values of that instance and time, without those in SERIES_SELF; before
 * they are dispatched. */
void barrier_expect(struct barrier *barrier, cdtime_t time, unsigned count);

/* Waits until all of them were seen, at most so long. False if some were not;
 * those stay expected. True if nothing is. */
bool barrier_wait(struct barrier *barrier, cdtime_t at_most);

/* The same when collectd ends: all that call it, one after the other, wait so long
 * together. */
void barrier_wait_at_end(struct barrier *barrier, cdtime_t at_most);

#endif
