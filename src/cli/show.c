/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "history_json.h"
#include "object/pins.h"
#include "show.h"
#include "source.h"
#include "span_options.h"

static const char usage[] =
    "usage: bpf-window show WINDOW [OPTION...]\n"
    "\n"
    "Totals, rates, ratios and the worst seconds of a window. WINDOW is a "
    "name\n"
    "of `bpf-window list`, OBJECT/WINDOW, id:MAP or the path of a pin.\n"
    "\n" SPAN_OPTIONS_HELP "  --per-second      a line for each second\n"
    "  --json            as JSON; the names are explained in bpf-window(8)\n"
    "  --csv             as CSV; with --per-second a line for each second\n"
    "  --input FILE      not from this machine: from a file that `report` or\n"
    "                    `show --json` wrote; - is standard input\n"
    "\n" SOURCE_OPTIONS_HELP;

struct options {
  const char *window, *input;
  struct source_options source;
  struct span_options span;
  bool per_second, json, csv;
};

/* Returns CLI_OK with *done set after --help. */
static int parse(int argc, char **argv, struct options *options, bool *done) {
  static const struct option known[] = {SPAN_OPTIONS,
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
    case 's':
      options->per_second = true;
      break;
    case 'j':
      options->json = true;
      break;
    case 'c':
      options->csv = true;
      break;
    case 'i':
      options->input = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      *done = true;
      return CLI_OK;
    default:
      if (!span_options_take(&options->span, option, optarg) &&
          source_options_take(&options->source, option, optarg, "show") !=
              CLI_OK)
        return CLI_USAGE;
    }
  }
  options->window = argv[optind];
  if (options->json && (options->csv || options->per_second))
    return complain_usage("show", "--json excludes --csv and --per-second: it "
                                  "has the seconds in any case");
  if (options->input ? optind < argc : optind + 1 != argc)
    return complain_usage("show", "%s",
                          options->input  ? "--input names the window itself"
                          : optind < argc ? "one window at a time"
                                          : "which window? `bpf-window list`");
  int status = source_check_name(options->window, "show");
  return status == CLI_OK ? span_options_check(&options->span, "show") : status;
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

static void print(const struct history *history, struct span span,
                  const struct options *options) {
  if (options->json) {
    json_t *root = history_to_json(history, span);
    history_json_print(root, stdout);
    json_decref(root);
  } else if (options->csv) {
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
  status = span_options_choose(&options.span, history, &span, "show");
  if (status == CLI_OK)
    print(history, span, &options);
  history_free(&history);
  return status;
}
