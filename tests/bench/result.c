/* SPDX-License-Identifier: MIT */
#include "result.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>

static FILE *json;
static const char *section, *mode_of_table, *unit_of_table;

/* Titles have no character that JSON would have to escape but these. */
static void quoted(const char *text) {
  fputc('"', json);
  for (; *text; text++) {
    if (*text == '"' || *text == '\\')
      fputc('\\', json);
    if ((unsigned char)*text >= ' ')
      fputc(*text, json);
  }
  fputc('"', json);
}

/* Opens the array of that name if it is not the open one, else sets a comma. */
static void element(const char *name) {
  if (section != name)
    fprintf(json, "%s\n\"%s\": [\n", section ? "\n]," : "", name);
  else
    fputs(",\n", json);
  section = name;
}

static void number(const char *name, double value) {
  if (isfinite(value))
    fprintf(json, ", \"%s\": %.4f", name, value);
}

static void text(const char *name, const char *value) {
  if (value) {
    fprintf(json, ", \"%s\": ", name);
    quoted(value);
  }
}

int result_open(const char *path) {
  json = fopen(path, "w");
  if (!json)
    return -errno;
  fputs("{", json);
  section = NULL;
  return 0;
}

void result_close(void) {
  fputs("\n]}\n", json);
  fclose(json);
}

void result_fact(const char *name, const char *format, ...) {
  static const char facts[] = "machine";
  char value[512];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(value, sizeof(value), format, arguments);
  va_end(arguments);
  printf("%-18s %s\n", name, value);
  element(facts);
  fputs("[", json);
  quoted(name);
  fputs(", ", json);
  quoted(value);
  fputs("]", json);
}

void result_table(const char *mode, const char *title, const char *unit,
                  const char *ratio_title) {
  mode_of_table = mode;
  unit_of_table = unit;
  printf("\n%s, %s\n  %-36s %10s %10s %10s %6s  %s\n", title, unit, "",
         "median", "p10", "p90", "n", ratio_title);
}

void result_row(const struct result_row *row) {
  static const char rows[] = "rows";
  double median = series_quantile(row->series, 0.5);
  double p10 = series_quantile(row->series, 0.1);
  double p90 = series_quantile(row->series, 0.9);
  printf("  %-36s %10.2f %10.2f %10.2f %6d", row->title, median, p10, p90,
         row->series->count);
  if (isfinite(row->ratio))
    printf("  x %.2f", row->ratio);
  if (row->verdict)
    printf("  %s", row->verdict);
  if (isfinite(row->drops))
    printf("  dropped %.4f%%", 100 * row->drops);
  putchar('\n');
  fflush(stdout);

  element(rows);
  fputs("{\"mode\": ", json);
  quoted(mode_of_table);
  text("unit", unit_of_table);
  text("name", row->name);
  text("title", row->title);
  text("family", row->family);
  number("n", row->series->count);
  number("median", median);
  number("p10", p10);
  number("p90", p90);
  number("ratio", row->ratio);
  number("drops", row->drops);
  text("verdict", row->verdict);
  fputs("}", json);
}

void result_proof(const char *title, double value, double bound, int at_least,
                  const char *unit) {
  static const char proofs[] = "proofs";
  int met = at_least ? value >= bound : value <= bound;
  if (section != proofs)
    printf("\nWhat was promised\n");
  printf("  %-60s %8.2f %-3s %s %g  %s\n", title, value, unit,
         at_least ? ">=" : "<=", bound, met ? "met" : "NOT MET");
  element(proofs);
  fputs("{\"title\": ", json);
  quoted(title);
  number("value", value);
  number("bound", bound);
  text("unit", unit);
  text("relation", at_least ? ">=" : "<=");
  text("verdict", met ? "met" : "not met");
  fputs("}", json);
}
