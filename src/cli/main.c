/* SPDX-License-Identifier: MIT */
/*
 * bpf-window - looks into the windows that BPF programs keep in the kernel.
 * See bpf-window(8).
 */
#include <errno.h>
#include <locale.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "object/object.h"

#ifndef BPF_WINDOW_VERSION
#define BPF_WINDOW_VERSION "unknown"
#endif

struct verb {
  const char *name;
  int (*main)(int argc, char **argv);
  const char *summary;
};

static const struct verb verbs[] = {
    {"list", list_main, "every window on this machine, and who has it"},
    {"show", show_main, "totals, rates, ratios, worst seconds of a window"},
    {"watch", watch_main, "the same on the terminal, drawn anew each second"},
    {"report", report_main, "the same as an HTML page to attach to a ticket"},
#ifdef HAVE_LIBRRD
    {"graph", graph_main, "a picture of any time, with collectd's RRDs"},
#endif
    {"check", check_main,
     "what this machine offers; whether a config is sound"},
    {"policy", policy_main,
     "what the rules say of a path; whether changed ones are in force"},
    {"detach", detach_main, "removes what the plugin left pinned"},
};

#define VERBS (sizeof(verbs) / sizeof(*verbs))

static void help(void) {
  puts("usage: bpf-window VERB [OPTION...]\n"
       "\n"
       "The last five minutes of what BPF programs count, second by second.\n");
  for (size_t i = 0; i < VERBS; i++)
    printf("  %-8s %s\n", verbs[i].name, verbs[i].summary);
  puts("\n"
       "`bpf-window VERB --help` or `bpf-window help VERB` tells a verb's "
       "options.\n"
       "Exit status: 0 all well, 1 a problem was found, 2 wrong usage.");
}

static const struct verb *find(const char *name) {
  for (size_t i = 0; i < VERBS; i++)
    if (strcmp(name, verbs[i].name) == 0)
      return &verbs[i];
  return NULL;
}

/* Output that did not arrive (a full disk, say) is a problem, too. */
static int run(const struct verb *verb, int argc, char **argv) {
  char name[64]; /* with which getopt begins its complaints */
  snprintf(name, sizeof(name), "bpf-window: %s", verb->name);
  argv[0] = name;
  int status = verb->main(argc, argv);
  if (fflush(stdout) != 0 || ferror(stdout)) {
    complain(verb->name, "cannot write the output: %s", strerror(errno));
    return CLI_PROBLEM;
  }
  return status;
}

static bool is_help(const char *word) {
  return strcmp(word, "help") == 0 || strcmp(word, "--help") == 0 ||
         strcmp(word, "-h") == 0;
}

int main(int argc, char **argv) {
  setlocale(LC_CTYPE, "");
  object_log_libbpf(NULL);
  if (argc < 2) {
    fputs("bpf-window: a verb is missing (see `bpf-window --help`)\n", stderr);
    return CLI_USAGE;
  }
  if (is_help(argv[1]) && argc == 2) {
    help();
    return CLI_OK;
  }
  static char option[] = "--help";
  if (is_help(argv[1])) { /* `help VERB` is `VERB --help` */
    argv[1] = argv[2];
    argv[2] = option;
    argc = 3;
  }
  if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
    puts("bpf-window " BPF_WINDOW_VERSION);
    return CLI_OK;
  }
  const struct verb *verb = find(argv[1]);
  if (verb)
    return run(verb, argc - 1, argv + 1);
  fprintf(stderr, "bpf-window: no such verb: %s (see `bpf-window --help`)\n",
          argv[1]);
  return CLI_USAGE;
}
