/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <getopt.h>
#include <stdio.h>
#include <unistd.h>

#include "cli.h"
#include "object/pins.h"
#include "pin_dir.h"

static const char usage[] =
    "usage: bpf-window check [OPTION...]\n"
    "\n"
    "What this machine offers to BPF programs with windows, what is pinned, "
    "and\n"
    "whether collectd's configuration of the plugin is sound. A line for each: "
    "ok,\n"
    "note (works, but) or PROBLEM with the remedy. To learn which hooks run, "
    "an empty\n"
    "program is attached to each for a moment.\n"
    "\n"
    "  --config FILE     not " CONF_DEFAULT_FILE "\n"
    "  --pin-dir DIR     look for pins below DIR (default: the PinDir of the\n"
    "                    configuration, or " PINS_ROOT ")\n";

int check_main(int argc, char **argv) {
  static const struct option known[] = {
      {"config", required_argument, NULL, 'c'},
      {"pin-dir", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  const char *config = NULL, *pin_dir = NULL;
  int option;
  while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
    switch (option) {
    case 'c':
      config = optarg;
      break;
    case 'p':
      pin_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      return complain_usage("check", NULL);
    }
  }
  if (optind < argc)
    return complain_usage("check", "it takes no arguments");

  struct check check = {0};
  struct conf *conf = NULL;
  struct failure failure;
  bool there = config || access(CONF_DEFAULT_FILE, F_OK) == 0;
  int status = 0;
  if (!config)
    config = CONF_DEFAULT_FILE;
  if (there)
    status = conf_read(&conf, config, &failure);
  pin_dir = pin_dir_of(pin_dir, conf);

  check_machine(&check, pin_dir);
  check_pins(&check, pin_dir);
  if (status != 0)
    check_say(&check, CHECK_PROBLEM, "config", "%s", failure.text);
  else if (conf)
    check_config(&check, conf, config, pin_dir);
  else
    check_say(&check, CHECK_NOTE, "config",
              "there is no " CONF_DEFAULT_FILE "; name another with --config");
  conf_free(&conf);
  return check.problems ? CLI_PROBLEM : CLI_OK;
}
