/* SPDX-License-Identifier: MIT */
#include "show.h"

#include <inttypes.h>
#include <stdio.h>

#include "units.h"

static void print_heading(const struct history *history, struct span span) {
  char from[UNITS_TEXT], to[UNITS_TEXT], zone[UNITS_TEXT];
  printf("%s", history->window);
  if (history->object[0])
    printf(" (object %s)", history->object);
  printf(": %.6g s, %s to %s %s, %u CPU%s\n\n",
         history_span_seconds(history, span),
         units_date(history_edge_real_ns(history, span.from), from),
         units_clock(history_edge_real_ns(history, span.to), to),
         units_zone(history_edge_real_ns(history, span.to), zone),
         history->cpus, history->cpus == 1 ? "" : "s");
}

static void print_counters(const struct history *history, struct span span,
                           const uint64_t *sums) {
  uint64_t totals[BPF_WINDOW_MAX_VALUES];
  bool has_totals = history_total_at(history, span.to, totals);
  double seconds = history_span_seconds(history, span);
  int columns = show_name_columns(history);
  show_name("counter", columns);
  printf(" %14s %12s", "events", "per second");
  printf(has_totals ? " %18s\n" : "\n", "since load");
  for (uint32_t i = 0; i < history->epoch.values; i++) {
    char name[SERIES_NAME_SIZE], text[UNITS_TEXT];
    if (history_is_slot(history, i))
      continue;
    history_column_name(history, i, name);
    show_name(name, columns);
    printf(" %14s", units_count(sums[i], text));
    printf(" %12s", units_rate((double)sums[i] / seconds, text));
    if (has_totals)
      printf(" %18s", units_count(totals[i], text));
    putchar('\n');
  }
}

static void print_ratio(const struct history *history, const uint64_t *sums) {
  struct window_ratio ratio;
  if (!window_ratio_from_roles(&ratio, &history->epoch))
    return;
  char percent[UNITS_TEXT];
  printf(
      "  %-10s %s\n", "hit rate",
      units_percent(window_ratio_percent(&ratio, history->epoch.values, sums),
                    percent));
}

static void print_ledger(const struct history *history, const uint64_t *sums) {
  int64_t drift;
  if (!window_ledger_drift(&history->epoch, sums, &drift))
    return;
  char total[UNITS_TEXT], hits[UNITS_TEXT], misses[UNITS_TEXT];
  printf(
      "  %-10s %s = %s hits + %s misses", "ledger",
      units_count(history_role_sum(history, BPF_WINDOW_ROLE_TOTAL, sums),
                  total),
      units_count(history_role_sum(history, BPF_WINDOW_ROLE_HIT, sums), hits),
      units_count(history_role_sum(history, BPF_WINDOW_ROLE_MISS, sums),
                  misses));
  if (drift)
    printf(", off by %+" PRId64, drift);
  putchar('\n');
}

static void print_data(const struct history *history, struct span span) {
  uint64_t counted = history_counted_buckets(history, span);
  const char *bucket =
      history->epoch.width_ns == BPF_WINDOW_WIDTH_NS ? "seconds" : "buckets";
  printf("  %-10s in %" PRIu64 " of %" PRIu64 " %s%s\n", "data", counted,
         span.to - span.from, bucket,
         counted < span.to - span.from ? "; nothing was counted in the others"
                                       : "");
}

static void print_worst(const struct history *history, struct span span) {
  struct history_worst worst = history_worst(history, span);
  char clock[UNITS_TEXT], number[UNITS_TEXT], events[UNITS_TEXT];
  if (worst.has_ratio)
    printf("  %-10s lowest hit rate at %s: %s of %s events\n", "worst",
           units_clock(history_edge_real_ns(history, worst.lowest_ratio_bucket),
                       clock),
           units_percent(worst.lowest_ratio_percent, number),
           units_count(worst.lowest_ratio_events, events));
  if (worst.has_misses)
    printf("  %-10s most misses at %s: %s\n", worst.has_ratio ? "" : "worst",
           units_clock(history_edge_real_ns(history, worst.most_misses_bucket),
                       clock),
           units_count(worst.most_misses, number));
}

void show_text(const struct history *history, struct span span) {
  uint64_t sums[BPF_WINDOW_MAX_VALUES];
  history_sum(history, span, sums);
  print_heading(history, span);
  print_counters(history, span, sums);
  show_histograms(history, sums);
  putchar('\n');
  print_ratio(history, sums);
  print_ledger(history, sums);
  print_data(history, span);
  print_worst(history, span);
}
