/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include <rrd.h>

#include "window/clock.h"

/* ---- Which counters ---- */

static bool is_cache(const struct history *history) {
  struct window_ratio ratio;
  return window_ratio_from_roles(&ratio, &history->epoch);
}

static void choose(struct graph *graph, const struct history *history) {
  uint32_t column = 0;
  graph->stacked = is_cache(history);
  for (uint32_t c = 0; c < history->epoch.counters; c++) {
    const struct bpf_window_counter *counter = &history->epoch.counter[c];
    bool result = counter->role == BPF_WINDOW_ROLE_HIT ||
                  counter->role == BPF_WINDOW_ROLE_MISS;
    for (uint32_t i = 0; i < counter->values; i++, column++) {
      if ((graph->stacked && !result) || graph->count == GRAPH_MAX_SERIES ||
          history_is_slot(history, column))
        continue;
      struct graph_series *series = &graph->series[graph->count++];
      history_column_name(history, column, series->name);
      series->role = (enum bpf_window_role)counter->role;
    }
  }
}

/* ---- The window's seconds as an RRD ---- */

static int rrd_failed(struct failure *failure, const char *doing) {
  failure_set(failure, -EIO, "%s: %s", doing, rrd_get_error());
  rrd_clear_error();
  return -EIO;
}

static uint32_t column_of(const struct history *history, const char *name) {
  char column_name[BPF_WINDOW_NAME_SIZE + 8];
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    history_column_name(history, i, column_name);
    if (strcmp(column_name, name) == 0)
      return i;
  }
  return 0;
}

/* A value stands at the end of its bucket. A bucket in which nothing was
 * counted is a zero: the window was there. */
static int fill(const struct history *history, struct graph_series *series,
                long step_s, struct failure *failure) {
  uint32_t column = column_of(history, series->name);
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    char update[64];
    const char *updates[] = {update};
    int64_t end_ns = history_edge_real_ns(history, bucket + 1);
    snprintf(update, sizeof(update), "%lld:%.3f",
             (long long)((end_ns + NS_PER_SECOND / 2) / NS_PER_SECOND),
             (double)history_row(history, bucket)[column] / (double)step_s);
    if (rrd_update_r(series->new_rrd, NULL, 1, updates) != 0)
      return rrd_failed(failure, "cannot keep the window's seconds");
  }
  return 0;
}

static int keep_seconds(struct graph *graph, const struct history *history,
                        struct failure *failure) {
  long step_s = (long)(history->epoch.width_ns / NS_PER_SECOND);
  if (step_s == 0 || history->epoch.width_ns % NS_PER_SECOND != 0 ||
      history->from == history->to)
    return 0; /* an RRD has no finer steps than seconds */
  snprintf(graph->scratch, sizeof(graph->scratch), "/tmp/bpf-window.XXXXXX");
  if (!mkdtemp(graph->scratch)) {
    graph->scratch[0] = '\0';
    return failure_set(failure, -errno, "cannot make a folder in /tmp: %s",
                       strerror(errno));
  }
  time_t start =
      (time_t)(history_edge_real_ns(history, history->from) / NS_PER_SECOND) -
      1;
  char source[64];
  snprintf(source, sizeof(source), "DS:value:GAUGE:%ld:0:U", 2 * step_s);
  const char *definition[] = {source, "RRA:AVERAGE:0.5:1:300"};
  int status = 0;
  for (unsigned i = 0; status == 0 && i < graph->count; i++) {
    struct graph_series *series = &graph->series[i];
    snprintf(series->new_rrd, sizeof(series->new_rrd), "%s/%u.rrd",
             graph->scratch, i);
    if (rrd_create_r(series->new_rrd, (unsigned long)step_s, start, 2,
                     definition) != 0)
      status = rrd_failed(failure, "cannot keep the window's seconds");
    else
      status = fill(history, series, step_s, failure);
  }
  return status;
}

int graph_from_history(struct graph *graph, const struct history *history,
                       struct failure *failure) {
  memset(graph, 0, sizeof(*graph));
  memcpy(graph->window, history->window, sizeof(graph->window));
  choose(graph, history);
  if (graph->count == 0)
    return failure_set(
        failure, -ENOTSUP,
        "window %s has nothing but histograms, which `bpf-window "
        "report` draws",
        history->window);
  int status = keep_seconds(graph, history, failure);
  if (status != 0)
    graph_forget(graph);
  return status;
}

void graph_forget(struct graph *graph) {
  for (unsigned i = 0; graph->scratch[0] && i < graph->count; i++)
    unlink(graph->series[i].new_rrd);
  if (graph->scratch[0])
    rmdir(graph->scratch);
  graph->scratch[0] = '\0';
}

/* ---- collectd's RRDs ---- */

static bool is_folder(const char *path) {
  struct stat info;
  return stat(path, &info) == 0 && S_ISDIR(info.st_mode);
}

int graph_find_folder(const char *dir, const char *window, char *folder,
                      size_t size, struct failure *failure) {
  char pattern[512];
  const char *slash = strrchr(dir, '/');
  if (strncmp(slash ? slash + 1 : dir, "bpf_window-", 11) == 0) {
    snprintf(folder, size, "%s", dir);
    return is_folder(dir)
               ? 0
               : failure_set(failure, -ENOENT, "there is no %s", dir);
  }
  snprintf(folder, size, "%s/bpf_window-%s", dir, window);
  if (is_folder(folder))
    return 0;
  glob_t found;
  snprintf(pattern, sizeof(pattern), "%s/*/bpf_window-%s", dir, window);
  if (glob(pattern, 0, NULL, &found) != 0)
    return failure_set(failure, -ENOENT,
                       "no RRDs of window %s below %s (where does collectd's "
                       "rrdtool plugin write? name it with --rrd)",
                       window, dir);
  int status = 0;
  if (found.gl_pathc > 1)
    status =
        failure_set(failure, -ENOTUNIQ,
                    "%zu hosts have RRDs of window %s, say which: --rrd %s",
                    found.gl_pathc, window, found.gl_pathv[0]);
  else
    snprintf(folder, size, "%s", found.gl_pathv[0]);
  globfree(&found);
  return status;
}

/* collectd's name of a column: an array's element is name_3, not name[3]. */
static void file_name(const char *column, char *name, size_t size) {
  snprintf(name, size, "%s", column);
  char *bracket = strchr(name, '[');
  if (bracket) {
    *bracket = '_';
    bracket[strcspn(bracket, "]")] = '\0';
  }
}

bool graph_add_rrds(struct graph *graph, const char *folder) {
  static const char *const types[] = {"cache_result", "cache_operation",
                                      "derive"};
  bool found = false;
  for (unsigned i = 0; i < graph->count; i++) {
    struct graph_series *series = &graph->series[i];
    char name[BPF_WINDOW_NAME_SIZE + 8];
    file_name(series->name, name, sizeof(name));
    for (int type = 0; type < 3 && !series->old_rrd[0]; type++) {
      snprintf(series->old_rrd, sizeof(series->old_rrd), "%.400s/%s-%s.rrd",
               folder, types[type], name);
      if (access(series->old_rrd, R_OK) != 0)
        series->old_rrd[0] = '\0';
    }
    found |= series->old_rrd[0] != '\0';
  }
  return found;
}

/* The name between the type and `.rrd`. */
static void add_file(struct graph *graph, const char *path, const char *type) {
  if (graph->count == GRAPH_MAX_SERIES)
    return;
  const char *start = strrchr(path, '/') + 1 + strlen(type) + 1;
  struct graph_series *series = &graph->series[graph->count++];
  snprintf(series->name, sizeof(series->name), "%.*s",
           (int)(strlen(start) - strlen(".rrd")), start);
  /* The files do not tell hits from misses; their names usually do. */
  series->role =
      strstr(series->name, "miss") ? BPF_WINDOW_ROLE_MISS : BPF_WINDOW_ROLE_HIT;
  snprintf(series->old_rrd, sizeof(series->old_rrd), "%s", path);
}

int graph_from_rrds(struct graph *graph, const char *window, const char *folder,
                    struct failure *failure) {
  static const char *const types[] = {"cache_result", "derive"};
  memset(graph, 0, sizeof(*graph));
  snprintf(graph->window, sizeof(graph->window), "%.63s", window);
  for (int type = 0; type < 2 && graph->count == 0; type++) {
    char pattern[600];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/%s-*.rrd", folder, types[type]);
    if (glob(pattern, 0, NULL, &found) != 0)
      continue;
    graph->stacked = type == 0;
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (!strstr(found.gl_pathv[i], "-self_") &&
          !strstr(found.gl_pathv[i], "_ge_"))
        add_file(graph, found.gl_pathv[i], types[type]);
    globfree(&found);
  }
  return graph->count ? 0
                      : failure_set(failure, -ENOENT, "no RRDs in %s", folder);
}
