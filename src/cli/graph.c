/* SPDX-License-Identifier: MIT */
#include "graph.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>
#include <time.h>
#include <unistd.h>

#include "cli.h"
#include "conf.h"
#include "object/pins.h"
#include "source.h"
#include "span_options.h"
#include "window/clock.h"
#include "window/histogram.h"

#define DEFAULT_RRD_DIR "/var/lib/collectd/rrd"
#define DEFAULT_SECONDS 3600

static const char usage[] =
    "usage: bpf-window graph WINDOW -o FILE.png|FILE.svg [OPTION...]\n"
    "\n"
    "Draws a window: hits and misses stacked, the hit rate on the right axis; "
    "else\n"
    "a line for each counter. Old times come from collectd's RRDs, the last "
    "five\n"
    "minutes from the window, by the second; either alone will do. Where there "
    "is\n"
    "neither, there is a gap. Histograms are drawn with --percentiles only.\n"
    "\n"
    "  -o, --output FILE where to; the name ends with .png or .svg; - is "
    "standard\n"
    "                    output, a PNG\n" SPAN_OPTIONS_HELP
    "                    (default: the last hour)\n"
    "  --counter NAME    only this one, as a line; may be given several times, "
    "and be\n"
    "                    like 'hits_*'\n"
    "  --percentiles     p50, p90 and p99 of the histograms, on a logarithmic "
    "axis\n"
    "  --rrd DIR         the RRDs: collectd's DataDir, a host's folder in it, "
    "or the\n"
    "                    window's (default: DataDir of rrdtool in collectd's\n"
    "                    configuration, else " DEFAULT_RRD_DIR ")\n"
    "\n" SOURCE_OPTIONS_HELP;

struct options {
  const char *window, *output, *rrd_dir;
  bool percentiles;
  struct graph_choice choice;
  struct span_options span;
  struct source_options source;
};

/* ---- Sources ---- */

/* Histograms are in no picture of counters. */
static void tell_left_out(const struct history *history) {
  struct histogram histogram;
  uint32_t c = 0;
  if (histogram_next(&history->epoch, &c, &histogram))
    complain("graph", "drawn without histogram %s: --percentiles draws those",
             histogram.name);
}

/* The window as it is on this machine, or -errno. */
static int look_at_window(struct graph *graph, const struct options *options,
                          struct failure *failure) {
  struct source *source = NULL;
  struct history *history = NULL;
  int status = source_open(&source, options->window, &options->source, failure);
  if (status == 0)
    status = source_read(source, &history, failure);
  if (status == 0)
    status =
        (options->percentiles ? graph_percentiles_from_history
                              : graph_from_history)(graph, history, failure);
  if (status == 0 && !options->percentiles && options->choice.count == 0)
    tell_left_out(history);
  history_free(&history);
  source_close(&source);
  return status;
}

/* The folder of the RRDs is in one named like the host. */
static void name_host(struct graph *graph, const char *folder) {
  const char *slash = strrchr(folder, '/');
  const char *end = slash ? slash : folder, *start = end;
  while (start > folder && start[-1] != '/')
    start--;
  if (end > start)
    snprintf(graph->host, sizeof(graph->host), "%.*s", (int)(end - start),
             start);
}

/* Where collectd's configuration has the RRDs, else where Debian's collectd has them;
 * a relative path is below its BaseDir. */
static void default_rrd_dir(char *dir, size_t size) {
  const struct conf *conf = conf_installed();
  const char *configured =
      conf ? conf_plugin_text(conf, "rrdtool", "DataDir") : NULL;
  if (configured) {
    const struct conf_item *base = conf_find(conf_root(conf), "BaseDir");
    snprintf(dir, size, "%s%s%s",
             configured[0] == '/' ? ""
             : base               ? conf_text(base)
                                  : "/var/lib/collectd",
             configured[0] == '/' ? "" : "/", configured);
  } else {
    snprintf(dir, size, "%s", DEFAULT_RRD_DIR);
  }
}

static int look_at_rrds(struct graph *graph, const struct options *options,
                        struct failure *failure) {
  char folder[512], dir[400];
  if (options->rrd_dir)
    snprintf(dir, sizeof(dir), "%s", options->rrd_dir);
  else
    default_rrd_dir(dir, sizeof(dir));
  int status =
      graph_find_folder(dir, graph->window, folder, sizeof(folder), failure);
  if (status == 0)
    status = (options->percentiles ? graph_percentiles_from_rrds
                                   : graph_from_rrds)(graph, folder, failure);
  if (status == 0)
    name_host(graph, folder);
  return status;
}

/* What the picture lacks is told. */
static void tell_lacking(const struct graph *graph) {
  if (graph->no_buckets[0])
    complain("graph", "drawn without the window: %s", graph->no_buckets);
  if (graph->unknown[0])
    complain("graph", "drawn without %s: no RRD has that", graph->unknown);
  if (graph->too_many)
    complain("graph", "drawn without %u more %s: choose with --counter",
             graph->too_many,
             graph->kind == GRAPH_PERCENTILES ? "histograms" : "counters");
}

/* What both sources give. One will do, unless it lacks what was asked for; why the
 * other is missing is told. */
static int gather(struct graph *graph, const struct options *options,
                  struct failure *failure) {
  struct failure no_window, no_rrds;
  snprintf(graph->window, sizeof(graph->window), "%.63s", options->window);
  gethostname(graph->host, sizeof(graph->host) - 1);
  int window_status = look_at_window(graph, options, &no_window);
  if (window_status == -ESRCH)
    return failure_set(failure, -ESRCH, "%s", no_window.text);
  int rrd_status = look_at_rrds(graph, options, &no_rrds);
  if (rrd_status == -ESRCH)
    return failure_set(failure, -ESRCH, "%s", no_rrds.text);
  if (window_status != 0 && rrd_status != 0)
    return failure_set(failure, rrd_status, "%.350s; and %.350s",
                       no_window.text, no_rrds.text);
  if (rrd_status != 0 && options->rrd_dir) /* RRDs were asked for */
    return failure_set(failure, rrd_status, "%s", no_rrds.text);
  int status = graph_settle(graph, failure);
  if (status != 0)
    return status;
  if (window_status != 0)
    complain("graph", "drawn without the window: %s", no_window.text);
  if (rrd_status != 0)
    complain("graph", "drawn without RRDs: %s", no_rrds.text);
  tell_lacking(graph);
  return 0;
}

static int draw(const struct options *options) {
  static struct graph graph;
  struct failure failure;
  int64_t to_ns = (int64_t)time(NULL) * NS_PER_SECOND, from_ns = INT64_MIN;
  int status =
      span_options_times(&options->span, to_ns, &from_ns, &to_ns, "graph");
  if (status != CLI_OK)
    return status;
  graph.to_s = to_ns / NS_PER_SECOND;
  graph.from_s = from_ns == INT64_MIN ? graph.to_s - DEFAULT_SECONDS
                                      : from_ns / NS_PER_SECOND;
  graph.kind = options->percentiles ? GRAPH_PERCENTILES : GRAPH_LINES;
  graph.choice = options->choice;
  status = gather(&graph, options, &failure);
  if (status == 0)
    status = graph_draw(&graph, options->output, &failure);
  graph_forget(&graph);
  if (status != 0) {
    complain("graph", "%s", failure.text);
    return CLI_PROBLEM;
  }
  if (strcmp(options->output, "-") != 0)
    puts(options->output);
  return CLI_OK;
}

/* ---- Options ---- */

static bool is_picture(const char *name) {
  const char *dot = strrchr(name, '.');
  return strcmp(name, "-") == 0 || (dot && (strcasecmp(dot, ".png") == 0 ||
                                            strcasecmp(dot, ".svg") == 0));
}

int graph_main(int argc, char **argv) {
  static const struct option known[] = {
      {"output", required_argument, NULL, 'o'},
      SPAN_OPTIONS,
      {"counter", required_argument, NULL, 'c'},
      {"percentiles", no_argument, NULL, 'p'},
      {"rrd", required_argument, NULL, 'r'},
      SOURCE_OPTIONS,
      {"help", no_argument, NULL, 'h'},
      {0}};
  struct options options = {.source = source_options_default};
  int option;
  while ((option = getopt_long(argc, argv, "ho:", known, NULL)) != -1) {
    switch (option) {
    case 'o':
      options.output = optarg;
      break;
    case 'c':
      if (options.choice.count == GRAPH_MAX_CHOSEN)
        return complain_usage("graph", "--counter: at most %d of them",
                              GRAPH_MAX_CHOSEN);
      options.choice.pattern[options.choice.count++] = optarg;
      break;
    case 'p':
      options.percentiles = true;
      break;
    case 'r':
      options.rrd_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      if (!span_options_take(&options.span, option, optarg) &&
          source_options_take(&options.source, option, optarg, "graph") !=
              CLI_OK)
        return CLI_USAGE;
    }
  }
  if (optind + 1 != argc)
    return complain_usage("graph", "%s",
                          optind < argc
                              ? "one window at a time"
                              : "which window? See `bpf-window list`");
  if (source_check_name(argv[optind], "graph") != CLI_OK)
    return CLI_USAGE;
  if (!options.output || !is_picture(options.output))
    return complain_usage("graph", "where to? -o FILE.png or FILE.svg");
  if (strcmp(options.output, "-") == 0 && isatty(STDOUT_FILENO))
    return complain_usage("graph", "a terminal shows no picture; -o FILE.png");
  options.window = argv[optind];
  int status = span_options_check(&options.span, "graph");
  return status == CLI_OK ? draw(&options) : status;
}
