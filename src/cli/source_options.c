/* SPDX-License-Identifier: MIT */
#include "source_options.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdbool.h>
#include <stdio.h>

#include "cli.h"
#include "units.h"
#include "window/window.h"

const struct source_options source_options_default = {0};

int source_options_take(struct source_options *options, int option,
                        const char *argument, const char *verb) {
  int64_t width_ns;
  switch (option) {
  case SOURCE_OPTION_PIN_DIR:
    options->pin_dir = argument;
    return CLI_OK;
  case SOURCE_OPTION_WIDTH:
    if (!units_parse_duration(argument, &width_ns))
      return complain_usage(verb, "--width %s: no duration like 1s", argument);
    options->width_ns = (uint64_t)width_ns;
    return CLI_OK;
  case SOURCE_OPTION_TOTAL:
    options->total = argument;
    return CLI_OK;
  case SOURCE_OPTION_HIT:
    options->hit = argument;
    return CLI_OK;
  case SOURCE_OPTION_MISS:
    options->miss = argument;
    return CLI_OK;
  default:
    return complain_usage(verb, NULL);
  }
}

static int no_such_counter(const struct bpf_window_epoch *record,
                           const char *option, const char *pattern,
                           struct failure *failure) {
  char names[400];
  window_counter_names(record, names, sizeof(names));
  return failure_set(failure, -ESRCH, "%s %.60s: the window's counters are %s",
                     option, pattern, names);
}

static int apply(struct bpf_window_epoch *record, const char *option,
                 const char *pattern, enum bpf_window_role role,
                 struct failure *failure) {
  bool found = !pattern;
  for (uint32_t c = 0; pattern && c < record->counters; c++) {
    if (fnmatch(pattern, record->counter[c].name, 0) != 0)
      continue;
    record->counter[c].role = role;
    found = true;
  }
  return found ? 0 : no_such_counter(record, option, pattern, failure);
}

int source_options_apply(const struct source_options *options,
                         struct bpf_window_epoch *record,
                         struct failure *failure) {
  int status =
      apply(record, "--total", options->total, BPF_WINDOW_ROLE_TOTAL, failure);
  if (status == 0)
    status = apply(record, "--hit", options->hit, BPF_WINDOW_ROLE_HIT, failure);
  if (status == 0)
    status =
        apply(record, "--miss", options->miss, BPF_WINDOW_ROLE_MISS, failure);
  return status;
}
