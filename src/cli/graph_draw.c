/* SPDX-License-Identifier: MIT */
/* The picture, as arguments of rrdtool's graph. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <rrd.h>

#include "graph_arguments.h"
#include "units.h"
#include "window/clock.h"

static const char *colour_of(const struct graph *graph, unsigned which) {
  static const char *const hits[] = {"2f6fb7", "5b9bd5", "93c1ea", "1c4a80"};
  static const char *const misses[] = {"e07b1a", "f2a65a", "b85c00", "f7cb9b"};
  static const char *const others[] = {"2f6fb7", "e07b1a", "3a9a5b", "8a5bb5",
                                       "b8405e", "6b7785", "1c4a80", "b85c00"};
  unsigned of_kind = 0;
  if (graph->kind != GRAPH_STACKED)
    return others[which % 8];
  for (unsigned i = 0; i < which; i++)
    of_kind += graph->series[i].role == graph->series[which].role;
  return (graph->series[which].role == BPF_WINDOW_ROLE_MISS
              ? misses
              : hits)[of_kind % 4];
}

static void add_span(struct graph_arguments *arguments,
                     const struct graph *graph, const char *format) {
  graph_add(arguments, "graph");
  graph_add(arguments, "-");
  graph_add(arguments, "--imgformat=%s", format);
  graph_add(arguments, "--start=%lld", (long long)graph->from_s);
  graph_add(arguments, "--end=%lld", (long long)graph->to_s);
  graph_add(arguments, "--width=%d", GRAPH_WIDTH);
  graph_add(arguments, "--height=300");
}

static rrd_info_t *run(struct graph_arguments *arguments) {
  optind = 0; /* librrd parses them with getopt */
  return rrd_graph_v(arguments->count, arguments->text);
}

static int rrd_failed(struct failure *failure) {
  failure_set(failure, -EIO, "librrd: %s", rrd_get_error());
  rrd_clear_error();
  return -EIO;
}

/* The highest sum in the span. */
static int find_top(const struct graph *graph, double *top,
                    struct failure *failure) {
  struct graph_arguments arguments = {.count = 0};
  add_span(&arguments, graph, "PNG");
  graph_define(&arguments, graph);
  graph_add(&arguments, "VDEF:top=all,MAXIMUM");
  graph_add(&arguments, "PRINT:top:%%.6lf");
  rrd_info_t *info = run(&arguments);
  int status = info ? 0 : rrd_failed(failure);
  *top = 0;
  for (rrd_info_t *item = info; item; item = item->next)
    if (strcmp(item->key, "print[0]") == 0)
      *top = strtod(item->value.u_str, NULL);
  if (!(*top > 0)) /* also for not a number */
    *top = 1;
  if (info)
    rrd_info_free(info);
  graph_forget_arguments(&arguments);
  return status;
}

/* A fifth of the left axis: its lines are then at 20, 40, ... percent of the
 * right. */
static double fifth_of(double top) {
  static const double steps[] = {1, 1.5, 2, 3, 4, 5, 6, 8, 10};
  double power = pow(10, floor(log10(top / 5)));
  size_t i = 0;
  while (steps[i] * power * 5 < top && i + 1 < sizeof(steps) / sizeof(*steps))
    i++;
  return steps[i] * power;
}

/* "WINDOW on HOST, FROM to TO ZONE"; the day of the end if it is another one. */
static void add_title(struct graph_arguments *arguments,
                      const struct graph *graph) {
  char from[UNITS_TEXT], to[UNITS_TEXT], zone[UNITS_TEXT];
  int64_t to_ns = graph->to_s * NS_PER_SECOND;
  size_t day = strlen("2026-01-31 ");
  units_date(graph->from_s * NS_PER_SECOND, from);
  units_date(to_ns, to);
  graph_add(arguments, "--title=%s on %s, %s to %s %s", graph->window,
            graph->host, from, strncmp(from, to, day) == 0 ? to + day : to,
            units_zone(to_ns, zone));
}

/* ---- What is drawn, with its legend ---- */

#define LEGEND_COLUMNS 3
#define LEGEND_CHARACTERS 130 /* of a line */

/* The name of a series, all as long as the longest. */
static const char *padded(const struct graph *graph, unsigned which,
                          char text[SERIES_NAME_SIZE]) {
  size_t longest = 0;
  for (unsigned i = 0; i < graph->drawn; i++)
    longest = strlen(graph->series[i].name) > longest
                  ? strlen(graph->series[i].name)
                  : longest;
  snprintf(text, SERIES_NAME_SIZE, "%-*s", (int)longest,
           graph->series[which].name);
  return text;
}

/* A figure behind the name, and the end of the line behind some of them: else a line
 * could end between the two. */
static void add_figure(struct graph_arguments *arguments,
                       const struct graph *graph, unsigned which) {
  char text[SERIES_NAME_SIZE];
  bool percentile = graph->kind == GRAPH_PERCENTILES;
  size_t columns = LEGEND_CHARACTERS / (strlen(padded(graph, 0, text)) + 20);
  if (columns > LEGEND_COLUMNS)
    columns = LEGEND_COLUMNS;
  bool last = which + 1 == graph->drawn || (which + 1) % columns == 0;
  graph_add(arguments, "VDEF:f%u=v%u,%s", which, which,
            percentile ? "MAXIMUM" : "AVERAGE");
  graph_add(arguments, "GPRINT:f%u:%s %%6.1lf%%s%s%s", which,
            percentile ? "max" : "avg", percentile ? "" : "/s",
            last ? "\\l" : "  ");
}

static void draw_stack(struct graph_arguments *arguments,
                       const struct graph *graph, double highest) {
  double step = fifth_of(highest), top = 5 * step;
  /* That of a part would be wrong. */
  bool has_rate = graph->left_out == 0 && graph->too_many == 0;
  graph_add(arguments, "--lower-limit=0");
  graph_add(arguments, "--upper-limit=%.6f", top * 1.04);
  graph_add(arguments, "--y-grid=%.9f:1", step);
  graph_add(arguments, "--rigid");
  if (has_rate) {
    graph_add(arguments, "--right-axis=%.9f:0", 100 / top);
    graph_add(arguments, "--right-axis-label=hit rate, percent");
    graph_add(arguments, "--right-axis-format=%%.0lf");
  }
  for (unsigned i = 0; i < graph->drawn; i++) {
    char name[SERIES_NAME_SIZE];
    graph_add(arguments, "AREA:v%u#%s:%s %s", i, colour_of(graph, i),
              padded(graph, i, name), i ? ":STACK" : "");
    add_figure(arguments, graph, i);
  }
  if (!has_rate)
    return;
  graph_add(arguments, "CDEF:rate=percent,%.9f,*", top / 100);
  graph_add(arguments, "LINE1.5:rate#222222:hit rate (right)\\l");
}

static void draw_lines(struct graph_arguments *arguments,
                       const struct graph *graph) {
  if (graph->kind == GRAPH_PERCENTILES) {
    graph_add(arguments, "--logarithmic");
    graph_add(arguments, "--units=si");
  } else {
    graph_add(arguments, "--lower-limit=0");
  }
  for (unsigned i = 0; i < graph->drawn; i++) {
    char name[SERIES_NAME_SIZE];
    graph_add(arguments, "LINE1.5:v%u#%s:%s ", i, colour_of(graph, i),
              padded(graph, i, name));
    add_figure(arguments, graph, i);
  }
}

static int save(const rrd_info_t *info, const char *output,
                struct failure *failure) {
  for (; info; info = info->next) {
    if (strcmp(info->key, "image") != 0)
      continue;
    bool standard = strcmp(output, "-") == 0;
    FILE *file = standard ? stdout : fopen(output, "we");
    bool good = file && fwrite(info->value.u_blo.ptr, info->value.u_blo.size, 1,
                               file) == 1;
    if (file && (standard ? fflush(file) : fclose(file)) != 0)
      good = false;
    return good ? 0
                : failure_set(failure, -errno, "cannot write %s: %s", output,
                              strerror(errno));
  }
  return failure_set(failure, -EIO, "librrd drew nothing");
}

int graph_draw(const struct graph *graph, const char *output,
               struct failure *failure) {
  const char *dot = strrchr(output, '.');
  bool svg = dot && strcasecmp(dot, ".svg") == 0;
  bool stack = graph_is_stack(graph);
  double top = 0;
  int status = stack ? find_top(graph, &top, failure) : 0;
  if (status != 0)
    return status;
  struct graph_arguments arguments = {.count = 0};
  add_span(&arguments, graph, svg ? "SVG" : "PNG");
  add_title(&arguments, graph);
  graph_add(&arguments, "--vertical-label=%s",
            graph->kind == GRAPH_PERCENTILES ? "percentiles"
                                             : "events per second");
  graph_add(&arguments, "--border=0");
  graph_define(&arguments, graph);
  if (stack)
    draw_stack(&arguments, graph, top);
  else
    draw_lines(&arguments, graph);
  rrd_info_t *info = run(&arguments);
  status = info ? save(info, output, failure) : rrd_failed(failure);
  if (info)
    rrd_info_free(info);
  graph_forget_arguments(&arguments);
  return status;
}
