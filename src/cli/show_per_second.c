/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "terminal.h"
#include "units.h"
#include "window/histogram.h"

#define CLOCK_COLUMNS 8    /* 16:43:12 */
#define FRACTION_COLUMNS 4 /* .250, for buckets that begin between seconds */
#define RATIO_COLUMNS 7    /* " 100.00" */
#define LEAST_HEADING 4 /* a heading is cut off to this where room is short */

/* A column of the table: a counter, or a percentile of a histogram. */
struct column {
  char above[8]; /* the heading: the percentile, and the name */
  char heading[SERIES_NAME_SIZE];
  uint32_t first, slots; /* slots 0: a counter */
  double percent;
  int width; /* without the blank */
};

struct table {
  const struct history *history;
  bool has_ratio;
  struct window_ratio ratio;
  struct column column[BPF_WINDOW_MAX_VALUES];
  uint32_t columns;
  int clock_columns;
};

/* Room is scarce: of a histogram the half and the worst percent. */
static void add_percentiles(struct table *table,
                            const struct histogram *histogram) {
  static const int percents[] = {50, 99};
  for (int i = 0; i < 2; i++) {
    struct column *column = &table->column[table->columns++];
    *column = (struct column){.first = histogram->first,
                              .slots = histogram->slots,
                              .percent = percents[i]};
    snprintf(column->above, sizeof(column->above), "p%d", percents[i]);
    snprintf(column->heading, sizeof(column->heading), "%s", histogram->name);
  }
}

static void choose_columns(struct table *table) {
  const struct history *history = table->history;
  struct histogram histogram;
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    if (history_is_slot(history, i))
      continue;
    struct column *column = &table->column[table->columns++];
    *column = (struct column){.first = i};
    history_column_name(history, i, column->heading);
  }
  for (uint32_t c = 0; histogram_next(&history->epoch, &c, &histogram);)
    add_percentiles(table, &histogram);
}

static const char *cell(const struct table *table, const struct column *column,
                        uint64_t bucket, char text[UNITS_TEXT]) {
  const uint64_t *values = history_row(table->history, bucket) + column->first;
  double value = column->slots ? histogram_percentile(values, column->slots,
                                                      column->percent)
                               : 0;
  if (!history_counted(table->history, bucket) || isnan(value))
    snprintf(text, UNITS_TEXT, "-");
  else if (column->slots)
    snprintf(text, UNITS_TEXT, value < 100 ? "%.1f" : "%.0f", value);
  else
    snprintf(text, UNITS_TEXT, "%" PRIu64, *values);
  return text;
}

/* Sets the widths, headings cut to heading_columns; returns their sum. */
static int lay_out(struct table *table, struct span span, int heading_columns) {
  int sum = table->clock_columns + (table->has_ratio ? RATIO_COLUMNS : 0);
  for (uint32_t i = 0; i < table->columns; i++) {
    struct column *column = &table->column[i];
    char text[UNITS_TEXT];
    int width = show_length(column->heading);
    if (width > heading_columns)
      width = heading_columns;
    for (uint64_t bucket = span.from; bucket < span.to; bucket++) {
      int needed = (int)strlen(cell(table, column, bucket, text));
      width = needed > width ? needed : width;
    }
    column->width = width;
    sum += 1 + width;
  }
  return sum;
}

/* The percentiles' line; nothing if there are none. */
static void print_above(const struct table *table) {
  if (table->columns == 0 || !table->column[table->columns - 1].slots)
    return;
  printf("\n%-*s", table->clock_columns, "");
  for (uint32_t i = 0; i < table->columns; i++)
    printf(" %*s", table->column[i].width, table->column[i].above);
}

static void print_headings(const struct table *table) {
  print_above(table);
  printf("\n%-*s", table->clock_columns, "time");
  for (uint32_t i = 0; i < table->columns; i++) {
    putchar(' ');
    show_cut(table->column[i].heading, table->column[i].width);
  }
  printf(table->has_ratio ? "%*s\n" : "\n", RATIO_COLUMNS, "hit %");
}

/* To the second; a slewed clock moves edges a little. To the millisecond where there
 * are edges between seconds. */
static void print_clock(const struct table *table, int64_t real_ns) {
  char text[UNITS_TEXT];
  if (table->clock_columns == CLOCK_COLUMNS) {
    fputs(units_clock(real_ns, text), stdout);
    return;
  }
  int64_t ms = (real_ns + 500000) / 1000000;
  printf("%s.%03d", units_clock(ms / 1000 * NS_PER_SECOND, text),
         (int)(ms % 1000));
}

static void print_bucket(const struct table *table, uint64_t bucket) {
  const struct history *history = table->history;
  char text[UNITS_TEXT];
  print_clock(table, history_edge_real_ns(history, bucket));
  for (uint32_t i = 0; i < table->columns; i++)
    printf(" %*s", table->column[i].width,
           cell(table, &table->column[i], bucket, text));
  double percent = window_ratio_percent(&table->ratio, history->epoch.values,
                                        history_row(history, bucket));
  if (table->has_ratio && percent >= 0)
    printf("%*.2f", RATIO_COLUMNS, percent);
  else if (table->has_ratio)
    printf("%*s", RATIO_COLUMNS, "-");
  putchar('\n');
}

/* As wide as the terminal; whole where there is none. */
void show_text_per_second(const struct history *history, struct span span) {
  static struct table table;
  bool whole_seconds = history->epoch.width_ns % NS_PER_SECOND == 0;
  table = (struct table){
      .history = history,
      .clock_columns = CLOCK_COLUMNS + (whole_seconds ? 0 : FRACTION_COLUMNS)};
  table.has_ratio = window_ratio_from_roles(&table.ratio, &history->epoch);
  choose_columns(&table);
  int heading_columns = SERIES_NAME_SIZE;
  int room = terminal_columns();
  while (lay_out(&table, span, heading_columns) > room && room > 0 &&
         heading_columns > LEAST_HEADING)
    heading_columns--;
  print_headings(&table);
  for (uint64_t bucket = span.from; bucket < span.to; bucket++)
    print_bucket(&table, bucket);
}

/* ---- CSV ---- */

/* A counter's name; one from a file may have any characters. */
static void print_name(const char *name) {
  if (!strpbrk(name, ",\"")) {
    fputs(name, stdout);
    return;
  }
  putchar('"');
  for (; *name; name++)
    printf("%s%c", *name == '"' ? "\"" : "", *name);
  putchar('"');
}

/* A line for all slots of a histogram together. */
static void print_histogram(const struct histogram *histogram, double seconds,
                            const uint64_t *sums, const uint64_t *totals) {
  const uint64_t *slots = sums + histogram->first;
  uint64_t events = histogram_events(slots, histogram->slots);
  print_name(histogram->name);
  printf(",%" PRIu64 ",%.3f,", events, (double)events / seconds);
  if (totals)
    printf("%" PRIu64,
           histogram_events(totals + histogram->first, histogram->slots));
  for (int i = 0; i < SHOW_PERCENTILES; i++)
    if (events)
      printf(",%.3f", histogram_percentile(slots, histogram->slots,
                                           show_percentiles[i]));
    else
      putchar(',');
  putchar('\n');
}

void show_csv(const struct history *history, struct span span) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES], totals[BPF_WINDOW_MAX_VALUES];
  double seconds = history_span_seconds(history, span);
  history_sum(history, span, sums);
  bool has_totals = history_total_at(history, span.to, totals);
  struct histogram histogram;
  uint32_t c = 0;
  bool percentiles = histogram_next(&history->epoch, &c, &histogram);
  printf("counter,events,per_second,since_load%s\n",
         percentiles ? ",p50,p90,p99" : "");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[SERIES_NAME_SIZE];
    history_column_name(history, i, name);
    print_name(name);
    printf(",%" PRIu64 ",%.3f,", sums[i], (double)sums[i] / seconds);
    if (has_totals)
      printf("%" PRIu64, totals[i]);
    puts(percentiles ? ",,," : "");
  }
  for (c = 0; histogram_next(&history->epoch, &c, &histogram);)
    print_histogram(&histogram, seconds, sums, has_totals ? totals : NULL);
}

void show_csv_per_second(const struct history *history, struct span span) {
  printf("since");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[SERIES_NAME_SIZE];
    history_column_name(history, i, name);
    putchar(',');
    print_name(name);
  }
  putchar('\n');
  for (uint64_t bucket = span.from; bucket < span.to; bucket++) {
    printf("%.3f", (double)history_edge_real_ns(history, bucket) / 1e9);
    for (uint32_t i = 0; i < history->epoch.values; i++)
      if (history_counted(history, bucket))
        printf(",%" PRIu64, history_row(history, bucket)[i]);
      else
        putchar(',');
    putchar('\n');
  }
}
