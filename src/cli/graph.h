/* SPDX-License-Identifier: MIT */
/*
 * graph.h - pictures of a window over any time, drawn by librrd: from the RRDs
 * that collectd keeps, and from the window itself for the last five minutes.
 */
#ifndef BPF_WINDOW_GRAPH_H
#define BPF_WINDOW_GRAPH_H

#include <stddef.h>

#include "history.h"
#include "window/failure.h"

#define GRAPH_MAX_SERIES 64
#define GRAPH_MAX_CHOSEN 16
#define GRAPH_WIDTH 860 /* pixels of the time axis */

enum graph_kind {
  GRAPH_LINES,       /* a line for each counter */
  GRAPH_STACKED,     /* hits and misses with their ratio */
  GRAPH_PERCENTILES, /* of each histogram, on a logarithmic axis */
};

/* A line or an area, from at least one source of its values. */
struct graph_series {
  char name[SERIES_NAME_SIZE];
  enum bpf_window_role role;
  char old_rrd[512]; /* from what collectd kept; empty: there is none */
  char new_rrd[512]; /* of the last five minutes, by second; empty: none */
};

/* What of the window is wanted; nothing chosen: all that its kind draws. */
struct graph_choice {
  const char *pattern[GRAPH_MAX_CHOSEN];
  bool found[GRAPH_MAX_CHOSEN];
  unsigned count;
  char offered[400]; /* all names that there were to choose from */
};

struct graph {
  enum graph_kind kind; /* the caller's: PERCENTILES or any other */
  struct graph_choice choice;
  int64_t from_s, to_s;
  char window[HISTORY_NAME_SIZE], host[256];
  struct graph_series series[GRAPH_MAX_SERIES];
  unsigned count;
  unsigned drawn;      /* settled: the first of them; behind are the totals */
  unsigned too_many;   /* for which there was no room */
  unsigned left_out;   /* of which nothing is known */
  char unknown[200];   /* the names of those */
  char no_buckets[96]; /* why the window's own are not drawn; empty: they are */
  char scratch[64];    /* the folder of RRDs of its own; empty: there is none */
  unsigned scratch_files;
};

/* All return 0 or -errno. Each adds to series what its source has; those that come
 * first say which series there are. -ESRCH: something chosen is not there. */

/* Puts the seconds that a window's history holds into RRDs of their own. */
int graph_from_history(struct graph *graph, const struct history *history,
                       struct failure *failure);

/* Takes collectd's RRDs in a folder; -ENOENT if it has none of the series. */
int graph_from_rrds(struct graph *graph, const char *folder,
                    struct failure *failure);

/* The same two for percentiles. */
int graph_percentiles_from_history(struct graph *graph,
                                   const struct history *history,
                                   struct failure *failure);
int graph_percentiles_from_rrds(struct graph *graph, const char *folder,
                                struct failure *failure);

/* Finds the folder of a window's RRDs: dir itself, or below it (and below its
 * only host). -ENOENT if there is none. */
int graph_find_folder(const char *dir, const char *window, char *folder,
                      size_t size, struct failure *failure);

/* Leaves out what no source knows, and sorts the totals of a stack to the end: the
 * hit rate is of them, but they are not drawn. -ENODATA if nothing is left. */
int graph_settle(struct graph *graph, struct failure *failure);

/* Whether hits and misses are stacked, with their ratio. */
bool graph_is_stack(const struct graph *graph);

/* Whether RRDs can be made of the window's buckets; else it notes why not. */
bool graph_can_keep(struct graph *graph, const struct history *history);

/* Whether a counter or histogram is wanted; it is among what is offered then. */
bool graph_wants(struct graph *graph, const char *name);

/* Whether all that was chosen was offered. */
int graph_check_choice(const struct graph *graph, struct failure *failure);

/* Makes an RRD, whose path it writes: values[i] ends at start_s + (i + 1) * step_s;
 * NAN is unknown. */
int graph_keep(struct graph *graph, char path[512], long step_s,
               int64_t start_s, size_t count, const double *values,
               struct failure *failure);

/* Removes those. */
void graph_forget(struct graph *graph);

/* Draws a settled graph into a file: SVG if its name ends so, else PNG; `-` is standard output. */
int graph_draw(const struct graph *graph, const char *output,
               struct failure *failure);

#endif
