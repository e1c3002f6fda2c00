/* SPDX-License-Identifier: MIT */
#include "span_options.h"

#include "cli.h"
#include "units.h"

bool span_options_take(struct span_options *options, int option,
                       const char *argument) {
  switch (option) {
  case SPAN_OPTION_LAST:
    options->last = argument;
    return true;
  case SPAN_OPTION_FROM:
    options->from = argument;
    return true;
  case SPAN_OPTION_TO:
    options->to = argument;
    return true;
  default:
    return false;
  }
}

static int parse(const struct span_options *options, int64_t end_ns,
                 int64_t *from_ns, int64_t *to_ns, const char *verb) {
  int64_t last_ns;
  if (options->last && (options->from || options->to))
    return complain_usage(verb, "--last and --from or --to exclude each other");
  if (options->last && !units_parse_duration(options->last, &last_ns))
    return complain_usage(verb, "--last %s: no duration like 90s or 5m",
                          options->last);
  if (options->last)
    *from_ns = end_ns - last_ns;
  if (options->from && !units_parse_instant(options->from, end_ns, from_ns))
    return complain_usage(verb, "--from %s: no time like 16:43:12 or -90s",
                          options->from);
  if (options->to && !units_parse_instant(options->to, end_ns, to_ns))
    return complain_usage(verb, "--to %s: no time like 16:43:12 or -90s",
                          options->to);
  return CLI_OK;
}

int span_options_check(const struct span_options *options, const char *verb) {
  int64_t from_ns, to_ns;
  return parse(options, 0, &from_ns, &to_ns, verb);
}

int span_options_times(const struct span_options *options, int64_t end_ns,
                       int64_t *from_ns, int64_t *to_ns, const char *verb) {
  int status = parse(options, end_ns, from_ns, to_ns, verb);
  if (status == CLI_OK && *to_ns <= *from_ns)
    return complain_usage(verb, "--to is not after --from");
  return status;
}

/* Times are relative to the end of the history: it may be from another day. */
int span_options_choose(const struct span_options *options,
                        const struct history *history, struct span *span,
                        const char *verb) {
  int64_t end_ns = history->to_real_ns, from_ns = INT64_MIN, to_ns = end_ns;
  int status = span_options_times(options, end_ns, &from_ns, &to_ns, verb);
  if (status != CLI_OK)
    return status;
  *span = history_between(history, from_ns, to_ns);
  /* Less than a bucket is the newest one. */
  if (options->last && span->from == span->to && history->from < history->to)
    span->from--;
  if (span->from < span->to)
    return CLI_OK;
  if (from_ns < end_ns && to_ns > history_edge_real_ns(history, history->from))
    complain(verb, "its buckets are %.6g s long: none lies in that time",
             (double)history->epoch.width_ns / 1e9);
  else
    complain(verb, "nothing is known of that time: the window has %.9g s",
             history_span_seconds(history, history_whole(history)));
  return CLI_PROBLEM;
}
