/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "history_json.h"
#include "object/pins.h"
#include "show.h"
#include "source.h"
#include "units.h"

static const char usage[] =
    "usage: bpf-window show WINDOW [OPTION...]\n"
    "\n"
    "Totals, rates, ratios and the worst seconds of a window. WINDOW is a "
    "name\n"
    "of `bpf-window list`, OBJECT/WINDOW, id:MAP or the path of a pin.\n"
    "\n"
    "  --last DURATION   only the newest part: 90s, 5m (default: all, 298 s)\n"
    "  --from T, --to T  only what lies between: 16:43, 16:43:12, -90s (ago),\n"
    "                    \"2026-01-31 16:43:12\", @1764433686 (Unix seconds)\n"
    "  --per-second      a line for each second\n"
    "  --json            as JSON; the names are explained in bpf-window(8)\n"
    "  --csv             as CSV; with --per-second a line for each second\n"
    "  --input FILE      not from this machine: from a file that `report` or\n"
    "                    `show --json` wrote; - is standard input\n"
    "\n" SOURCE_OPTIONS_HELP;

enum format { TEXT, JSON, CSV };

struct options {
  const char *window, *input;
  struct source_options source;
  const char *from, *to;
  int64_t last_ns;
  enum format format;
  bool per_second;
};

/* Returns CLI_OK with *done set after --help. */
static int parse(int argc, char **argv, struct options *options, bool *done) {
  static const struct option known[] = {{"last", required_argument, NULL, 'l'},
                                        {"from", required_argument, NULL, 'f'},
                                        {"to", required_argument, NULL, 't'},
                                        {"per-second", no_argument, NULL, 's'},
                                        {"json", no_argument, NULL, 'j'},
                                        {"csv", no_argument, NULL, 'c'},
                                        {"input", required_argument, NULL, 'i'},
                                        SOURCE_OPTIONS,
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};
  *options = (struct options){.source = source_options_default};
  *done = false;
  int option;
  while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
    switch (option) {
    case 'l':
      if (!units_parse_duration(optarg, &options->last_ns))
        return complain_usage("show", "--last %s: no duration like 90s or 5m",
                              optarg);
      break;
    case 'f':
      options->from = optarg;
      break;
    case 't':
      options->to = optarg;
      break;
    case 's':
      options->per_second = true;
      break;
    case 'j':
      options->format = JSON;
      break;
    case 'c':
      options->format = CSV;
      break;
    case 'i':
      options->input = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      *done = true;
      return CLI_OK;
    default:
      if (source_options_take(&options->source, option, optarg, "show") !=
          CLI_OK)
        return CLI_USAGE;
    }
  }
  options->window = argv[optind];
  if (options->last_ns && (options->from || options->to))
    return complain_usage("show",
                          "--last and --from or --to exclude each other");
  if (options->input ? optind < argc : optind + 1 != argc)
    return complain_usage("show", "%s",
                          options->input  ? "--input names the window itself"
                          : optind < argc ? "one window at a time"
                                          : "which window? `bpf-window list`");
  return CLI_OK;
}

static int read_history(const struct options *options, struct history **history,
                        struct failure *failure) {
  if (options->input)
    return source_read_file(options->input, &options->source, history, failure);
  struct source *source = NULL;
  int status = source_open(&source, options->window, &options->source, failure);
  if (status == 0)
    status = source_read(source, history, failure);
  source_close(&source);
  return status;
}

/* Times are relative to the end of the history: it may be from another day. */
static int choose_span(const struct history *history,
                       const struct options *options, struct span *span) {
  int64_t end_ns = history->to_real_ns;
  int64_t from_ns = options->last_ns ? end_ns - options->last_ns : INT64_MIN;
  int64_t to_ns = end_ns;
  if (options->from && !units_parse_instant(options->from, end_ns, &from_ns))
    return complain_usage("show", "--from %s: no time like 16:43:12 or -90s",
                          options->from);
  if (options->to && !units_parse_instant(options->to, end_ns, &to_ns))
    return complain_usage("show", "--to %s: no time like 16:43:12 or -90s",
                          options->to);
  if (to_ns <= from_ns)
    return complain_usage("show", "--to is not after --from");
  *span = history_between(history, from_ns, to_ns);
  return CLI_OK;
}

static void print(const struct history *history, struct span span,
                  const struct options *options) {
  if (options->format == JSON) {
    json_t *root = history_to_json(history, span);
    history_json_print(root, stdout);
    json_decref(root);
  } else if (options->format == CSV) {
    (options->per_second ? show_csv_per_second : show_csv)(history, span);
  } else {
    show_text(history, span);
    if (options->per_second)
      show_text_per_second(history, span);
  }
}

int show_main(int argc, char **argv) {
  struct options options;
  bool done;
  int status = parse(argc, argv, &options, &done);
  if (status != CLI_OK || done)
    return status;

  struct failure failure;
  struct history *history = NULL;
  if (read_history(&options, &history, &failure) != 0) {
    complain("show", "%s", failure.text);
    return CLI_PROBLEM;
  }
  struct span span = {0, 0};
  status = choose_span(history, &options, &span);
  if (status == CLI_OK && span.from == span.to) {
    complain("show", "nothing is known of that time: the window has %.0f s",
             history_span_seconds(history, history_whole(history)));
    status = CLI_PROBLEM;
  }
  if (status == CLI_OK)
    print(history, span, &options);
  history_free(&history);
  return status;
}
