/* SPDX-License-Identifier: MIT */
#include "report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "environment.h"
#include "pin_dir.h"
#include "source.h"
#include "span_options.h"
#include "window/clock.h"

static const char usage[] =
    "usage: bpf-window report WINDOW [-o FILE] [OPTION...]\n"
    "\n"
    "Writes the last five minutes of a window as one HTML page to attach to a\n"
    "ticket: charts, the table, what matters of the machine, and the data, "
    "which\n"
    "`bpf-window show --input FILE` reads again.\n"
    "\n"
    "  -o, --output FILE write there; - is standard output\n"
    "                    (default: WINDOW-DATE-TIME.html "
    "here)\n" SPAN_OPTIONS_HELP "\n" SOURCE_OPTIONS_HELP;

static void default_name(const struct history *history, char *name,
                         size_t size) {
  time_t seconds = (time_t)(history->to_real_ns / NS_PER_SECOND);
  struct tm local;
  char date[32] = "";
  if (localtime_r(&seconds, &local))
    strftime(date, sizeof(date), "%Y%m%d-%H%M%S", &local);
  snprintf(name, size, "%s-%s.html", history->window, date);
}

static int write_report(const struct history *history,
                        const json_t *environment, const char *output) {
  char name[128];
  bool standard = output && strcmp(output, "-") == 0;
  if (!output) {
    default_name(history, name, sizeof(name));
    output = name;
  }
  FILE *page = standard ? stdout : fopen(output, "we");
  bool good = page != NULL;
  if (page) {
    report_page(page, history, environment);
    good = fflush(page) == 0 && !ferror(page);
  }
  int cause = errno;
  if (page && !standard && fclose(page) != 0)
    good = false;
  if (!good) {
    complain("report", "cannot write %s: %s", output, strerror(cause));
    return CLI_PROBLEM;
  }
  if (!standard)
    puts(output);
  return CLI_OK;
}

static int report(const char *window, const struct source_options *options,
                  const struct span_options *times, const char *output) {
  struct source *source = NULL;
  struct history *history = NULL;
  struct failure failure;
  struct span span;
  int status = CLI_PROBLEM;
  if (source_open(&source, window, options, &failure) == 0 &&
      source_read(source, &history, &failure) == 0) {
    status = span_options_choose(times, history, &span, "report");
  } else {
    complain("report", "%s", failure.text);
  }
  if (status == CLI_OK) {
    history_cut(history, span);
    json_t *environment =
        environment_json(history->object, pin_dir_for_reading(options->pin_dir),
                         source_ring_id(source));
    status = write_report(history, environment, output);
    json_decref(environment);
  }
  history_free(&history);
  source_close(&source);
  return status;
}

int report_main(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      SPAN_OPTIONS,
      SOURCE_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0}};
  struct source_options options = source_options_default;
  struct span_options times = {NULL, NULL, NULL};
  const char *output = NULL;
  int option;
  while ((option = getopt_long(argc, argv, "ho:", known, NULL)) != -1) {
    switch (option) {
    case 'o':
      output = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      if (!span_options_take(&times, option, optarg) &&
          source_options_take(&options, option, optarg, "report") != CLI_OK)
        return CLI_USAGE;
    }
  }
  if (optind + 1 != argc)
    return complain_usage("report", "%s",
                          optind < argc
                              ? "one window at a time"
                              : "which window? See `bpf-window list`");
  if (source_check_name(argv[optind], "report") != CLI_OK ||
      span_options_check(&times, "report") != CLI_OK)
    return CLI_USAGE;
  return report(argv[optind], &options, &times, output);
}
