/* SPDX-License-Identifier: MIT */
/*
 * watch.h - the screen of `bpf-window watch`.
 */
#ifndef BPF_WINDOW_WATCH_H
#define BPF_WINDOW_WATCH_H

#include "history.h"

struct watch_screen {
  bool blocks; /* Unicode blocks; else ASCII */
  bool colours;
  bool split;         /* a line for each CPU instead of for each counter */
  const char *notice; /* shown instead of the keys; NULL: nothing to say */
};

/* The pairs of colours in use. */
enum watch_colour {
  WATCH_PLAIN,
  WATCH_HIT,
  WATCH_MISS,
  WATCH_HIT_OVER_MISS, /* a cell in which the one ends and the other begins */
};

/* Draws all. cpu is an array of the histories of all->cpus CPUs, needed with
 * split; of the same instant as all. */
void watch_draw(const struct watch_screen *screen, const struct history *all,
                struct history *const *cpu);

/* ---- Charts: a column of the screen shows some buckets ---- */

/* What happened in a span. */
struct watch_column {
  bool counted;  /* anything at all */
  double events; /* mean per second, misses among them */
  double misses;
  double percent; /* the ratio; NAN if there is none */
};

#define WATCH_MAX_COLUMNS 1024

struct watch_column watch_summary(const struct history *history,
                                  struct span span);

/* Buckets in each column so that all of them fit into so many columns. */
unsigned watch_buckets_per_column(int columns);

/* Fills the columns, the newest bucket last; returns how many. */
int watch_columns(const struct history *history, int columns,
                  struct watch_column *column);

/* Draws the events with the misses on top of the hits, or the ratio; `top` is
 * the value at the upper edge. */
void watch_chart_of_events(const struct watch_screen *screen, int y, int x,
                           int rows, int columns,
                           const struct watch_column *column, double top);
void watch_chart_of_ratio(const struct watch_screen *screen, int y, int x,
                          int rows, int columns,
                          const struct watch_column *column);

#endif
