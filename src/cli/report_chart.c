/* SPDX-License-Identifier: MIT */
/*
 * Charts as inline SVG: a unit of x is a bucket, a unit of y is an event or a
 * percent. The picture is stretched to its place, so all words stand outside of
 * it, in HTML.
 */
#include "report.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "html.h"
#include "units.h"

#define HEIGHT 1000 /* of every picture in its own units */
#define STACK_COLOURS 4

const char *report_in_each(const struct history *history,
                           char text[UNITS_TEXT]) {
  if (history->epoch.width_ns == BPF_WINDOW_WIDTH_NS)
    snprintf(text, UNITS_TEXT, "in each second");
  else
    snprintf(text, UNITS_TEXT, "in each bucket of %.6g s",
             (double)history->epoch.width_ns / 1e9);
  return text;
}

/* ---- The frame ---- */

/* A round number, not below the value. */
static double round_top(double value) {
  static const double steps[] = {1, 2, 3, 4, 5, 6, 8, 10};
  double power = pow(10, floor(log10(value > 1 ? value : 1)));
  size_t i = 0;
  while (steps[i] * power < value && i + 1 < sizeof(steps) / sizeof(*steps))
    i++;
  return steps[i] * power;
}

static void open_chart(FILE *page, const char *title, const char *note,
                       const char *top) {
  fputs("<figure><figcaption>", page);
  html_text(page, title);
  if (note[0]) {
    fputs(" <small>", page);
    html_text(page, note);
    fputs("</small>", page);
  }
  fprintf(page,
          "</figcaption>\n<div class=plot><div class=y><span>%s</span>"
          "<span>0</span></div>\n",
          top);
}

static void open_picture(FILE *page, const struct history *history,
                         const char *title) {
  fprintf(page,
          "<svg viewBox=\"0 0 %" PRIu64
          " %d\" preserveAspectRatio=none role=img aria-label=\"",
          history->to - history->from, HEIGHT);
  html_text(page, title);
  fprintf(page,
          "\">\n<path class=grid d=\"M0 %dH%" PRIu64 "M0 %dH%" PRIu64 "\"/>\n",
          1, history->to - history->from, HEIGHT / 2,
          history->to - history->from);
}

/* Shades runs of buckets in which nothing was counted. */
static void shade_gaps(FILE *page, const struct history *history) {
  fputs("<path class=gap d=\"", page);
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    uint64_t start = bucket;
    while (bucket < history->to && !history_counted(history, bucket))
      bucket++;
    if (bucket > start)
      fprintf(page, "M%" PRIu64 " 0h%" PRIu64 "v%dh-%" PRIu64 "z",
              start - history->from, bucket - start, HEIGHT, bucket - start);
  }
  fputs("\"/>\n", page);
}

static void close_chart(FILE *page, const struct history *history) {
  fputs("</svg>\n<div class=x>", page);
  for (int quarter = 0; quarter <= 4; quarter++) {
    char clock[UNITS_TEXT];
    uint64_t edge =
        history->from + (history->to - history->from) * (uint64_t)quarter / 4;
    fprintf(page, "<span>%s</span>",
            units_clock(history_edge_real_ns(history, edge), clock));
  }
  fputs("</div></div></figure>\n", page);
}

/* ---- Tooltips: an invisible column for each bucket ---- */

static void add_tooltips(FILE *page, const struct history *history,
                         const struct window_ratio *ratio) {
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    char text[UNITS_TEXT];
    const uint64_t *row = history_row(history, bucket);
    fprintf(page, "<rect class=tip x=%" PRIu64 " width=1 height=%d><title>%s",
            bucket - history->from, HEIGHT,
            units_clock(history_edge_real_ns(history, bucket), text));
    if (!history_counted(history, bucket))
      fputs(" no data", page);
    for (uint32_t i = 0;
         history_counted(history, bucket) && i < history->epoch.values; i++) {
      char name[SERIES_NAME_SIZE];
      if (row[i] == 0 || history_is_slot(history, i))
        continue;
      history_column_name(history, i, name);
      fprintf(page, "\n%s ", units_count(row[i], text));
      html_text(page, name);
    }
    double percent = window_ratio_percent(ratio, history->epoch.values, row);
    if (!isnan(percent))
      fprintf(page, "\nhit rate %s", units_percent(percent, text));
    fputs("</title></rect>\n", page);
  }
}

/* ---- Results, stacked ---- */

struct layer {
  uint32_t column;
  bool miss;
  char colour[8]; /* class: h0 .. h3, m0 .. m3 */
};

/* Hits below, misses above. */
static uint32_t find_layers(const struct history *history,
                            struct layer layers[BPF_WINDOW_MAX_VALUES]) {
  uint32_t count = 0;
  for (int miss = 0; miss <= 1; miss++) {
    uint32_t column = 0, of_kind = 0;
    uint32_t role = miss ? BPF_WINDOW_ROLE_MISS : BPF_WINDOW_ROLE_HIT;
    for (uint32_t c = 0; c < history->epoch.counters; c++) {
      const struct bpf_window_counter *counter = &history->epoch.counter[c];
      for (uint32_t i = 0; i < counter->values; i++, column++) {
        if (counter->role != role)
          continue;
        struct layer *layer = &layers[count++];
        layer->column = column;
        layer->miss = miss;
        snprintf(layer->colour, sizeof(layer->colour), "%c%u", miss ? 'm' : 'h',
                 of_kind++ % STACK_COLOURS);
      }
    }
  }
  return count;
}

static double highest_stack(const struct history *history,
                            const struct layer *layers, uint32_t count) {
  double highest = 0;
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    double sum = 0;
    for (uint32_t l = 0; l < count; l++)
      sum += (double)history_row(history, bucket)[layers[l].column];
    highest = fmax(highest, sum);
  }
  return highest;
}

static void draw_layer(FILE *page, const struct history *history,
                       const struct layer *layers, uint32_t which, double top) {
  fprintf(page, "<path class=%s d=\"", layers[which].colour);
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    const uint64_t *row = history_row(history, bucket);
    double below = 0, height = (double)row[layers[which].column];
    for (uint32_t l = 0; l < which; l++)
      below += (double)row[layers[l].column];
    if (height > 0)
      fprintf(page, "M%" PRIu64 " %.4gh1v%.4gh-1z", bucket - history->from,
              HEIGHT - HEIGHT * (below + height) / top, HEIGHT * height / top);
  }
  fputs("\"/>\n", page);
}

static void print_legend(FILE *page, const struct history *history,
                         const struct layer *layers, uint32_t count) {
  fputs("<p class=legend>", page);
  for (uint32_t l = 0; l < count; l++) {
    char name[SERIES_NAME_SIZE];
    history_column_name(history, layers[l].column, name);
    fprintf(page, "<span><i class=%s></i>", layers[l].colour);
    html_text(page, name);
    fputs("</span> ", page);
  }
  fputs("<span><i class=gap></i>no data</span></p>\n", page);
}

void report_chart_of_results(FILE *page, const struct history *history) {
  static struct layer layers[BPF_WINDOW_MAX_VALUES];
  struct window_ratio ratio;
  uint32_t count = find_layers(history, layers);
  double top = round_top(highest_stack(history, layers, count));
  char top_text[UNITS_TEXT], each[UNITS_TEXT];
  window_ratio_from_roles(&ratio, &history->epoch);
  open_chart(page, "Events by result", report_in_each(history, each),
             units_count((uint64_t)top, top_text));
  open_picture(page, history, "events by result");
  shade_gaps(page, history);
  for (uint32_t l = 0; l < count; l++)
    draw_layer(page, history, layers, l, top);
  add_tooltips(page, history, &ratio);
  close_chart(page, history);
  print_legend(page, history, layers, count);
}

/* ---- Lines ---- */

/* A staircase with a step for each bucket; it breaks where the value is NAN. */
static void draw_steps(FILE *page, const struct history *history,
                       double (*value)(const struct history *history,
                                       uint64_t bucket, const void *context),
                       const void *context, double top, const char *colour) {
  bool drawing = false;
  fprintf(page, "<path class=\"line %s\" d=\"", colour);
  for (uint64_t bucket = history->from; bucket < history->to; bucket++) {
    double height = value(history, bucket, context);
    if (isnan(height)) {
      drawing = false;
      continue;
    }
    double y = HEIGHT - HEIGHT * height / top;
    if (drawing)
      fprintf(page, "V%.4gh1", y);
    else
      fprintf(page, "M%" PRIu64 " %.4gh1", bucket - history->from, y);
    drawing = true;
  }
  fputs("\"/>\n", page);
}

static double ratio_in(const struct history *history, uint64_t bucket,
                       const void *context) {
  return window_ratio_percent(context, history->epoch.values,
                              history_row(history, bucket));
}

void report_chart_of_ratio(FILE *page, const struct history *history,
                           const struct window_ratio *ratio) {
  char each[UNITS_TEXT], note[UNITS_TEXT + 16];
  snprintf(note, sizeof(note), "percent, %s", report_in_each(history, each));
  open_chart(page, "Hit rate", note, "100");
  open_picture(page, history, "hit rate");
  shade_gaps(page, history);
  draw_steps(page, history, ratio_in, ratio, 100, "h0");
  close_chart(page, history);
}

static double count_in(const struct history *history, uint64_t bucket,
                       const void *context) {
  const uint32_t *column = context;
  return history_counted(history, bucket)
             ? (double)history_row(history, bucket)[*column]
             : NAN;
}

void report_chart_of_column(FILE *page, const struct history *history,
                            uint32_t column) {
  char name[SERIES_NAME_SIZE], top_text[UNITS_TEXT];
  double highest = 0;
  for (uint64_t bucket = history->from; bucket < history->to; bucket++)
    highest = fmax(highest, (double)history_row(history, bucket)[column]);
  double top = round_top(highest);
  history_column_name(history, column, name);
  open_chart(page, name, "", units_count((uint64_t)top, top_text));
  open_picture(page, history, name);
  shade_gaps(page, history);
  draw_steps(page, history, count_in, &column, top, "h0");
  close_chart(page, history);
}

struct percentile {
  const struct histogram *histogram;
  double percent;
};

static double percentile_in(const struct history *history, uint64_t bucket,
                            const void *context) {
  const struct percentile *percentile = context;
  return histogram_percentile(
      history_row(history, bucket) + percentile->histogram->first,
      percentile->histogram->slots, percentile->percent);
}

void report_chart_of_percentile(FILE *page, const struct history *history,
                                const struct histogram *histogram,
                                double percent) {
  const struct percentile percentile = {histogram, percent};
  char title[64], top_text[UNITS_TEXT], each[UNITS_TEXT];
  double highest = 0;
  for (uint64_t bucket = history->from; bucket < history->to; bucket++)
    highest = fmax(highest, percentile_in(history, bucket, &percentile));
  double top = round_top(highest);
  snprintf(title, sizeof(title), "p%g", percent);
  open_chart(page, title, report_in_each(history, each),
             units_magnitude(top, top_text));
  open_picture(page, history, title);
  shade_gaps(page, history);
  draw_steps(page, history, percentile_in, &percentile, top, "h0");
  close_chart(page, history);
}
