/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "units.h"

#define SCREEN_COLUMNS 80
#define CLOCK_COLUMNS 8 /* 16:43:12 */
#define RATIO_COLUMNS 7 /* " 100.00" */
#define LEAST_HEADING 4 /* a heading is cut off to this where room is short */

struct table {
  const struct history *history;
  bool has_ratio;
  struct window_ratio ratio;
  int widths[BPF_WINDOW_MAX_VALUES]; /* of the columns, without the blank */
};

static int digits(uint64_t number) {
  return snprintf(NULL, 0, "%" PRIu64, number);
}

/* Sets the widths, headings cut to heading_columns; returns their sum. */
static int lay_out(struct table *table, struct span span, int heading_columns) {
  int sum = CLOCK_COLUMNS + (table->has_ratio ? RATIO_COLUMNS : 0);
  for (uint32_t i = 0; i < table->history->epoch.values; i++) {
    char name[BPF_WINDOW_NAME_SIZE + 8];
    history_column_name(table->history, i, name);
    int width = (int)strlen(name);
    if (width > heading_columns)
      width = heading_columns;
    for (uint64_t bucket = span.from; bucket < span.to; bucket++) {
      int needed = digits(history_row(table->history, bucket)[i]);
      width = needed > width ? needed : width;
    }
    table->widths[i] = width;
    sum += 1 + width;
  }
  return sum;
}

static void print_headings(const struct table *table) {
  printf("\n%-*s", CLOCK_COLUMNS, "time");
  for (uint32_t i = 0; i < table->history->epoch.values; i++) {
    char name[BPF_WINDOW_NAME_SIZE + 8];
    history_column_name(table->history, i, name);
    printf(" %*.*s", table->widths[i], table->widths[i], name);
  }
  printf(table->has_ratio ? "%*s\n" : "\n", RATIO_COLUMNS, "hit %");
}

static void print_bucket(const struct table *table, uint64_t bucket) {
  const struct history *history = table->history;
  const uint64_t *row = history_row(history, bucket);
  char clock[UNITS_TEXT];
  fputs(units_clock(history_edge_real_ns(history, bucket), clock), stdout);
  for (uint32_t i = 0; i < history->epoch.values; i++)
    if (history_counted(history, bucket))
      printf(" %*" PRIu64, table->widths[i], row[i]);
    else
      printf(" %*s", table->widths[i], "-");
  double percent =
      window_ratio_percent(&table->ratio, history->epoch.values, row);
  if (table->has_ratio && percent >= 0)
    printf("%*.2f", RATIO_COLUMNS, percent);
  else if (table->has_ratio)
    printf("%*s", RATIO_COLUMNS, "-");
  putchar('\n');
}

void show_text_per_second(const struct history *history, struct span span) {
  struct table table = {.history = history};
  table.has_ratio = window_ratio_from_roles(&table.ratio, &history->epoch);
  int heading_columns = BPF_WINDOW_NAME_SIZE + 8;
  while (lay_out(&table, span, heading_columns) > SCREEN_COLUMNS &&
         heading_columns > LEAST_HEADING)
    heading_columns--;
  print_headings(&table);
  for (uint64_t bucket = span.from; bucket < span.to; bucket++)
    print_bucket(&table, bucket);
}

/* ---- CSV. Names are identifiers, so nothing needs quotes. ---- */

void show_csv(const struct history *history, struct span span) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES], totals[BPF_WINDOW_MAX_VALUES];
  double seconds = history_span_seconds(history, span);
  history_sum(history, span, sums);
  bool has_totals = history_total_at(history, span.to, totals);
  puts("counter,events,per_second,since_load");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[BPF_WINDOW_NAME_SIZE + 8];
    history_column_name(history, i, name);
    printf("%s,%" PRIu64 ",%.3f,", name, sums[i], (double)sums[i] / seconds);
    if (has_totals)
      printf("%" PRIu64, totals[i]);
    putchar('\n');
  }
}

void show_csv_per_second(const struct history *history, struct span span) {
  printf("since");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[BPF_WINDOW_NAME_SIZE + 8];
    history_column_name(history, i, name);
    printf(",%s", name);
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
