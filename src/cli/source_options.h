/* SPDX-License-Identifier: MIT */
/*
 * source_options.h - the options by which every verb that reads a window finds
 * it and learns what the window does not tell itself.
 */
#ifndef BPF_WINDOW_SOURCE_OPTIONS_H
#define BPF_WINDOW_SOURCE_OPTIONS_H

#include <stdint.h>

#include <bpf_window/layout.h>

#include "pin_dir.h"
#include "window/failure.h"

struct source_options {
  const char *pin_dir; /* the folder of pins; NULL: see pin_dir_for_reading */
  uint64_t width_ns;   /* for windows that do not tell theirs; 0: a second */
  /* Patterns such as "hits_*" of the counters that have a role; NULL: as the
   * window says. */
  const char *total, *hit, *miss;
};

extern const struct source_options source_options_default;

enum source_option {
  SOURCE_OPTION_PIN_DIR = 256, /* behind all characters */
  SOURCE_OPTION_WIDTH,
  SOURCE_OPTION_TOTAL,
  SOURCE_OPTION_HIT,
  SOURCE_OPTION_MISS,
};

/* For the table of getopt_long and for the help. */
#define SOURCE_OPTIONS                                                         \
  {"pin-dir", required_argument, NULL, SOURCE_OPTION_PIN_DIR},                 \
      {"width", required_argument, NULL, SOURCE_OPTION_WIDTH},                 \
      {"total", required_argument, NULL, SOURCE_OPTION_TOTAL},                 \
      {"hit", required_argument, NULL, SOURCE_OPTION_HIT}, {                   \
    "miss", required_argument, NULL, SOURCE_OPTION_MISS                        \
  }
#define SOURCE_OPTIONS_HELP                                                    \
  PIN_DIR_HELP                                                                 \
  "\n"                                                                         \
  "For windows that were made without this project's header:\n"                \
  "  --width DURATION  width of a bucket (default: 1s)\n"                      \
  "  --total COUNTER, --hit COUNTER, --miss COUNTER\n"                         \
  "                    what counters mean; COUNTER may be like 'hits_*'\n"

/* Takes one of these options. Returns CLI_OK, or CLI_USAGE after a complaint
 * (also for an option that is none of them: getopt_long has complained then).
 */
int source_options_take(struct source_options *options, int option,
                        const char *argument, const char *verb);

/* Gives counters the roles of the options. Errors: -ESRCH if no counter is named
 * like that; the text tells the window's counters. */
int source_options_apply(const struct source_options *options,
                         struct bpf_window_epoch *record,
                         struct failure *failure);

#endif
