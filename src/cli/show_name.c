/* SPDX-License-Identifier: MIT */
/* The first column of tables: names. */
#include <stdio.h>

#include "show.h"
#include "window/histogram.h"

#define LEAST_COLUMNS 28

int show_length(const char *name) {
  int length = 0;
  for (; *name; name++)
    length += (*name & 0xc0) != 0x80;
  return length;
}

int show_name_columns(const struct history *history) {
  struct histogram histogram;
  int columns = LEAST_COLUMNS;
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[SERIES_NAME_SIZE];
    history_column_name(history, i, name);
    if (!history_is_slot(history, i) && show_length(name) > columns)
      columns = show_length(name);
  }
  for (uint32_t c = 0; histogram_next(&history->epoch, &c, &histogram);)
    if (show_length(histogram.name) > columns)
      columns = show_length(histogram.name);
  return columns;
}

void show_name(const char *name, int columns) {
  printf("  %s%*s", name, columns - show_length(name), "");
}

void show_cut(const char *name, int columns) {
  const char *end = name;
  int length = 0;
  for (; *end && (length < columns || (*end & 0xc0) == 0x80); end++)
    length += (*end & 0xc0) != 0x80;
  printf("%*s%.*s", columns - length, "", (int)(end - name), name);
}
