/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <math.h>

#include <curses.h>

#define EIGHTHS 8 /* steps of a cell's height */

/* ---- Columns ---- */

struct watch_column watch_summary(const struct history *history,
                                  struct span span) {
  struct window_ratio ratio;
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  double seconds = history_span_seconds(history, span);
  history_sum(history, span, sums);
  window_ratio_from_roles(&ratio, &history->epoch);
  double misses = (double)history_role_sum(history, BPF_WINDOW_ROLE_MISS, sums);
  /* They may be ahead of their totals by what was under way. */
  double events = fmax((double)history_events(&history->epoch, sums), misses);
  return (struct watch_column){
      .counted = history_counted_buckets(history, span) > 0,
      .events = seconds > 0 ? events / seconds : 0,
      .misses = seconds > 0 ? misses / seconds : 0,
      .percent = window_ratio_percent(&ratio, history->epoch.values, sums),
  };
}

unsigned watch_buckets_per_column(int columns) {
  return (WINDOW_HISTORY_BUCKETS + (unsigned)columns - 1) / (unsigned)columns;
}

int watch_columns(const struct history *history, int columns,
                  struct watch_column *column) {
  uint64_t each = watch_buckets_per_column(columns);
  /* Columns begin at multiples of their width, or the chart would flicker while
   * it moves; the newest may be an unfinished one. */
  uint64_t last = (history->to + each - 1) / each;
  uint64_t first = history->from / each;
  if (last - first > (uint64_t)columns)
    first = last - (uint64_t)columns;
  for (uint64_t c = first; c < last; c++) {
    struct span span = {c * each, (c + 1) * each};
    span.from = span.from < history->from ? history->from : span.from;
    span.to = span.to > history->to ? history->to : span.to;
    column[c - first] = watch_summary(history, span);
  }
  return (int)(last - first);
}

/* ---- Cells ---- */

static void put(int y, int x, const struct watch_screen *screen,
                const char *text, enum watch_colour colour) {
  if (screen->colours)
    attron(COLOR_PAIR(colour));
  mvaddstr(y, x, text);
  if (screen->colours)
    attroff(COLOR_PAIR(colour));
}

/* A cell filled from below, 1 to 8 eighths. */
static const char *filled(const struct watch_screen *screen, int eighths) {
  static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█"};
  static const char *const characters[] = {" ", ".", ".", ":", ":",
                                           "+", "+", "#", "#"};
  return (screen->blocks ? blocks : characters)[eighths];
}

static const char *filled_with_misses(const struct watch_screen *screen,
                                      int eighths) {
  if (screen->colours && screen->blocks)
    return filled(screen, eighths);
  return screen->blocks ? "▒" : "o";
}

/* How much of a row, counted from below, a bar of that many eighths fills. */
static int part_of_row(long bar, int row) {
  long part = bar - (long)row * EIGHTHS;
  return part < 0 ? 0 : part > EIGHTHS ? EIGHTHS : (int)part;
}

/* A bar that is not zero shows at least an eighth. */
static long bar_height(double value, double top, int rows) {
  if (!(value > 0) || !(top > 0))
    return 0;
  long height = lround(value / top * rows * EIGHTHS);
  return height < 1 ? 1 : height;
}

/* One cell of a bar whose lower part, the hits, ends at `hits` of its `all`. */
static void draw_cell(const struct watch_screen *screen, int y, int x, int hits,
                      int all) {
  if (all == 0)
    return;
  if (hits == all)
    put(y, x, screen, filled(screen, all), WATCH_HIT);
  else if (hits == 0)
    put(y, x, screen, filled_with_misses(screen, all), WATCH_MISS);
  else if (all == EIGHTHS && screen->colours && screen->blocks)
    put(y, x, screen, filled(screen, hits), WATCH_HIT_OVER_MISS);
  else if (2 * hits >= all)
    put(y, x, screen, filled(screen, all), WATCH_HIT);
  else
    put(y, x, screen, filled_with_misses(screen, all), WATCH_MISS);
}

/* ---- Charts ---- */

/* Columns stand at the right edge; where nothing was counted there is a dot. */
static void draw_bars(const struct watch_screen *screen, int y, int x, int rows,
                      int columns, const long *hits, const long *all,
                      const bool *counted) {
  for (int c = 0; c < columns; c++) {
    if (!counted[c])
      put(y + rows - 1, x + c, screen, screen->blocks ? "·" : "-", WATCH_PLAIN);
    for (int row = 0; counted[c] && row < rows; row++)
      draw_cell(screen, y + rows - 1 - row, x + c, part_of_row(hits[c], row),
                part_of_row(all[c], row));
  }
}

void watch_chart_of_events(const struct watch_screen *screen, int y, int x,
                           int rows, int columns,
                           const struct watch_column *column, double top) {
  long hits[WATCH_MAX_COLUMNS], all[WATCH_MAX_COLUMNS];
  bool counted[WATCH_MAX_COLUMNS];
  for (int c = 0; c < columns; c++) {
    counted[c] = column[c].counted;
    all[c] = bar_height(column[c].events, top, rows);
    hits[c] = bar_height(column[c].events - column[c].misses, top, rows);
  }
  draw_bars(screen, y, x, rows, columns, hits, all, counted);
}

void watch_chart_of_ratio(const struct watch_screen *screen, int y, int x,
                          int rows, int columns,
                          const struct watch_column *column) {
  long all[WATCH_MAX_COLUMNS];
  bool counted[WATCH_MAX_COLUMNS];
  for (int c = 0; c < columns; c++) {
    counted[c] = !isnan(column[c].percent);
    all[c] = bar_height(column[c].percent, 100, rows);
  }
  draw_bars(screen, y, x, rows, columns, all, all, counted);
}
