/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "cli.h"
#include "object/pins.h"
#include "source.h"
#include "units.h"
#include "window/clock.h"

#define DEFAULT_RRD_DIR "/var/lib/collectd/rrd"

static const char usage[] =
    "usage: bpf-window graph WINDOW -o FILE.png|FILE.svg [OPTION...]\n"
    "\n"
    "Draws a window: hits and misses stacked, the hit rate on the right axis. "
    "Old\n"
    "times come from collectd's RRDs, the last five minutes from the window, "
    "by the\n"
    "second; either alone will do. Where there is neither, there is a gap.\n"
    "\n"
    "  -o, --output FILE where to; the name ends with .png or .svg\n"
    "  --last DURATION   how far back: 5m, 6h, 30d, 1y (default: 1h)\n"
    "  --rrd DIR         the RRDs: collectd's DataDir, a host's folder in it, "
    "or the\n"
    "                    window's (default: " DEFAULT_RRD_DIR ")\n"
    "\n" SOURCE_OPTIONS_HELP;

struct options {
  const char *window, *output, *rrd_dir;
  int64_t last_ns;
  struct source_options source;
};

/* The window as it is on this machine, or -errno. */
static int look_at_window(struct graph *graph, const struct options *options,
                          struct failure *failure) {
  struct source *source = NULL;
  struct history *history = NULL;
  int status = source_open(&source, options->window, &options->source, failure);
  if (status == 0)
    status = source_read(source, &history, failure);
  if (status == 0)
    status = graph_from_history(graph, history, failure);
  history_free(&history);
  source_close(&source);
  return status;
}

/* What both sources give; without a window the RRDs alone, and the reverse. */
static int gather(struct graph *graph, const struct options *options,
                  struct failure *failure) {
  struct failure no_window, no_rrds;
  char folder[512];
  int window_status = look_at_window(graph, options, &no_window);
  const char *name = window_status == 0 ? graph->window : options->window;
  int rrd_status =
      graph_find_folder(options->rrd_dir ? options->rrd_dir : DEFAULT_RRD_DIR,
                        name, folder, sizeof(folder), &no_rrds);
  if (window_status == 0 && rrd_status == 0 && graph_add_rrds(graph, folder))
    return 0;
  if (window_status == 0 && !options->rrd_dir)
    return 0;
  if (window_status == 0) /* RRDs were asked for */
    return failure_set(failure, rrd_status ? rrd_status : -ENOENT, "%s",
                       rrd_status ? no_rrds.text
                                  : "the RRDs have none of its "
                                    "counters");
  if (rrd_status == 0)
    return graph_from_rrds(graph, options->window, folder, failure);
  return failure_set(failure, window_status, "%.350s; and %.350s",
                     no_window.text, no_rrds.text);
}

static int draw(const struct options *options) {
  static struct graph graph;
  struct failure failure;
  time_t now = time(NULL);
  int64_t from = now - options->last_ns / NS_PER_SECOND;
  int status = gather(&graph, options, &failure);
  if (status == 0)
    status = graph_draw(&graph, from, now, options->output, &failure);
  graph_forget(&graph);
  if (status != 0) {
    complain("graph", "%s", failure.text);
    return CLI_PROBLEM;
  }
  puts(options->output);
  return CLI_OK;
}

static bool is_picture(const char *name) {
  const char *dot = strrchr(name, '.');
  return dot && (strcmp(dot, ".png") == 0 || strcmp(dot, ".svg") == 0);
}

int graph_main(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      {"last", required_argument, NULL, 'l'},
      {"rrd", required_argument, NULL, 'r'},
      SOURCE_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0}};
  struct options options = {.last_ns = 3600LL * NS_PER_SECOND,
                            .source = source_options_default};
  int option;
  while ((option = getopt_long(argc, argv, "ho:", known, NULL)) != -1) {
    switch (option) {
    case 'o':
      options.output = optarg;
      break;
    case 'l':
      if (!units_parse_duration(optarg, &options.last_ns))
        return complain_usage("graph", "--last %s: no duration like 6h or 30d",
                              optarg);
      break;
    case 'r':
      options.rrd_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      if (source_options_take(&options.source, option, optarg, "graph") !=
          CLI_OK)
        return CLI_USAGE;
    }
  }
  if (optind + 1 != argc)
    return complain_usage("graph", "%s",
                          optind < argc
                              ? "one window at a time"
                              : "which window? See `bpf-window list`");
  if (!options.output || !is_picture(options.output))
    return complain_usage("graph", "where to? -o FILE.png or FILE.svg");
  options.window = argv[optind];
  return draw(&options);
}
