/* SPDX-License-Identifier: MIT */
/*
 * Histograms for people: percentiles, and the slots as a row of bars.
 */
#include <langinfo.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "show.h"
#include "units.h"
#include "window/histogram.h"

#define STEPS 8

/* A bar of 0 (nothing counted) to STEPS (the highest slot). */
static const char *bar(int height) {
  static const char *const blocks[] = {" ", "▁", "▂", "▃", "▄",
                                       "▅", "▆", "▇", "█"};
  static const char *const characters[] = {" ", ".", ".", ":", ":",
                                           "+", "+", "#", "#"};
  bool utf8 = strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
  return (utf8 ? blocks : characters)[height];
}

/* A slot in which anything was counted shows, however little. */
static int height_of(uint64_t events, uint64_t highest) {
  int height = (int)lround((double)events / (double)highest * STEPS);
  return events && !height ? 1 : height;
}

/* From the first slot with events to the last one, with the bounds of both. */
static void print_bars(const uint64_t *slots, uint32_t count) {
  uint32_t first = count, last = 0;
  uint64_t highest = 0;
  char text[UNITS_TEXT];
  for (uint32_t i = 0; i < count; i++) {
    if (slots[i] == 0)
      continue;
    first = first == count ? i : first;
    last = i;
    highest = slots[i] > highest ? slots[i] : highest;
  }
  if (highest == 0)
    return;
  printf("    %s [", units_count(histogram_from(first), text));
  for (uint32_t i = first; i <= last; i++)
    fputs(bar(height_of(slots[i], highest)), stdout);
  if (last + 1 < count)
    printf("] %s\n", units_count(histogram_from(last + 1), text));
  else
    puts("] and more");
}

void show_histograms(const struct history *history, const uint64_t *sums) {
  struct histogram histogram;
  int columns = show_name_columns(history);
  for (uint32_t c = 0, printed = 0;
       histogram_next(&history->epoch, &c, &histogram); printed++) {
    const uint64_t *slots = sums + histogram.first;
    char text[UNITS_TEXT];
    if (printed == 0) {
      putchar('\n');
      show_name("histogram", columns);
      printf(" %14s %10s %10s %10s\n", "events", "p50", "p90", "p99");
    }
    show_name(histogram.name, columns);
    printf(" %14s",
           units_count(histogram_events(slots, histogram.slots), text));
    for (int i = 0; i < SHOW_PERCENTILES; i++)
      printf(" %10s",
             units_magnitude(histogram_percentile(slots, histogram.slots,
                                                  show_percentiles[i]),
                             text));
    putchar('\n');
    print_bars(slots, histogram.slots);
  }
}

const double show_percentiles[SHOW_PERCENTILES] = {50, 90, 99};
