/* SPDX-License-Identifier: MIT */
/* What librrd draws must be in RRDs: those that are made for one picture. */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <rrd.h>

#include "graph.h"

static int cannot_keep(struct failure *failure) {
  failure_set(failure, -EIO, "cannot keep values for the picture: %s",
              rrd_get_error());
  rrd_clear_error();
  return -EIO;
}

static int make_folder(struct graph *graph, struct failure *failure) {
  if (graph->scratch[0])
    return 0;
  snprintf(graph->scratch, sizeof(graph->scratch), "/tmp/bpf-window.XXXXXX");
  if (mkdtemp(graph->scratch))
    return 0;
  graph->scratch[0] = '\0';
  return failure_set(failure, -errno, "cannot make a folder in /tmp: %s",
                     strerror(errno));
}

static void file_path(const struct graph *graph, unsigned number,
                      char path[512]) {
  snprintf(path, 512, "%s/%u.rrd", graph->scratch, number);
}

/* All values at once: each call opens the file anew. */
static int fill(const char *path, long step_s, int64_t start_s, size_t count,
                const double *values, struct failure *failure) {
  char(*text)[64] = calloc(count, sizeof(*text));
  const char **updates = calloc(count, sizeof(*updates));
  int status = text && updates ? 0 : -ENOMEM;
  for (size_t i = 0; status == 0 && i < count; i++) {
    long long end_s = start_s + (int64_t)(i + 1) * step_s;
    updates[i] = text[i];
    if (isnan(values[i]))
      snprintf(text[i], sizeof(*text), "%lld:U", end_s);
    else
      snprintf(text[i], sizeof(*text), "%lld:%.3f", end_s, values[i]);
  }
  if (status == 0 && rrd_update_r(path, NULL, (int)count, updates) != 0)
    status = cannot_keep(failure);
  else if (status != 0)
    failure_set(failure, status, "out of memory");
  free(updates);
  free(text);
  return status;
}

int graph_keep(struct graph *graph, char path[512], long step_s,
               int64_t start_s, size_t count, const double *values,
               struct failure *failure) {
  char source[64], archive[64];
  const char *definition[] = {source, archive};
  int status = make_folder(graph, failure);
  if (status != 0)
    return status;
  /* librrd takes no times of decades before it was there. */
  for (; count > 1 && isnan(values[0]); values++, count--)
    start_s += step_s;
  file_path(graph, graph->scratch_files++, path);
  snprintf(source, sizeof(source), "DS:value:GAUGE:%ld:0:U", 2 * step_s);
  snprintf(archive, sizeof(archive), "RRA:AVERAGE:0.5:1:%zu", count);
  if (rrd_create_r(path, (unsigned long)step_s, (time_t)start_s, 2,
                   definition) != 0)
    return cannot_keep(failure);
  return fill(path, step_s, start_s, count, values, failure);
}

void graph_forget(struct graph *graph) {
  char path[512];
  while (graph->scratch_files > 0) {
    file_path(graph, --graph->scratch_files, path);
    unlink(path);
  }
  if (graph->scratch[0])
    rmdir(graph->scratch);
  graph->scratch[0] = '\0';
}
