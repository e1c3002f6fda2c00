/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <math.h>
#include <string.h>

#include <curses.h>

#include "units.h"
#include "window/clock.h"
#include "window/histogram.h"

#define MARGIN 9 /* columns left of a chart: its scale */
#define LEAST_LINES 12
#define LEAST_COLUMNS 40
#define NUMBER 14 /* columns of a number in the table */

/* Where things stand, from above. */
struct layout {
  int lines, columns;
  int events_y, events_rows;
  int ratio_y, ratio_rows; /* 0 rows: the window has no ratio */
  int axis_y, table_y, table_rows;
};

static struct layout lay_out(bool has_ratio, uint32_t table_rows) {
  struct layout at = {.lines = LINES, .columns = COLS};
  /* Title, captions, axis, the table's head, keys. */
  int rest = LINES - (has_ratio ? 6 : 5);
  at.table_rows = (int)table_rows;
  if (at.table_rows > rest / 2)
    at.table_rows = rest / 2;
  rest -= at.table_rows;
  at.ratio_rows = has_ratio ? rest / 3 : 0;
  at.events_rows = rest - at.ratio_rows;
  at.events_y = 2;
  at.ratio_y = at.events_y + at.events_rows + 1;
  at.axis_y =
      at.events_y + at.events_rows + (has_ratio ? at.ratio_rows + 1 : 0);
  at.table_y = at.axis_y + 1;
  return at;
}

/* ---- Lines ---- */

static void draw_title(const struct history *all) {
  char text[UNITS_TEXT];
  attron(A_BOLD);
  mvprintw(0, 0, "%s", all->window);
  attroff(A_BOLD);
  mvprintw(0, COLS - 8, "%s", units_clock(all->to_real_ns, text));
}

static void draw_keys(const struct watch_screen *screen) {
  if (screen->notice) {
    attron(A_REVERSE);
    mvaddnstr(LINES - 1, 0, screen->notice, COLS - 1);
    attroff(A_REVERSE);
    return;
  }
  attron(A_DIM);
  mvaddnstr(LINES - 1, 0,
            screen->split ? "q quit   c counters" : "q quit   c split by CPU",
            COLS - 1);
  attroff(A_DIM);
}

static void draw_axis(const struct history *all, const struct layout *at,
                      int columns, unsigned each) {
  char text[UNITS_TEXT];
  int from = MARGIN + (at->columns - MARGIN - columns);
  double width_s = (double)all->epoch.width_ns / 1e9 * each;
  if (columns >= 2 * 8 + 2) /* or the times would run into each other */
    mvprintw(at->axis_y, from, "%s",
             units_clock(history_edge_real_ns(all, all->from), text));
  mvprintw(at->axis_y, at->columns - 8, "%s",
           units_clock(all->to_real_ns, text));
  if (columns > 50) {
    attron(A_DIM);
    mvprintw(at->axis_y, from + columns / 2 - 10, "a column is %.6g s",
             width_s);
    attroff(A_DIM);
  }
}

/* ---- Charts ---- */

static double highest(const struct watch_column *column, int columns) {
  double top = 0;
  for (int c = 0; c < columns; c++)
    top = fmax(top, column[c].events);
  return top;
}

static void draw_scale(int y, int rows, const char *top, const char *bottom) {
  mvprintw(y, 0, "%*.*s", MARGIN - 1, MARGIN - 1, top);
  if (rows > 1)
    mvprintw(y + rows - 1, 0, "%*s", MARGIN - 1, bottom);
}

static bool has_misses(const struct history *all) {
  for (uint32_t c = 0; c < all->epoch.counters; c++)
    if (all->epoch.counter[c].role == BPF_WINDOW_ROLE_MISS)
      return true;
  return false;
}

static void draw_charts(const struct watch_screen *screen,
                        const struct history *all, const struct layout *at) {
  static struct watch_column column[WATCH_MAX_COLUMNS];
  int room = at->columns - MARGIN;
  if (room > WATCH_MAX_COLUMNS)
    room = WATCH_MAX_COLUMNS;
  int columns = watch_columns(all, room, column);
  int x = at->columns - columns;
  double top = highest(column, columns);
  char text[UNITS_TEXT];

  mvaddnstr(at->events_y - 1, 0,
            has_misses(all) ? "events per second, misses on top of hits"
                            : "events per second",
            at->columns - 1);
  draw_scale(at->events_y, at->events_rows, units_short(top, text), "0");
  watch_chart_of_events(screen, at->events_y, x, at->events_rows, columns,
                        column, top);
  if (at->ratio_rows > 0) {
    mvaddnstr(at->ratio_y - 1, 0, "hit rate", at->columns - 1);
    draw_scale(at->ratio_y, at->ratio_rows, "100 %", "0 %");
    watch_chart_of_ratio(screen, at->ratio_y, x, at->ratio_rows, columns,
                         column);
  }
  draw_axis(all, at, columns, watch_buckets_per_column(room));
}

/* ---- Tables ---- */

/* Whether this is the last row and there is more than it; it says so then. */
static bool is_cut(const struct layout *at, int row, uint32_t all) {
  if (row != at->table_rows - 1 || all <= (uint32_t)at->table_rows)
    return false;
  mvprintw(at->table_y + 1 + row, 0, "and %u more", all - (uint32_t)row);
  return true;
}

/* The columns of numbers are of the last second, ten seconds and five minutes, or of
 * the buckets that cover these. */
#define SPANS 3

static uint64_t buckets_of(const struct history *history, int column) {
  static const uint64_t seconds[SPANS] = {1, 10, 300};
  return history_buckets_in(&history->epoch, seconds[column] * NS_PER_SECOND);
}

static struct span last_buckets(const struct history *history, int column) {
  struct span span = history_whole(history);
  uint64_t count = buckets_of(history, column);
  if (span.to - span.from > count)
    span.from = span.to - count;
  return span;
}

static const char *span_heading(const struct history *history, int column,
                                char text[UNITS_TEXT]) {
  double seconds = (double)buckets_of(history, column) *
                   (double)history->epoch.width_ns / 1e9;
  if (column == 0 && seconds == 1)
    snprintf(text, UNITS_TEXT, "last second");
  else if (column == 0)
    snprintf(text, UNITS_TEXT, "last %.6g s", seconds);
  else if (seconds >= 120 && fmod(seconds, 60) == 0)
    snprintf(text, UNITS_TEXT, "%.0f min, per s", seconds / 60);
  else
    snprintf(text, UNITS_TEXT, "%.6g s, per s", seconds);
  return text;
}

/* How many of the numbers fit behind the names. */
static int numbers_that_fit(int columns, int name_columns, int wanted) {
  int fit = (columns - name_columns) / NUMBER;
  return fit < wanted ? fit : wanted;
}

static void draw_head(const struct history *all, const struct layout *at,
                      const char *name, int name_columns, const char *last,
                      int count) {
  char text[UNITS_TEXT];
  attron(A_DIM);
  mvprintw(at->table_y, 0, "%-*.*s", name_columns, name_columns, name);
  for (int i = 0; i < count; i++)
    printw("%*s", NUMBER, i < SPANS ? span_heading(all, i, text) : last);
  attroff(A_DIM);
}

/* A line of the table: a counter's, or a percentile of a histogram. */
struct line {
  char name[SERIES_NAME_SIZE];
  uint32_t first, slots; /* slots 0: a counter */
  double percent;
};

/* Percentiles first: they tell most where room is short. */
static uint32_t table_lines(const struct history *all,
                            struct line line[BPF_WINDOW_MAX_VALUES]) {
  struct histogram histogram;
  uint32_t lines = 0;
  for (uint32_t c = 0; histogram_next(&all->epoch, &c, &histogram);) {
    static const int percents[] = {50, 99};
    for (int i = 0; i < 2; i++) {
      line[lines] = (struct line){.first = histogram.first,
                                  .slots = histogram.slots,
                                  .percent = percents[i]};
      snprintf(line[lines].name, sizeof(line->name), "%s p%d", histogram.name,
               percents[i]);
      lines++;
    }
  }
  for (uint32_t i = 0; i < all->epoch.values; i++) {
    if (history_is_slot(all, i))
      continue;
    line[lines] = (struct line){.first = i};
    history_column_name(all, i, line[lines++].name);
  }
  return lines;
}

/* In the column of a span, of which the sums are given. */
static const char *number(const struct line *line, const uint64_t *sums,
                          double per_seconds, char text[UNITS_TEXT]) {
  if (line->slots)
    return units_magnitude(
        histogram_percentile(sums + line->first, line->slots, line->percent),
        text);
  return per_seconds > 0
             ? units_rate((double)sums[line->first] / per_seconds, text)
             : units_count(sums[line->first], text);
}

static void draw_counters(const struct history *all, const struct layout *at) {
  static struct line line[BPF_WINDOW_MAX_VALUES];
  uint32_t lines = table_lines(all, line);
  int name_columns = at->columns < 80 ? 20 : 24;
  int count = numbers_that_fit(at->columns, name_columns, all->totals ? 4 : 3);
  uint64_t sums[SPANS][BPF_WINDOW_MAX_VALUES];
  double seconds[SPANS];
  for (int i = 0; i < SPANS; i++) {
    struct span span = last_buckets(all, i);
    seconds[i] = history_span_seconds(all, span);
    history_sum(all, span, sums[i]);
  }
  draw_head(all, at, "counter", name_columns, "since load", count);
  for (int row = 0; row < at->table_rows; row++) {
    char text[UNITS_TEXT];
    if (is_cut(at, row, lines))
      return;
    mvprintw(at->table_y + 1 + row, 0, "%-*.*s", name_columns, name_columns - 1,
             line[row].name);
    for (int i = 0; i < count; i++)
      printw("%*s", NUMBER,
             number(&line[row], i == SPANS ? all->totals : sums[i],
                    i == 1 || i == 2 ? seconds[i] : 0, text));
  }
}

static void draw_cpus(const struct history *all, struct history *const *cpu,
                      const struct layout *at) {
  int name_columns = 8;
  int count = numbers_that_fit(at->columns, name_columns, 4);
  draw_head(all, at, "CPU", name_columns, "hit rate", count);
  for (int row = 0; row < at->table_rows; row++) {
    if (is_cut(at, row, all->cpus))
      return;
    mvprintw(at->table_y + 1 + row, 0, "%-*d", name_columns, row);
    for (int i = 0; i < count; i++) {
      char text[UNITS_TEXT];
      struct watch_column summary = watch_summary(
          cpu[row], last_buckets(cpu[row], i < SPANS ? i : SPANS - 1));
      printw("%*s", NUMBER,
             i < SPANS ? units_rate(summary.events, text)
                       : units_percent(summary.percent, text));
    }
  }
}

void watch_draw(const struct watch_screen *screen, const struct history *all,
                struct history *const *cpu) {
  erase();
  if (LINES < LEAST_LINES || COLS < LEAST_COLUMNS) {
    mvaddnstr(0, 0, "This terminal is too small; q quits", COLS);
    refresh();
    return;
  }
  struct window_ratio ratio;
  bool has_ratio = window_ratio_from_roles(&ratio, &all->epoch);
  static struct line line[BPF_WINDOW_MAX_VALUES];
  struct layout at =
      lay_out(has_ratio, screen->split ? all->cpus : table_lines(all, line));
  draw_title(all);
  draw_charts(screen, all, &at);
  if (screen->split)
    draw_cpus(all, cpu, &at);
  else
    draw_counters(all, &at);
  draw_keys(screen);
  refresh();
}
