/* SPDX-License-Identifier: MIT */
#include "watch.h"

#include <errno.h>
#include <getopt.h>
#include <langinfo.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include <curses.h>

#include "cli.h"
#include "object/pins.h"
#include "source.h"

static const char usage[] = "usage: bpf-window watch WINDOW [OPTION...]\n"
                            "\n"
                            "The window on the terminal, drawn anew each "
                            "second. Keys: q quits, c splits the\n"
                            "numbers by CPU.\n"
                            "\n"
                            "  --ascii           no Unicode blocks (default "
                            "where the locale is not UTF-8)\n"
                            "\n" SOURCE_OPTIONS_HELP;

/* A bucket is looked at when it is settled and a little more. */
#define BEHIND_EDGE_MS (WINDOW_SETTLE_NS / 1000000 + 20)

static volatile sig_atomic_t ended;

static void end(int signal) { ended = signal; }

/* ---- One picture ---- */

struct picture {
  struct history *all;
  struct history **cpu; /* all->cpus of them, or NULL */
};

static void free_picture(struct picture *picture) {
  for (uint32_t i = 0; picture->cpu && i < picture->all->cpus; i++)
    history_free(&picture->cpu[i]);
  free(picture->cpu);
  history_free(&picture->all);
  picture->cpu = NULL;
}

static int take_picture(struct source *source, bool split,
                        struct picture *picture, struct failure *failure) {
  struct picture next = {NULL, NULL};
  int status = source_take(source, failure);
  if (status != 0)
    return status;
  next.all = source_history(source, HISTORY_ALL_CPUS);
  bool good = next.all != NULL;
  if (good && split) {
    next.cpu = calloc(next.all->cpus, sizeof(*next.cpu));
    good = next.cpu != NULL;
    for (uint32_t i = 0; good && i < next.all->cpus; i++)
      good = (next.cpu[i] = source_history(source, i)) != NULL;
  }
  if (!good) {
    free_picture(&next);
    return failure_set(failure, -ENOMEM, "out of memory");
  }
  free_picture(picture);
  *picture = next;
  return 0;
}

/* ---- The window ---- */

#define ANNOUNCED_SECONDS 10

/* What is watched; an agent that starts anew may make its window anew. */
struct watched {
  const char *name;
  const struct source_options *options;
  struct source *source;
  int announce; /* pictures for which it is still said that it is another */
};

/* Opens what has the name now, unless that is the same. */
static bool open_successor(struct watched *watched) {
  struct source *next = NULL;
  struct failure ignored;
  bool found =
      source_open(&next, watched->name, watched->options, &ignored) == 0 &&
      source_ring_id(next) != source_ring_id(watched->source) &&
      source_take(next, &ignored) == 0;
  if (found) {
    source_close(&watched->source);
    watched->source = next;
  } else {
    source_close(&next);
  }
  return found;
}

/* Follows the name. Returns what is to be said about it, or NULL. */
static const char *follow(struct watched *watched) {
  if (source_life(watched->source) == SOURCE_LIVES) {
    watched->announce -= watched->announce > 0;
  } else if (open_successor(watched)) {
    watched->announce = ANNOUNCED_SECONDS;
  } else {
    watched->announce = 0;
    return "no program counts in this window any more";
  }
  return watched->announce ? "the window was made anew; this is the new one"
                           : NULL;
}

/* ---- The terminal ---- */

static bool locale_has_blocks(void) {
  return strcmp(nl_langinfo(CODESET), "UTF-8") == 0;
}

static void set_up_colours(struct watch_screen *screen) {
  const char *no_color = getenv("NO_COLOR");
  if ((no_color && *no_color) || !has_colors())
    return;
  start_color();
  use_default_colors();
  init_pair(WATCH_PLAIN, -1, -1);
  init_pair(WATCH_HIT, COLOR_BLUE, -1);
  init_pair(WATCH_MISS, COLOR_YELLOW, -1);
  init_pair(WATCH_HIT_OVER_MISS, COLOR_BLUE, COLOR_YELLOW);
  screen->colours = true;
}

/* Milliseconds until the next bucket can be looked at. */
static int wait_ms(void) {
  struct timespec now;
  clock_gettime(CLOCK_REALTIME, &now);
  int past_ms = (int)(now.tv_nsec / 1000000) - (int)BEHIND_EDGE_MS;
  return past_ms < 0 ? -past_ms : 1000 - past_ms;
}

/* Handles a key, or ERR at the end of the wait. Returns whether to look again
 * now. */
static bool handle(int key, struct watch_screen *screen) {
  if (key == 'q' || key == 'Q')
    ended = SIGTERM;
  else if (key == 'c')
    screen->split = !screen->split;
  return key == ERR || key == 'c';
}

static int run(struct watched *watched, struct watch_screen *screen,
               struct failure *failure) {
  struct picture picture = {NULL, NULL};
  int status = take_picture(watched->source, screen->split, &picture, failure);
  while (status == 0 && !ended) {
    watch_draw(screen, picture.all, picture.cpu);
    timeout(wait_ms());
    if (!handle(getch(), screen))
      continue; /* such as a resize: the same picture in another size */
    screen->notice = follow(watched);
    status = take_picture(watched->source, screen->split, &picture, failure);
    if (status == -EAGAIN) {
      screen->notice = "busy: the picture is the last one that could be had";
      screen->split = picture.cpu != NULL;
      status = 0;
    }
  }
  free_picture(&picture);
  return status;
}

static int watch(const char *window, const struct source_options *options,
                 bool ascii) {
  struct watched watched = {.name = window, .options = options};
  struct failure failure;
  if (!isatty(STDIN_FILENO) || !isatty(STDOUT_FILENO)) {
    complain("watch", "this is no terminal; `bpf-window show` prints anywhere");
    return CLI_PROBLEM;
  }
  if (source_open(&watched.source, window, options, &failure) != 0) {
    complain("watch", "%s", failure.text);
    return CLI_PROBLEM;
  }
  SCREEN *terminal = newterm(NULL, stdout, stdin);
  if (!terminal) {
    const char *name = getenv("TERM");
    complain("watch",
             "the terminal type TERM=%s is not known here; set another",
             name ? name : "");
    source_close(&watched.source);
    return CLI_PROBLEM;
  }
  const struct sigaction action = {.sa_handler = end};
  sigaction(SIGINT, &action, NULL);
  sigaction(SIGTERM, &action, NULL);
  sigaction(SIGHUP, &action, NULL);
  struct watch_screen screen = {.blocks = !ascii && locale_has_blocks()};
  set_up_colours(&screen);
  cbreak();
  noecho();
  curs_set(0);
  keypad(stdscr, TRUE);
  int status = run(&watched, &screen, &failure);
  endwin();
  delscreen(terminal);
  source_close(&watched.source);
  if (status != 0)
    complain("watch", "%s", failure.text);
  return status == 0 ? CLI_OK : CLI_PROBLEM;
}

int watch_main(int argc, char **argv) {
  static const struct option known[] = {{"ascii", no_argument, NULL, 'a'},
                                        SOURCE_OPTIONS,
                                        {"help", no_argument, NULL, 'h'},
                                        {0}};
  struct source_options options = source_options_default;
  bool ascii = false;
  int option;
  while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
    switch (option) {
    case 'a':
      ascii = true;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      if (source_options_take(&options, option, optarg, "watch") != CLI_OK)
        return CLI_USAGE;
    }
  }
  if (optind + 1 != argc)
    return complain_usage("watch", "%s",
                          optind < argc
                              ? "one window at a time"
                              : "which window? See `bpf-window list`");
  if (source_check_name(argv[optind], "watch") != CLI_OK)
    return CLI_USAGE;
  return watch(argv[optind], &options, ascii);
}
