/* SPDX-License-Identifier: MIT */
/*
 * exits [-n NAME] [-p FOLDER] - an agent that loads its own BPF object and
 * whose feature has a window: it counts processes that end, those of that name
 * or all, and pins the window into the folder, until it gets SIGINT or SIGTERM.
 *
 *   bpf-window show /sys/fs/bpf/exits/exits
 */
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <bpf_window/setup.h>

#include "exits.skel.h"

static int fail(const char *what, int status) {
  fprintf(stderr, "exits: %s: %s\n", what, strerror(-status));
  return 1;
}

int main(int count, char **argument) {
  const char *name = "", *folder = "/sys/fs/bpf/exits";
  int option, signal;
  while ((option = getopt(count, argument, "n:p:")) != -1) {
    if (option == 'n')
      name = optarg;
    else if (option == 'p')
      folder = optarg;
    else
      return 2;
  }
  sigset_t ends; /* blocked from the start, so that none is missed */
  sigemptyset(&ends);
  sigaddset(&ends, SIGINT);
  sigaddset(&ends, SIGTERM);
  sigprocmask(SIG_BLOCK, &ends, NULL);

  struct exits_bpf *agent = exits_bpf__open();
  if (!agent)
    return fail("open", -errno);
  strncpy((char *)agent->rodata->only, name, sizeof(agent->rodata->only) - 1);
  int status = exits_bpf__load(agent);
  if (status != 0)
    return fail("load (are you root?)", status);

  /* The window: ready to count, and where others can find it. */
  status = bpf_window_setup(agent->obj, "exits");
  if (status != 0)
    return fail("window", status);
  bpf_window_unpin("exits", folder); /* left over from a crash */
  status = bpf_window_pin(agent->obj, "exits", folder);
  if (status != 0)
    return fail(folder, status);

  status = exits_bpf__attach(agent);
  if (status == 0) {
    printf("counting, see: bpf-window show %s/exits\n", folder);
    fflush(stdout);
    sigwait(&ends, &signal);
  }
  bpf_window_unpin("exits", folder);
  exits_bpf__destroy(agent);
  return status == 0 ? 0 : fail("attach", status);
}
