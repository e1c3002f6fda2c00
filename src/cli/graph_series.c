/* SPDX-License-Identifier: MIT */
/* Which counters are drawn, and where their rates are. */
#include "graph.h"

#include <errno.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "window/clock.h"

/* ---- What is wanted ---- */

static bool is_chosen(struct graph_choice *choice, const char *name) {
  bool wanted = choice->count == 0;
  for (unsigned i = 0; i < choice->count; i++) {
    if (strcmp(choice->pattern[i], name) != 0 &&
        fnmatch(choice->pattern[i], name, 0) != 0)
      continue;
    choice->found[i] = true;
    wanted = true;
  }
  return wanted;
}

bool graph_wants(struct graph *graph, const char *name) {
  struct graph_choice *choice = &graph->choice;
  size_t length = strlen(choice->offered);
  snprintf(choice->offered + length, sizeof(choice->offered) - length, "%s%s",
           length ? ", " : "", name);
  return is_chosen(choice, name);
}

int graph_check_choice(const struct graph *graph, struct failure *failure) {
  const struct graph_choice *choice = &graph->choice;
  for (unsigned i = 0; i < choice->count; i++)
    if (!choice->found[i])
      return failure_set(
          failure, -ESRCH, "--counter %.60s: what can be drawn is %s",
          choice->pattern[i], choice->offered[0] ? choice->offered : "nothing");
  return 0;
}

/* NULL if there are too many. */
static struct graph_series *add_series(struct graph *graph) {
  if (graph->count < GRAPH_MAX_SERIES)
    return &graph->series[graph->count++];
  graph->too_many++;
  return NULL;
}

/* ---- The window ---- */

bool graph_can_keep(struct graph *graph, const struct history *history) {
  uint64_t width_ns = history->epoch.width_ns;
  if (width_ns == 0 || width_ns % NS_PER_SECOND != 0)
    snprintf(graph->no_buckets, sizeof(graph->no_buckets),
             "its buckets of %g s are no whole number of seconds",
             (double)width_ns / 1e9);
  else if (history->from == history->to)
    snprintf(graph->no_buckets, sizeof(graph->no_buckets),
             "none of its buckets has ended yet");
  return graph->no_buckets[0] == '\0';
}

/* Rates by the second. A bucket in which nothing was counted is a zero: the window
 * was there. */
static int keep_column(struct graph *graph, const struct history *history,
                       uint32_t column, struct graph_series *series,
                       struct failure *failure) {
  long step_s = (long)(history->epoch.width_ns / NS_PER_SECOND);
  size_t count = history->to - history->from;
  if (!graph_can_keep(graph, history) || count == 0)
    return 0;
  double *values = calloc(count, sizeof(*values));
  if (!values)
    return failure_set(failure, -ENOMEM, "out of memory");
  for (size_t i = 0; i < count; i++)
    values[i] = (double)history_row(history, history->from + i)[column] /
                (double)step_s;
  int64_t start_ns = history_edge_real_ns(history, history->from);
  int status = graph_keep(graph, series->new_rrd, step_s,
                          (start_ns + NS_PER_SECOND / 2) / NS_PER_SECOND, count,
                          values, failure);
  free(values);
  return status;
}

/* The hits and misses, and what their ratio is of. */
static bool is_of_stack(const struct bpf_window_counter *counter) {
  return counter->role == BPF_WINDOW_ROLE_HIT ||
         counter->role == BPF_WINDOW_ROLE_MISS ||
         counter->role == BPF_WINDOW_ROLE_TOTAL;
}

static bool wants_element(struct graph *graph, const struct history *history,
                          uint32_t column) {
  char name[SERIES_NAME_SIZE];
  history_column_name(history, column, name);
  return graph_wants(graph, name);
}

int graph_from_history(struct graph *graph, const struct history *history,
                       struct failure *failure) {
  uint32_t column = 0;
  struct window_ratio ratio;
  int status = 0;
  memcpy(graph->window, history->window, sizeof(graph->window));
  if (graph->choice.count == 0 &&
      window_ratio_from_roles(&ratio, &history->epoch))
    graph->kind = GRAPH_STACKED;
  for (uint32_t c = 0; c < history->epoch.counters; c++) {
    const struct bpf_window_counter *counter = &history->epoch.counter[c];
    bool fits = counter->role != BPF_WINDOW_ROLE_LOG2 &&
                (graph->kind != GRAPH_STACKED || is_of_stack(counter));
    bool whole = fits && graph_wants(graph, counter->name);
    for (uint32_t i = 0; i < counter->values; i++, column++) {
      /* Asked in any case: it may have been chosen beside the whole. */
      bool element =
          fits && counter->values > 1 && wants_element(graph, history, column);
      struct graph_series *series =
          (whole || element) && status == 0 ? add_series(graph) : NULL;
      if (!series)
        continue;
      history_column_name(history, column, series->name);
      series->role = (enum bpf_window_role)counter->role;
      status = keep_column(graph, history, column, series, failure);
    }
  }
  if (status == 0)
    status = graph_check_choice(graph, failure);
  if (status == 0 && graph->count == 0)
    status = failure_set(failure, -ESRCH,
                         "window %s has nothing but histograms; draw their "
                         "--percentiles",
                         history->window);
  return status;
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

/* The files of series that the window told. */
static bool find_files(struct graph *graph, const char *folder) {
  static const char *const types[] = {"cache_result", "cache_operation",
                                      "derive"};
  bool found = false;
  for (unsigned i = 0; i < graph->count; i++) {
    struct graph_series *series = &graph->series[i];
    for (int type = 0; type < 3 && !series->old_rrd[0]; type++) {
      snprintf(series->old_rrd, sizeof(series->old_rrd), "%.400s/%s-%s.rrd",
               folder, types[type], series->name);
      if (access(series->old_rrd, R_OK) != 0)
        series->old_rrd[0] = '\0';
    }
    found |= series->old_rrd[0] != '\0';
  }
  return found;
}

/* Whether it is one of an array that was chosen as a whole. */
static bool is_of_chosen_array(struct graph_choice *choice, const char *name) {
  char array[sizeof(((struct graph_series *)0)->name)];
  size_t length = strlen(name);
  while (length > 0 && strchr("0123456789", name[length - 1]))
    length--;
  if (length < 2 || !name[length] || name[length - 1] != '_')
    return false;
  snprintf(array, sizeof(array), "%.*s", (int)length - 1, name);
  return is_chosen(choice, array);
}

/* The name between the type and `.rrd`. */
static void add_file(struct graph *graph, const char *path, const char *type) {
  char name[sizeof(graph->series->name)];
  const char *start = strrchr(path, '/') + 1 + strlen(type) + 1;
  snprintf(name, sizeof(name), "%.*s", (int)(strlen(start) - strlen(".rrd")),
           start);
  bool element = is_of_chosen_array(&graph->choice, name);
  struct graph_series *series =
      graph_wants(graph, name) || element ? add_series(graph) : NULL;
  if (!series)
    return;
  memcpy(series->name, name, sizeof(name));
  /* The files do not tell hits from misses; their names usually do. Nothing tells which
   * is a total: the rate is of hits and misses then. */
  series->role =
      strstr(name, "miss") ? BPF_WINDOW_ROLE_MISS : BPF_WINDOW_ROLE_HIT;
  snprintf(series->old_rrd, sizeof(series->old_rrd), "%s", path);
}

/* Without the window the files say which series there are: results alone if there
 * are any, and nothing else was chosen. */
static void add_files(struct graph *graph, const char *folder) {
  static const char *const types[] = {"cache_result", "cache_operation",
                                      "derive"};
  for (int type = 0; type < 3 && graph->kind != GRAPH_STACKED; type++) {
    char pattern[600];
    glob_t found;
    snprintf(pattern, sizeof(pattern), "%s/%s-*.rrd", folder, types[type]);
    if (glob(pattern, 0, NULL, &found) != 0)
      continue;
    for (size_t i = 0; i < found.gl_pathc; i++)
      if (!strstr(found.gl_pathv[i], "-self_") &&
          !strstr(found.gl_pathv[i], "_ge_"))
        add_file(graph, found.gl_pathv[i], types[type]);
    globfree(&found);
    if (type == 0 && graph->choice.count == 0)
      graph->kind = GRAPH_STACKED;
  }
}

int graph_from_rrds(struct graph *graph, const char *folder,
                    struct failure *failure) {
  if (graph->count > 0)
    return find_files(graph, folder)
               ? 0
               : failure_set(failure, -ENOENT,
                             "the RRDs in %s have none of its counters",
                             folder);
  add_files(graph, folder);
  int status = graph_check_choice(graph, failure);
  if (status == 0 && graph->count == 0)
    status = failure_set(failure, -ENOENT, "no RRDs in %s", folder);
  return status;
}
