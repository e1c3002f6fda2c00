/* SPDX-License-Identifier: MIT */
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>

#include "cli.h"
#include "history_json.h"
#include "show.h"
#include "source.h"
#include "units.h"

static const char usage[] =
    "usage: bpf-window show WINDOW [OPTION...]\n"
    "\n"
    "Totals, rates, ratios and the worst seconds of a window. WINDOW is a name "
    "as\n"
    "`bpf-window list` prints it, OBJECT/WINDOW, or the path of a pin.\n"
    "\n"
    "  --last DURATION   only the newest part: 90s, 5m (default: all, 298 s)\n"
    "  --json            as JSON; the names are explained in bpf-window(8)\n"
    "  --pin-dir DIR     look for pins below DIR, not " PINS_ROOT "\n";

struct options {
  const char *window, *pin_dir;
  int64_t last_ns;
  bool json;
};

/* Returns CLI_OK, or with *done set the status to exit with. */
static int parse(int argc, char **argv, struct options *options, bool *done) {
  enum { LAST, JSON, PIN_DIR, HELP };
  static const struct option known[] = {
      {"last", required_argument, NULL, LAST},
      {"json", no_argument, NULL, JSON},
      {"pin-dir", required_argument, NULL, PIN_DIR},
      {"help", no_argument, NULL, HELP},
      {0}};
  *options = (struct options){.pin_dir = PINS_ROOT};
  *done = true;
  int option;
  while ((option = getopt_long(argc, argv, "", known, NULL)) != -1) {
    switch (option) {
    case LAST:
      if (!units_parse_duration(optarg, &options->last_ns))
        return complain_usage(
            "show", "--last %s: not a duration like 90s or 5m", optarg);
      break;
    case JSON:
      options->json = true;
      break;
    case PIN_DIR:
      options->pin_dir = optarg;
      break;
    case HELP:
      fputs(usage, stdout);
      return CLI_OK;
    default:
      return complain_usage("show", NULL);
    }
  }
  if (optind + 1 != argc)
    return complain_usage(
        "show", "%s", optind < argc ? "one window at a time" : "which window?");
  options->window = argv[optind];
  *done = false;
  return CLI_OK;
}

static int print(const struct history *history, const struct options *options) {
  struct span span = history_whole(history);
  if (options->last_ns)
    span = history_between(history, history->to_real_ns - options->last_ns,
                           history->to_real_ns);
  if (!options->json) {
    show_text(history, span);
    return CLI_OK;
  }
  json_t *root = history_to_json(history, span);
  history_json_print(root, stdout);
  json_decref(root);
  return CLI_OK;
}

int show_main(int argc, char **argv) {
  struct options options;
  bool done;
  int status = parse(argc, argv, &options, &done);
  if (done)
    return status;
  struct failure failure;
  struct source *source = NULL;
  struct history *history = NULL;
  if (source_open(&source, options.window, options.pin_dir, &failure) == 0 &&
      source_read(source, &history, &failure) == 0)
    status = print(history, &options);
  else {
    complain("show", "%s", failure.text);
    status = CLI_PROBLEM;
  }
  history_free(&history);
  source_close(&source);
  return status;
}
