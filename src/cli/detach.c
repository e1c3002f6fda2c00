/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "object/pins.h"
#include "object/policy.h"
#include "pin_dir.h"

static const char usage[] =
    "usage: bpf-window detach OBJECT|--all [OPTION...]\n"
    "\n"
    "Removes what the plugin left pinned, of one object or of all: programs "
    "that no\n"
    "process holds are detached, and their windows, with what they counted, "
    "are gone.\n"
    "\n"
    "  --all         every object, and what is kept of windows of others\n"
    "  --yes         do not ask, even if the object enforces a policy\n"
    "  --config FILE take PinDir from FILE, not " CONF_DEFAULT_FILE "\n"
    "  --pin-dir DIR look for pins below DIR (default: the PinDir of the\n"
    "                configuration, or " PINS_ROOT ")\n";

struct options {
  const char *object; /* NULL: all */
  char pin_dir[PINS_PATH_SIZE];
  bool yes;
};

struct detachment {
  const struct options *options;
  unsigned removed;
  struct failure failure;
};

/* 0 if the operator wants an object gone that keeps files closed. */
static int ask(const char *object, const struct options *options,
               struct failure *failure) {
  char path[PINS_PATH_SIZE], answer[16];
  if (options->yes ||
      pins_object_path(options->pin_dir, object, POLICY_STATE_MAP, path) != 0 ||
      !policy_is_enforced(path))
    return 0;
  if (!isatty(STDIN_FILENO))
    return failure_set(failure, -ECANCELED,
                       "%s enforces a policy, and nobody can be asked here; "
                       "say --yes to detach it",
                       object);
  printf("%s enforces a policy: files that it denies could be opened again.\n"
         "Detach it? [y/N] ",
         object);
  fflush(stdout);
  if (fgets(answer, sizeof(answer), stdin) &&
      (answer[0] == 'y' || answer[0] == 'Y'))
    return 0;
  return failure_set(failure, -ECANCELED, "%s was left as it is", object);
}

static int detach_object(const char *object, void *context) {
  struct detachment *detachment = context;
  const struct options *options = detachment->options;
  if (options->object && strcmp(options->object, object) != 0)
    return 0;
  struct pins_record record;
  if (!options->object &&
      pins_read_record(options->pin_dir, object, &record, NULL) == -ENOENT) {
    printf("left %s/%s as it is: it has no record, so it is another agent's, "
           "or a crash left it (named, it is removed)\n",
           options->pin_dir, object);
    return 0;
  }
  int status = ask(object, options, &detachment->failure);
  if (status == 0)
    status = pins_remove(options->pin_dir, object, &detachment->failure);
  if (status == 0) {
    printf("detached %s\n", object);
    detachment->removed++;
  }
  return status;
}

static bool nothing_is_wanted(const char *name, void *context) {
  (void)name, (void)context;
  return false;
}

static int detach(const struct options *options) {
  struct detachment detachment = {.options = options};
  struct pins_root *root = NULL;
  /* pins_open would make the folder. */
  int status = pin_dir_readable(options->pin_dir);
  if (status == 0) {
    status = pins_open(&root, options->pin_dir, &detachment.failure);
    if (status == 0)
      status = pins_for_each(options->pin_dir, detach_object, &detachment);
  } else if (status == -ENOENT) {
    status = 0;
  } else {
    pin_dir_unreadable(options->pin_dir, status, &detachment.failure);
  }
  if (status == 0 && root && !options->object)
    pins_forget_watches(root, nothing_is_wanted, NULL);
  if (status == 0)
    rmdir(options->pin_dir); /* if it is empty now */
  pins_close(&root);

  if (status != 0) {
    complain("detach", "%s", detachment.failure.text);
    return CLI_PROBLEM;
  }
  if (detachment.removed == 0 && options->object) {
    complain("detach", "no object %s is pinned below %s", options->object,
             options->pin_dir);
    return CLI_PROBLEM;
  }
  if (detachment.removed == 0)
    printf("No object of the plugin is pinned below %s.\n", options->pin_dir);
  return CLI_OK;
}

int detach_main(int argc, char **argv) {
  static const struct option known[] = {
      {"all", no_argument, NULL, 'a'},
      {"yes", no_argument, NULL, 'y'},
      {"config", required_argument, NULL, 'c'},
      {"pin-dir", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  struct options options = {.object = NULL};
  const char *config = NULL, *pin_dir = NULL;
  bool all = false;
  int option;
  while ((option = getopt_long(argc, argv, "hy", known, NULL)) != -1) {
    switch (option) {
    case 'a':
      all = true;
      break;
    case 'c':
      config = optarg;
      break;
    case 'y':
      options.yes = true;
      break;
    case 'p':
      pin_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      return complain_usage("detach", NULL);
    }
  }
  if (argc - optind != (all ? 0 : 1))
    return complain_usage("detach", "name one object, or say --all");
  options.object = argv[optind];
  struct failure failure;
  if (pin_dir_read(pin_dir, config, options.pin_dir, &failure) == 0)
    return detach(&options);
  complain("detach", "%s", failure.text);
  return CLI_PROBLEM;
}
