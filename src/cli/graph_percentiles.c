/* SPDX-License-Identifier: MIT */
/*
 * Percentiles over any time. Percentiles of different times cannot be averaged, but
 * the rates of a histogram's slots can: so each step's percentile is that of the
 * slots' rates in this step, in the window and in the RRDs of the slots.
 */
#include <errno.h>
#include <glob.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rrd.h>

#include "graph.h"
#include "show.h"
#include "window/clock.h"
#include "window/histogram.h"

/* Rates become whole numbers, for the arithmetic of histograms. */
#define PARTS_PER_EVENT 1e6

/* The series of a histogram, one for each percentile. NULL if there are too many. */
static struct graph_series *add_histogram(struct graph *graph,
                                          const char *name) {
  if (graph->count + SHOW_PERCENTILES > GRAPH_MAX_SERIES) {
    graph->too_many++;
    return NULL;
  }
  struct graph_series *series = &graph->series[graph->count];
  for (int i = 0; i < SHOW_PERCENTILES; i++)
    snprintf(series[i].name, sizeof(series[i].name), "%s p%g", name,
             show_percentiles[i]);
  graph->count += SHOW_PERCENTILES;
  return series;
}

/* ---- The window ---- */

static int keep_histogram(struct graph *graph, const struct history *history,
                          const struct histogram *histogram,
                          struct graph_series *series,
                          struct failure *failure) {
  long step_s = (long)(history->epoch.width_ns / NS_PER_SECOND);
  size_t count = history->to - history->from;
  if (!graph_can_keep(graph, history) || count == 0)
    return 0;
  double *values = calloc(count, sizeof(*values));
  if (!values)
    return failure_set(failure, -ENOMEM, "out of memory");
  int64_t start_ns = history_edge_real_ns(history, history->from);
  int status = 0;
  for (int p = 0; status == 0 && p < SHOW_PERCENTILES; p++) {
    for (size_t i = 0; i < count; i++)
      values[i] = histogram_percentile(history_row(history, history->from + i) +
                                           histogram->first,
                                       histogram->slots, show_percentiles[p]);
    status = graph_keep(graph, series[p].new_rrd, step_s,
                        (start_ns + NS_PER_SECOND / 2) / NS_PER_SECOND, count,
                        values, failure);
  }
  free(values);
  return status;
}

int graph_percentiles_from_history(struct graph *graph,
                                   const struct history *history,
                                   struct failure *failure) {
  struct histogram histogram;
  int status = 0;
  memcpy(graph->window, history->window, sizeof(graph->window));
  for (uint32_t c = 0;
       status == 0 && histogram_next(&history->epoch, &c, &histogram);) {
    struct graph_series *series = graph_wants(graph, histogram.name)
                                      ? add_histogram(graph, histogram.name)
                                      : NULL;
    if (series)
      status = keep_histogram(graph, history, &histogram, series, failure);
  }
  if (status == 0)
    status = graph_check_choice(graph, failure);
  if (status == 0 && graph->count == 0)
    status = failure_set(failure, -ESRCH, "window %s has no histograms",
                         history->window);
  return status;
}

/* ---- collectd's RRDs of the slots ---- */

/* Rates of the slots, in steps of at least a pixel. */
struct grid {
  int64_t start_s; /* a multiple of step_s */
  long step_s;
  size_t count;
  uint32_t slots;
  double *rates; /* [count][BPF_WINDOW_MAX_VALUES] */
};

static bool slot_path(const char *folder, const char *name, uint32_t slot,
                      char path[512]) {
  snprintf(path, 512, "%.300s/derive-%s-%02u_ge_%" PRIu64 ".rrd", folder, name,
           slot, histogram_from(slot));
  return slot < 64 && access(path, R_OK) == 0;
}

/* Steps that begin at multiples of their length, as those of RRDs do. */
static int lay_out(struct grid *grid, const struct graph *graph,
                   unsigned long step_s, struct failure *failure) {
  long pixel_s = (long)((graph->to_s - graph->from_s) / GRAPH_WIDTH) + 1;
  long step = (long)step_s;
  grid->step_s = (pixel_s + step - 1) / step * step;
  grid->start_s = graph->from_s / grid->step_s * grid->step_s;
  grid->count = (size_t)((graph->to_s - grid->start_s) / grid->step_s) + 1;
  grid->rates =
      calloc(grid->count * BPF_WINDOW_MAX_VALUES, sizeof(*grid->rates));
  return grid->rates ? 0 : failure_set(failure, -ENOMEM, "out of memory");
}

/* Cuts a span to what the RRD goes back and up to, but for a second: librrd makes rows
 * for all of it, and there is no end to them in decades. */
static void cut_to_known(const char *path, time_t *start, time_t *end) {
  time_t first = rrd_first_r(path, 0), last = rrd_last_r(path), other;
  for (int archive = 1; (other = rrd_first_r(path, archive)) != -1; archive++)
    first = other < first ? other : first;
  rrd_clear_error();
  if (*start < first)
    *start = first < *end ? first : *end - 1;
  if (*end > last)
    *end = last > *start ? last : *start + 1;
}

/* What an RRD does not know adds nothing. */
static int add_slot(struct grid *grid, const struct graph *graph,
                    const char *path, struct failure *failure) {
  time_t start = (time_t)graph->from_s, end = (time_t)graph->to_s;
  unsigned long step = (unsigned long)((end - start) / GRAPH_WIDTH) + 1;
  unsigned long sources;
  char **names;
  rrd_value_t *data;
  cut_to_known(path, &start, &end);
  if (rrd_fetch_r(path, "AVERAGE", &start, &end, &step, &sources, &names,
                  &data) != 0) {
    failure_set(failure, -EIO, "cannot read %s: %s", path, rrd_get_error());
    rrd_clear_error();
    return -EIO;
  }
  int status = grid->rates ? 0 : lay_out(grid, graph, step, failure);
  if (status == 0 && grid->step_s % (long)step != 0)
    status = failure_set(failure, -EINVAL,
                         "%s has other steps than the RRDs of the other slots",
                         path);
  rrd_value_t *value = data;
  for (time_t from = start; status == 0 && from < end;
       from += (time_t)step, value += sources) {
    int64_t place = ((int64_t)from - grid->start_s) / grid->step_s;
    if (from >= grid->start_s && place < (int64_t)grid->count && !isnan(*value))
      grid->rates[(size_t)place * BPF_WINDOW_MAX_VALUES + grid->slots] +=
          *value;
  }
  grid->slots++;
  for (unsigned long i = 0; i < sources; i++)
    rrd_freemem(names[i]);
  rrd_freemem(names);
  rrd_freemem(data);
  return status;
}

/* NAN if nothing was counted, or is known. */
static double percentile_at(const struct grid *grid, size_t place,
                            double percent) {
  uint64_t parts[BPF_WINDOW_MAX_VALUES];
  for (uint32_t i = 0; i < grid->slots; i++) {
    double rate = grid->rates[place * BPF_WINDOW_MAX_VALUES + i];
    if (!(rate >= 0 && rate < 1e12))
      return NAN;
    parts[i] = (uint64_t)llround(rate * PARTS_PER_EVENT);
  }
  return histogram_percentile(parts, grid->slots, percent);
}

static int keep_slots(struct graph *graph, const char *folder,
                      struct graph_series *series, struct failure *failure) {
  struct grid grid = {0};
  char name[sizeof(series->name)], path[512];
  int status = 0;
  snprintf(name, sizeof(name), "%.*s", (int)strcspn(series->name, " "),
           series->name);
  while (status == 0 && slot_path(folder, name, grid.slots, path))
    status = add_slot(&grid, graph, path, failure);
  double *values = status == 0 ? calloc(grid.count + 1, sizeof(*values)) : NULL;
  if (status == 0 && !values)
    status = failure_set(failure, -ENOMEM, "out of memory");
  for (int p = 0; values && status == 0 && grid.slots && p < SHOW_PERCENTILES;
       p++) {
    for (size_t i = 0; i < grid.count; i++)
      values[i] = percentile_at(&grid, i, show_percentiles[p]);
    status = graph_keep(graph, series[p].old_rrd, grid.step_s, grid.start_s,
                        grid.count, values, failure);
  }
  free(values);
  free(grid.rates);
  return status;
}

/* Without the window the files say which histograms there are. */
static void add_files(struct graph *graph, const char *folder) {
  static const char before[] = "/derive-", behind[] = "-00_ge_0.rrd";
  char pattern[600];
  glob_t found;
  snprintf(pattern, sizeof(pattern), "%s%s*%s", folder, before, behind);
  if (glob(pattern, 0, NULL, &found) != 0)
    return;
  for (size_t i = 0; i < found.gl_pathc; i++) {
    char name[BPF_WINDOW_NAME_SIZE];
    const char *start = strrchr(found.gl_pathv[i], '/') + strlen(before);
    snprintf(name, sizeof(name), "%.*s", (int)(strlen(start) - strlen(behind)),
             start);
    if (graph_wants(graph, name))
      add_histogram(graph, name);
  }
  globfree(&found);
}

int graph_percentiles_from_rrds(struct graph *graph, const char *folder,
                                struct failure *failure) {
  int status = 0;
  bool found = false;
  if (graph->count == 0) {
    add_files(graph, folder);
    status = graph_check_choice(graph, failure);
  }
  for (unsigned i = 0; status == 0 && i < graph->count; i += SHOW_PERCENTILES) {
    status = keep_slots(graph, folder, &graph->series[i], failure);
    found |= graph->series[i].old_rrd[0] != '\0';
  }
  if (status == 0 && !found)
    status = failure_set(failure, -ENOENT,
                         "the RRDs in %s have no slots of a histogram", folder);
  return status;
}
