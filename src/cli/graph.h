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

/* A counter, from at least one source of its rate. */
struct graph_series {
  char name[BPF_WINDOW_NAME_SIZE + 8];
  enum bpf_window_role role;
  char old_rrd[512]; /* collectd's file; empty: there is none */
  char new_rrd[512]; /* of the last five minutes, by second; empty: none */
};

struct graph {
  char window[HISTORY_NAME_SIZE];
  struct graph_series series[GRAPH_MAX_SERIES];
  unsigned count;
  bool stacked;     /* hits and misses with their ratio; else a line for each
                       counter */
  char scratch[64]; /* the folder of the new RRDs; empty: there is none */
};

/*
 * Chooses the series of a window's history and puts the seconds it holds into
 * RRDs of their own. graph_forget removes those.
 */
int graph_from_history(struct graph *graph, const struct history *history,
                       struct failure *failure);

/* For a window that is not on this machine: the series that collectd's RRDs
 * have. */
int graph_from_rrds(struct graph *graph, const char *window, const char *folder,
                    struct failure *failure);

/* Finds the folder of a window's RRDs: dir itself, or below it (and below its
 * only host). -ENOENT if there is none. */
int graph_find_folder(const char *dir, const char *window, char *folder,
                      size_t size, struct failure *failure);

/* Adds collectd's files to the series; whether there was one. */
bool graph_add_rrds(struct graph *graph, const char *folder);

void graph_forget(struct graph *graph);

/* Draws the span into a file whose name ends with .png or .svg. */
int graph_draw(const struct graph *graph, int64_t from_s, int64_t to_s,
               const char *output, struct failure *failure);

#endif
