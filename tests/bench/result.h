/* SPDX-License-Identifier: MIT */
/*
 * result.h - what a benchmark found: an aligned table for a person, printed at
 * once, and one JSON document from which the plot and the page are made.
 */
#ifndef BENCH_RESULT_H
#define BENCH_RESULT_H

#include "series.h"

struct result_row {
  const char *name, *title, *family;
  const struct series *series;
  double ratio;        /* to what the table says; NAN: none */
  double drops;        /* events lost by a stream; NAN: no stream */
  const char *verdict; /* instead of a number that says nothing, or NULL */
};

/* Opens the JSON document. Returns 0 or -errno. */
int result_open(const char *path);
void result_close(void);

/* One line about the machine or the run. */
void result_fact(const char *name, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Begins a table. ratio_title is the heading of the column of ratios. */
void result_table(const char *mode, const char *title, const char *unit,
                  const char *ratio_title);
void result_row(const struct result_row *row);

/* A promise: value must not be above the bound (or below it, if at_least). */
void result_proof(const char *title, double value, double bound, int at_least,
                  const char *unit);

#endif
