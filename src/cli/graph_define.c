/* SPDX-License-Identifier: MIT */
/* The values of a picture, as definitions of rrdtool's graph. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "graph_arguments.h"

void graph_add(struct graph_arguments *arguments, const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (arguments->count < GRAPH_MAX_ARGUMENTS &&
      vasprintf(&arguments->text[arguments->count], format, values) >= 0)
    arguments->count++;
  va_end(values);
}

void graph_forget_arguments(struct graph_arguments *arguments) {
  while (arguments->count > 0)
    free(arguments->text[--arguments->count]);
}

/* A path in a definition: colons are its separators. */
static const char *escaped(const char *path, char text[1024]) {
  char *out = text;
  for (; *path && out < text + 1020; path++) {
    if (*path == ':' || *path == '\\')
      *out++ = '\\';
    *out++ = *path;
  }
  *out = '\0';
  return text;
}

/* v0, v1, ...: by the second where the window has them, else as collectd kept them. */
static void define_values(struct graph_arguments *arguments,
                          const struct graph *graph) {
  char path[1024];
  for (unsigned i = 0; i < graph->count; i++) {
    const struct graph_series *series = &graph->series[i];
    if (series->old_rrd[0])
      graph_add(arguments, "DEF:o%u=%s:value:AVERAGE", i,
                escaped(series->old_rrd, path));
    if (series->new_rrd[0])
      graph_add(arguments, "DEF:n%u=%s:value:AVERAGE", i,
                escaped(series->new_rrd, path));
    if (series->old_rrd[0] && series->new_rrd[0])
      graph_add(arguments, "CDEF:v%u=n%u,UN,o%u,n%u,IF", i, i, i, i);
    else
      graph_add(arguments, "CDEF:v%u=%c%u", i, series->old_rrd[0] ? 'o' : 'n',
                i);
  }
}

/* The sum of those with one role or the other. Returns whether there are any. */
static bool define_sum(struct graph_arguments *arguments,
                       const struct graph *graph, const char *name,
                       enum bpf_window_role role, enum bpf_window_role other) {
  char sum[16 * GRAPH_MAX_SERIES] = "";
  size_t length = 0;
  for (unsigned i = 0; i < graph->count; i++)
    if (graph->series[i].role == role || graph->series[i].role == other)
      length += (size_t)snprintf(sum + length, sizeof(sum) - length,
                                 length ? ",v%u,+" : "v%u", i);
  if (length)
    graph_add(arguments, "CDEF:%s=%s", name, sum);
  return length > 0;
}

void graph_define(struct graph_arguments *arguments,
                  const struct graph *graph) {
  define_values(arguments, graph);
  if (!graph_is_stack(graph))
    return;
  define_sum(arguments, graph, "all", BPF_WINDOW_ROLE_HIT,
             BPF_WINDOW_ROLE_MISS);
  define_sum(arguments, graph, "hits", BPF_WINDOW_ROLE_HIT,
             BPF_WINDOW_ROLE_HIT);
  bool totals = define_sum(arguments, graph, "totals", BPF_WINDOW_ROLE_TOTAL,
                           BPF_WINDOW_ROLE_TOTAL);
  const char *base = totals ? "totals" : "all";
  /* Clamped, as in window_ratio_percent. */
  graph_add(arguments, "CDEF:percent=%s,0,GT,hits,%s,/,100,*,100,MIN,UNKN,IF",
            base, base);
}
