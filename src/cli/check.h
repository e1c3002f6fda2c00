/* SPDX-License-Identifier: MIT */
/*
 * check.h - the parts of `bpf-window check`, and how they tell what they found:
 * one line each.
 */
#ifndef BPF_WINDOW_CHECK_H
#define BPF_WINDOW_CHECK_H

#include "conf.h"
#include "object/probe.h"
#include "object/probe_hook.h"

enum check_finding {
  CHECK_OK,
  CHECK_NOTE,    /* not as good as it could be; all works */
  CHECK_PROBLEM, /* with the remedy */
};

struct check {
  unsigned problems;
  /* Whether programs run there; unknown where that could not be tried. */
  enum probe_answer hook[PROBE_HOOKS];
};

void check_say(struct check *check, enum check_finding finding,
               const char *subject, const char *format, ...)
    __attribute__((format(printf, 4, 5)));

/* A problem of a configuration: "file:line: Option: " and the text. */
void check_problem(struct check *check, const struct conf_item *item,
                   const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Kernel, file systems, privileges, hooks. */
void check_machine(struct check *check, const char *pin_dir);

/* What is pinned: complete, readable, still attached. */
void check_pins(struct check *check, const char *pin_dir);

/* A configuration of collectd: every <Plugin bpf_window> block in it, and
 * whether what is pinned is configured. */
void check_config(struct check *check, const struct conf *conf,
                  const char *path, const char *pin_dir);

/* Whether the options of the block are known and have sound values. */
bool check_options(struct check *check, const struct conf_item *plugin);

#endif
