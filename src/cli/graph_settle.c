/* SPDX-License-Identifier: MIT */
/* What is drawn of the series, when all sources were looked at. */
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "graph.h"

static bool is_known(const struct graph_series *series) {
  return series->old_rrd[0] || series->new_rrd[0];
}

static bool is_base(const struct graph *graph,
                    const struct graph_series *series) {
  return graph->kind == GRAPH_STACKED && series->role == BPF_WINDOW_ROLE_TOTAL;
}

static void leave_out(struct graph *graph, const char *name) {
  size_t length = strlen(graph->unknown);
  snprintf(graph->unknown + length, sizeof(graph->unknown) - length, "%s%s",
           length ? ", " : "", name);
  graph->left_out++;
}

int graph_settle(struct graph *graph, struct failure *failure) {
  static struct graph_series sorted[GRAPH_MAX_SERIES];
  unsigned count = 0;
  for (int base = 0; base <= 1; base++) {
    for (unsigned i = 0; i < graph->count; i++) {
      if (is_base(graph, &graph->series[i]) != base)
        continue;
      if (is_known(&graph->series[i]))
        sorted[count++] = graph->series[i];
      else
        leave_out(graph, graph->series[i].name);
    }
    if (!base)
      graph->drawn = count;
  }
  if (graph->drawn == 0)
    return failure_set(failure, -ENODATA,
                       "window %s: %s, so a picture of it needs RRDs",
                       graph->window, graph->no_buckets);
  memcpy(graph->series, sorted, count * sizeof(*sorted));
  graph->count = count;
  return 0;
}

bool graph_is_stack(const struct graph *graph) {
  for (unsigned i = 0; graph->kind == GRAPH_STACKED && i < graph->drawn; i++)
    if (graph->series[i].role == BPF_WINDOW_ROLE_HIT)
      return true;
  return false;
}
