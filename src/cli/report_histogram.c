/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <inttypes.h>

#include "html.h"
#include "units.h"

/* Slots with events, and those between, with bars. */
static void print_slots(FILE *page, const uint64_t *slots, uint32_t count) {
  uint64_t highest = 1;
  uint32_t first = count, last = 0;
  for (uint32_t i = 0; i < count; i++) {
    if (slots[i] == 0)
      continue;
    first = first == count ? i : first;
    last = i;
    highest = slots[i] > highest ? slots[i] : highest;
  }
  fputs("<table><tr><th class=n>from<th class=n>events<th>\n", page);
  for (uint32_t i = first; i <= last && first < count; i++) {
    char text[UNITS_TEXT];
    fprintf(page, "<tr><td class=n>%s", units_count(histogram_from(i), text));
    fprintf(page,
            "<td class=n>%s<td class=bar><i class=h0 style=\"width:%.1f%%\">"
            "</i>\n",
            units_count(slots[i], text),
            100 * (double)slots[i] / (double)highest);
  }
  fputs("</table>\n", page);
}

void report_histograms(FILE *page, const struct history *history,
                       const uint64_t *sums) {
  struct histogram histogram;
  for (uint32_t c = 0; histogram_next(&history->epoch, &c, &histogram);) {
    static const int percents[] = {50, 90, 99};
    const uint64_t *slots = sums + histogram.first;
    char text[UNITS_TEXT];
    fputs("<h2>", page);
    html_text(page, histogram.name);
    fputs("</h2>\n<div class=tiles>\n", page);
    for (int i = 0; i < 3; i++)
      fprintf(
          page, "<div><b>%s</b><span>p%d</span></div>\n",
          units_magnitude(
              histogram_percentile(slots, histogram.slots, percents[i]), text),
          percents[i]);
    fputs("</div>\n<div class=small>\n", page);
    for (int i = 0; i < 3; i++)
      report_chart_of_percentile(page, history, &histogram, percents[i]);
    fputs("</div>\n", page);
    print_slots(page, slots, histogram.slots);
  }
}
