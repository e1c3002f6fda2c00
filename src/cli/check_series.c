/* SPDX-License-Identifier: MIT */
/* Whether collectd can tell a window's values apart, by the names that the plugin gives
 * them. */
#include <stdio.h>
#include <stdlib.h>

#include "check_parts.h"
#include "window/series.h"

#define MAX_PERCENTILES 16 /* of check_options */

static size_t read_percentiles(const struct conf_item *option,
                               double percentile[MAX_PERCENTILES]) {
  size_t count = 0;
  for (; count < option->values && count < MAX_PERCENTILES; count++)
    percentile[count] = strtod(option->value[count].text, NULL);
  return count;
}

/* Names alone. Returns how many; ratio has room for one more than the block's lines. */
static size_t name_ratios(const struct conf_item *block,
                          const struct bpf_window_epoch *record,
                          struct window_ratio *ratio) {
  const struct conf_item *option = block ? conf_find(block, "DefaultRatio") : 0;
  size_t count = 0;
  if ((!option || conf_truth(option->value)) &&
      window_ratio_from_roles(&ratio[0], record))
    count = 1;
  for (size_t i = 0; block && i < block->children; i++)
    if (conf_is(&block->child[i], "Ratio"))
      snprintf(ratio[count++].name, sizeof(ratio->name), "%.*s",
               (int)sizeof(ratio->name) - 1, conf_text(&block->child[i]));
  return count;
}

void check_series(struct check *check, const struct conf_item *block,
                  const struct conf_item *place, const char *window,
                  const struct bpf_window_epoch *record) {
  double percentile[MAX_PERCENTILES] = {50, 90, 99};
  const struct conf_item *percents = block ? conf_find(block, "Percentile") : 0;
  struct window_ratio *ratio =
      calloc((block ? block->children : 0) + 1, sizeof(*ratio));
  struct series *series = NULL;
  struct failure failure;
  size_t count;
  if (!ratio)
    return;
  struct series_rolling rolling = {ratio, name_ratios(block, record, ratio),
                                   percentile, 3};
  if (percents)
    rolling.percentiles = read_percentiles(percents, percentile);
  if (series_of(record, &rolling, &series, &count, &failure) != 0)
    check_problem(check, place, "window %s: %s", window, failure.text);
  free(series);
  free(ratio);
}
