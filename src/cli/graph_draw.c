/* SPDX-License-Identifier: MIT */
/* The picture, as arguments of rrdtool's graph. */
#include "graph.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <time.h>

#include <rrd.h>

#include "units.h"
#include "window/clock.h"

#define MAX_ARGUMENTS (8 * GRAPH_MAX_SERIES + 64)

struct arguments {
  char *text[MAX_ARGUMENTS];
  int count;
};

static void add(struct arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

static void add(struct arguments *arguments, const char *format, ...) {
  va_list values;
  va_start(values, format);
  if (arguments->count < MAX_ARGUMENTS &&
      vasprintf(&arguments->text[arguments->count], format, values) >= 0)
    arguments->count++;
  va_end(values);
}

static void forget(struct arguments *arguments) {
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

/* v0, v1, ... are the values: by the second where the window has them, else as
 * collectd kept them; unknown where there is neither. */
static void define(struct arguments *arguments, const struct graph *graph) {
  char path[1024];
  for (unsigned i = 0; i < graph->count; i++) {
    const struct graph_series *series = &graph->series[i];
    if (series->old_rrd[0])
      add(arguments, "DEF:o%u=%s:value:AVERAGE", i,
          escaped(series->old_rrd, path));
    if (series->new_rrd[0])
      add(arguments, "DEF:n%u=%s:value:AVERAGE", i,
          escaped(series->new_rrd, path));
    if (series->old_rrd[0] && series->new_rrd[0])
      add(arguments, "CDEF:v%u=n%u,UN,o%u,n%u,IF", i, i, i, i);
    else
      add(arguments, "CDEF:v%u=%c%u", i, series->old_rrd[0] ? 'o' : 'n', i);
  }
}

/* Defines the sum of those with the role; role PLAIN: of all. */
static void define_sum(struct arguments *arguments, const struct graph *graph,
                       const char *name, enum bpf_window_role role) {
  char sum[16 * GRAPH_MAX_SERIES] = "";
  size_t length = 0;
  for (unsigned i = 0; i < graph->count; i++)
    if (role == BPF_WINDOW_ROLE_PLAIN || graph->series[i].role == role)
      length += (size_t)snprintf(sum + length, sizeof(sum) - length,
                                 length ? ",v%u,+" : "v%u", i);
  if (length)
    add(arguments, "CDEF:%s=%s", name, sum);
}

static void add_span(struct arguments *arguments, const struct graph *graph,
                     const char *format) {
  add(arguments, "graph");
  add(arguments, "-");
  add(arguments, "--imgformat=%s", format);
  add(arguments, "--start=%lld", (long long)graph->from_s);
  add(arguments, "--end=%lld", (long long)graph->to_s);
  add(arguments, "--width=%d", GRAPH_WIDTH);
  add(arguments, "--height=300");
}

static rrd_info_t *run(struct arguments *arguments) {
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
  struct arguments arguments = {.count = 0};
  add_span(&arguments, graph, "PNG");
  define(&arguments, graph);
  define_sum(&arguments, graph, "all", BPF_WINDOW_ROLE_PLAIN);
  add(&arguments, "VDEF:top=all,MAXIMUM");
  add(&arguments, "PRINT:top:%%.6lf");
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
  forget(&arguments);
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
static void add_title(struct arguments *arguments, const struct graph *graph) {
  char from[UNITS_TEXT], to[UNITS_TEXT], zone[UNITS_TEXT];
  int64_t to_ns = graph->to_s * NS_PER_SECOND;
  size_t day = strlen("2026-01-31 ");
  units_date(graph->from_s * NS_PER_SECOND, from);
  units_date(to_ns, to);
  add(arguments, "--title=%s on %s, %s to %s %s", graph->window, graph->host,
      from, strncmp(from, to, day) == 0 ? to + day : to,
      units_zone(to_ns, zone));
}

/* ---- What is drawn, with its legend ---- */

#define LEGEND_COLUMNS 3
#define LEGEND_CHARACTERS 130 /* of a line */

/* The name of a series, all as long as the longest. */
static const char *padded(const struct graph *graph, unsigned which,
                          char text[64]) {
  size_t longest = 0;
  for (unsigned i = 0; i < graph->count; i++)
    longest = strlen(graph->series[i].name) > longest
                  ? strlen(graph->series[i].name)
                  : longest;
  snprintf(text, 64, "%-*s", (int)longest, graph->series[which].name);
  return text;
}

/* A figure behind the name, and the end of the line behind some of them: else a line
 * could end between the two. */
static void add_figure(struct arguments *arguments, const struct graph *graph,
                       unsigned which) {
  char text[64];
  bool percentile = graph->kind == GRAPH_PERCENTILES;
  size_t columns = LEGEND_CHARACTERS / (strlen(padded(graph, 0, text)) + 20);
  if (columns > LEGEND_COLUMNS)
    columns = LEGEND_COLUMNS;
  bool last = which + 1 == graph->count || (which + 1) % columns == 0;
  add(arguments, "VDEF:f%u=v%u,%s", which, which,
      percentile ? "MAXIMUM" : "AVERAGE");
  add(arguments, "GPRINT:f%u:%s %%6.1lf%%s%s%s", which,
      percentile ? "max" : "avg", percentile ? "" : "/s", last ? "\\l" : "  ");
}

static void draw_stack(struct arguments *arguments, const struct graph *graph,
                       double highest) {
  double step = fifth_of(highest), top = 5 * step;
  add(arguments, "--lower-limit=0");
  add(arguments, "--upper-limit=%.6f", top * 1.04);
  add(arguments, "--y-grid=%.9f:1", step);
  add(arguments, "--rigid");
  add(arguments, "--right-axis=%.9f:0", 100 / top);
  add(arguments, "--right-axis-label=hit rate, percent");
  add(arguments, "--right-axis-format=%%.0lf");
  for (unsigned i = 0; i < graph->count; i++) {
    char name[64];
    add(arguments, "AREA:v%u#%s:%s %s", i, colour_of(graph, i),
        padded(graph, i, name), i ? ":STACK" : "");
    add_figure(arguments, graph, i);
  }
  define_sum(arguments, graph, "hits", BPF_WINDOW_ROLE_HIT);
  define_sum(arguments, graph, "all", BPF_WINDOW_ROLE_PLAIN);
  add(arguments, "CDEF:rate=all,0,GT,hits,all,/,%.9f,*,UNKN,IF", top);
  add(arguments, "LINE1.5:rate#222222:hit rate (right)\\l");
}

static void draw_lines(struct arguments *arguments, const struct graph *graph) {
  if (graph->kind == GRAPH_PERCENTILES) {
    add(arguments, "--logarithmic");
    add(arguments, "--units=si");
  } else {
    add(arguments, "--lower-limit=0");
  }
  for (unsigned i = 0; i < graph->count; i++) {
    char name[64];
    add(arguments, "LINE1.5:v%u#%s:%s ", i, colour_of(graph, i),
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

static bool has_hits(const struct graph *graph) {
  for (unsigned i = 0; i < graph->count; i++)
    if (graph->series[i].role == BPF_WINDOW_ROLE_HIT)
      return true;
  return false;
}

int graph_draw(const struct graph *graph, const char *output,
               struct failure *failure) {
  const char *dot = strrchr(output, '.');
  bool svg = dot && strcasecmp(dot, ".svg") == 0;
  bool stack = graph->kind == GRAPH_STACKED && has_hits(graph);
  double top = 0;
  int status = stack ? find_top(graph, &top, failure) : 0;
  if (status != 0)
    return status;
  struct arguments arguments = {.count = 0};
  add_span(&arguments, graph, svg ? "SVG" : "PNG");
  add_title(&arguments, graph);
  add(&arguments, "--vertical-label=%s",
      graph->kind == GRAPH_PERCENTILES ? "percentiles" : "events per second");
  add(&arguments, "--border=0");
  define(&arguments, graph);
  if (stack)
    draw_stack(&arguments, graph, top);
  else
    draw_lines(&arguments, graph);
  rrd_info_t *info = run(&arguments);
  status = info ? save(info, output, failure) : rrd_failed(failure);
  if (info)
    rrd_info_free(info);
  forget(&arguments);
  return status;
}
