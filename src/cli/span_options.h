/* SPDX-License-Identifier: MIT */
/*
 * span_options.h - the options by which a verb is told which time is meant.
 */
#ifndef BPF_WINDOW_SPAN_OPTIONS_H
#define BPF_WINDOW_SPAN_OPTIONS_H

#include "history.h"

/* As they were typed; NULL: not given. */
struct span_options {
  const char *last, *from, *to;
};

enum span_option {
  SPAN_OPTION_LAST = 512, /* behind those of source_options.h */
  SPAN_OPTION_FROM,
  SPAN_OPTION_TO,
};

/* For the table of getopt_long and for the help. */
#define SPAN_OPTIONS                                                           \
  {"last", required_argument, NULL, SPAN_OPTION_LAST},                         \
      {"from", required_argument, NULL, SPAN_OPTION_FROM}, {                   \
    "to", required_argument, NULL, SPAN_OPTION_TO                              \
  }
#define SPAN_OPTIONS_HELP                                                      \
  "  --last DURATION   only the newest part: 90s, 5m, 6h, 30d\n"               \
  "  --from T, --to T  only what lies between: 16:43, 16:43:12, -90s (ago),\n" \
  "                    \"2026-01-31 16:43:12\", @1764433686 (Unix seconds)\n"

/* Whether it was one of these options. */
bool span_options_take(struct span_options *options, int option,
                       const char *argument);

/* All three return CLI_OK, or another status after a complaint. */

/* Whether what was typed makes sense, whatever it is related to. */
int span_options_check(const struct span_options *options, const char *verb);

/* The wall-clock times that are meant if the present, or the end of what is known,
 * is at end_ns. What is not given stays as it is. */
int span_options_times(const struct span_options *options, int64_t end_ns,
                       int64_t *from_ns, int64_t *to_ns, const char *verb);

/* What is meant of a history; never nothing. */
int span_options_choose(const struct span_options *options,
                        const struct history *history, struct span *span,
                        const char *verb);

#endif
