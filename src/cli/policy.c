/* SPDX-License-Identifier: MIT */
#include "policy.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <string.h>

#include "cli.h"
#include "object/pins.h"
#include "units.h"

static const char usage[] =
    "usage: bpf-window policy test PATH [OBJECT] [OPTION...]\n"
    "       bpf-window policy reload [OBJECT] [OPTION...]\n"
    "\n"
    "test says what the rules in force make of a path, or, with --config or "
    "--file,\n"
    "those of a file. Status 0: no rule denies it; 1: one does, whether or not "
    "that\n"
    "is enforced; 3: that cannot be told.\n"
    "reload checks the rules of the configuration, then waits until collectd "
    "has put\n"
    "them in force, which it does by itself at its next interval.\n"
    "\n"
    "  --config FILE      test the rules of a configuration of collectd; "
    "reload\n"
    "                     those of another one than " CONF_DEFAULT_FILE "\n"
    "  --file FILE        test the rules of a PolicyFile\n"
    "  --timeout DURATION how long reload waits (default: 30s)\n"
    "  --pin-dir DIR      look for pins below DIR (default: the PinDir of the\n"
    "                     configuration, or " PINS_ROOT ")\n";

/* ---- What the actions share ---- */

static bool is_object(const struct conf_item *item, const char *name) {
  return item->block && conf_is(item, "Object") && item->values > 0 &&
         (!name || strcmp(conf_text(item), name) == 0);
}

static int visit_object(const struct conf_item *object,
                        int (*visit)(const char *, const struct conf_item *,
                                     void *),
                        void *context) {
  const struct conf_item *policy = conf_find(object, "Policy");
  return policy && policy->block ? visit(conf_text(object), policy, context)
                                 : 0;
}

int policy_for_each(const struct conf *conf, const char *object,
                    int (*visit)(const char *object,
                                 const struct conf_item *policy, void *context),
                    void *context) {
  const struct conf_item *root = conf_root(conf);
  int status = 0;
  for (size_t i = 0; status == 0 && i < root->children; i++) {
    const struct conf_item *plugin = &root->child[i];
    if (!plugin->block || !conf_is_ours(plugin, "Plugin"))
      continue;
    for (size_t o = 0; status == 0 && o < plugin->children; o++)
      if (is_object(&plugin->child[o], object))
        status = visit_object(&plugin->child[o], visit, context);
  }
  return status;
}

int policy_of_block(const struct conf_item *block, struct policy **policy,
                    struct failure *failure) {
  if (policy_new(policy) != 0)
    return failure_set(failure, -ENOMEM, "out of memory");
  int status = 0;
  for (size_t i = 0; status == 0 && i < block->children; i++)
    status = conf_policy_add(*policy, &block->child[i], failure);
  if (status != 0)
    policy_free(policy);
  return status;
}

int policy_of_pins(const char *pin_dir, const char *object,
                   struct policy_in_force *in_force, struct failure *failure) {
  char rules[PINS_PATH_SIZE], state[PINS_PATH_SIZE];
  if (pins_object_path(pin_dir, object, POLICY_MAP, rules) != 0 ||
      pins_object_path(pin_dir, object, POLICY_STATE_MAP, state) != 0)
    return failure_set(failure, -ENAMETOOLONG, "%s/%s: path too long", pin_dir,
                       object);
  return policy_read_pinned(rules, state, in_force, failure);
}

/* ---- The verb ---- */

static int run(const struct policy_options *options, int count,
               char **arguments) {
  if (count == 0)
    return complain_usage("policy", "say `test` or `reload`");
  if (strcmp(arguments[0], "test") == 0) {
    if (count < 2 || count > 3)
      return complain_usage("policy",
                            "test takes a path, and perhaps an object");
    if (options->config && options->file)
      return complain_usage("policy", "--config or --file, not both");
    return policy_test(options, arguments[1], arguments[2]);
  }
  if (strcmp(arguments[0], "reload") == 0) {
    if (count > 2)
      return complain_usage("policy", "one object at a time, or none for all");
    if (options->file)
      return complain_usage("policy",
                            "reload takes the files of the configuration");
    return policy_reload(options, arguments[1]);
  }
  return complain_usage("policy", "no such action: %s", arguments[0]);
}

int policy_main(int argc, char **argv) {
  static const struct option known[] = {
      {"config", required_argument, NULL, 'c'},
      {"file", required_argument, NULL, 'f'},
      {"timeout", required_argument, NULL, 't'},
      {"pin-dir", required_argument, NULL, 'p'},
      {"help", no_argument, NULL, 'h'},
      {0}};
  struct policy_options options = {.timeout_ns = 30000000000LL};
  int option;
  while ((option = getopt_long(argc, argv, "h", known, NULL)) != -1) {
    switch (option) {
    case 'c':
      options.config = optarg;
      break;
    case 'f':
      options.file = optarg;
      break;
    case 't':
      if (!units_parse_duration(optarg, &options.timeout_ns))
        return complain_usage("policy", "--timeout %s: no duration like 30s",
                              optarg);
      break;
    case 'p':
      options.pin_dir = optarg;
      break;
    case 'h':
      fputs(usage, stdout);
      return CLI_OK;
    default:
      return complain_usage("policy", NULL);
    }
  }
  return run(&options, argc - optind, argv + optind);
}
