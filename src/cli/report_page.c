/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>
#include <stdlib.h>

#include "history_json.h"
#include "html.h"
#include "units.h"

#define MAX_SMALL_CHARTS 48

/* ---- Heading ---- */

static void print_heading(FILE *page, const struct history *history,
                          const json_t *environment) {
  char from[UNITS_TEXT], to[UNITS_TEXT], zone[UNITS_TEXT];
  const char *host = json_string_value(json_object_get(environment, "host"));
  fputs("<header><h1>", page);
  html_text(page, history->window);
  if (host) {
    fputs(" on ", page);
    html_text(page, host);
  }
  fprintf(page, "</h1>\n<p>%s to %s %s, %.6g seconds, %u CPU%s</p></header>\n",
          units_date(history_edge_real_ns(history, history->from), from),
          units_clock(history->to_real_ns, to),
          units_zone(history->to_real_ns, zone),
          history_span_seconds(history, history_whole(history)), history->cpus,
          history->cpus == 1 ? "" : "s");
}

static void print_tile(FILE *page, const char *value, const char *what) {
  fprintf(page, "<div><b>%s</b><span>%s</span></div>\n", value, what);
}

static void print_tiles(FILE *page, const struct history *history,
                        const struct window_ratio *ratio, bool has_ratio,
                        const uint64_t *sums) {
  struct history_worst worst = history_worst(history, history_whole(history));
  char value[UNITS_TEXT], clock[UNITS_TEXT], events[UNITS_TEXT], what[128];
  int64_t drift;
  fputs("<div class=tiles>\n", page);
  if (has_ratio)
    print_tile(
        page,
        units_percent(window_ratio_percent(ratio, history->epoch.values, sums),
                      value),
        "hit rate");
  if (window_ledger_drift(&history->epoch, sums, &drift)) {
    print_tile(
        page,
        units_count(history_role_sum(history, BPF_WINDOW_ROLE_TOTAL, sums),
                    value),
        "events");
    print_tile(
        page,
        units_count(history_role_sum(history, BPF_WINDOW_ROLE_MISS, sums),
                    value),
        "misses");
    snprintf(value, sizeof(value), "%+" PRId64, drift);
    print_tile(page, drift ? value : "0", "ledger drift");
  }
  if (worst.has_ratio) {
    snprintf(
        what, sizeof(what), "lowest hit rate, of %s events, %s",
        units_count(worst.lowest_ratio_events, events),
        units_clock(history_edge_real_ns(history, worst.lowest_ratio_bucket),
                    clock));
    print_tile(page, units_percent(worst.lowest_ratio_percent, value), what);
  }
  if (worst.has_misses) {
    snprintf(
        what, sizeof(what), "most misses, %s",
        units_clock(history_edge_real_ns(history, worst.most_misses_bucket),
                    clock));
    print_tile(page, units_count(worst.most_misses, value), what);
  }
  fputs("</div>\n", page);
}

/* ---- Charts and tables ---- */

static void print_charts(FILE *page, const struct history *history,
                         const struct window_ratio *ratio, bool has_ratio) {
  if (has_ratio) {
    report_chart_of_results(page, history);
    report_chart_of_ratio(page, history, ratio);
  }
  char each[UNITS_TEXT];
  fprintf(page, "<h2>Each counter, %s</h2>\n<div class=small>\n",
          report_in_each(history, each));
  uint32_t charts = 0;
  for (uint32_t i = 0; i < history->epoch.values; i++)
    if (!history_is_slot(history, i) && charts++ < MAX_SMALL_CHARTS)
      report_chart_of_column(page, history, i);
  fputs("</div>\n", page);
  if (charts > MAX_SMALL_CHARTS)
    fprintf(page, "<p>and %u more, in the table\n", charts - MAX_SMALL_CHARTS);
}

static void print_counters(FILE *page, const struct history *history,
                           const uint64_t *sums) {
  double seconds = history_span_seconds(history, history_whole(history));
  fprintf(page,
          "<h2>Counters</h2>\n<table><tr><th>counter<th class=n>events"
          "<th class=n>per second%s\n",
          history->totals ? "<th class=n>since load" : "");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[SERIES_NAME_SIZE], text[UNITS_TEXT];
    if (history_is_slot(history, i))
      continue;
    history_column_name(history, i, name);
    fputs("<tr><td>", page);
    html_text(page, name);
    fprintf(page, "<td class=n>%s", units_count(sums[i], text));
    fprintf(page, "<td class=n>%s",
            units_rate(seconds > 0 ? (double)sums[i] / seconds : 0, text));
    if (history->totals)
      fprintf(page, "<td class=n>%s", units_count(history->totals[i], text));
    fputc('\n', page);
  }
  fprintf(page,
          "</table>\n<p><small>Data in %" PRIu64 " of %" PRIu64
          " %s; in the others nothing was counted.</small></p>\n",
          history_counted_buckets(history, history_whole(history)),
          history->to - history->from,
          history->epoch.width_ns == BPF_WINDOW_WIDTH_NS ? "seconds"
                                                         : "buckets");
}

static void print_programs(FILE *page, const json_t *programs) {
  size_t index;
  const json_t *program;
  if (json_array_size(programs) == 0)
    return;
  fputs("<h2>Programs that count</h2>\n<table><tr><th>program<th>hook"
        "<th class=n>runs<th class=n>ns per run\n",
        page);
  json_array_foreach(programs, index, program) {
    const json_t *runs = json_object_get(program, "runs");
    char text[UNITS_TEXT];
    fputs("<tr><td>", page);
    html_text(page, json_string_value(json_object_get(program, "name")));
    fputs("<td>", page);
    html_text(page, json_string_value(json_object_get(program, "hook")));
    if (json_is_integer(runs)) {
      fprintf(page, "<td class=n>%s",
              units_count((uint64_t)json_integer_value(runs), text));
      fprintf(page, "<td class=n>%.0f\n",
              json_real_value(json_object_get(program, "ns_per_run")));
    } else {
      fputs("<td class=n>-<td class=n>-\n", page);
    }
  }
  fputs("</table>\n<p><small>Runs are counted while the sysctl "
        "kernel.bpf_stats_enabled is 1.</small></p>\n",
        page);
}

static void print_environment(FILE *page, const json_t *environment) {
  const char *key;
  json_t *value;
  fputs("<h2>Machine</h2>\n<table>\n", page);
  json_object_foreach((json_t *)environment, key, value) {
    if (!json_is_string(value))
      continue;
    fputs("<tr><th>", page);
    for (const char *c = key; *c; c++)
      fputc(*c == '_' ? ' ' : *c, page);
    fputs("<td>", page);
    html_text(page, json_string_value(value));
    fputc('\n', page);
  }
  fputs("</table>\n", page);
}

/* ---- The data ---- */

/* In a script element only `<` could end it or begin another. */
static void print_json(FILE *page, const json_t *root) {
  char *text = history_json_text(root, JSON_COMPACT);
  for (const char *c = text; c && *c; c++) {
    if (*c == '<')
      fputs("\\u003c", page);
    else
      fputc(*c, page);
  }
  free(text);
}

void report_page(FILE *page, const struct history *history,
                 const json_t *environment) {
  struct window_ratio ratio;
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  bool has_ratio = window_ratio_from_roles(&ratio, &history->epoch);
  history_sum(history, history_whole(history), sums);

  fputs("<!DOCTYPE html>\n<html lang=en><meta charset=utf-8>\n"
        "<meta name=viewport content=\"width=device-width,initial-scale=1\">\n"
        "<title>",
        page);
  html_text(page, history->window);
  fprintf(page, "</title>\n<style>\n%s</style>\n<body>\n", report_style);
  print_heading(page, history, environment);
  print_tiles(page, history, &ratio, has_ratio, sums);
  print_charts(page, history, &ratio, has_ratio);
  print_counters(page, history, sums);
  report_histograms(page, history, sums);
  print_programs(page, json_object_get(environment, "programs"));
  print_environment(page, environment);

  fputs("<p><small>The data is in this page: <code>bpf-window show --input "
        "FILE</code> reads it.</small></p>\n"
        "<script type=\"application/json\" id=\"" HISTORY_JSON_ELEMENT "\">\n",
        page);
  json_t *root = history_to_json(history, history_whole(history));
  json_object_set(root, "environment", (json_t *)environment);
  print_json(page, root);
  json_decref(root);
  fputs("\n</script>\n</html>\n", page);
}
