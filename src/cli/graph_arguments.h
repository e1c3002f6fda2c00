/* SPDX-License-Identifier: MIT */
/*
 * graph_arguments.h - a picture is told to librrd in the words of `rrdtool graph`.
 */
#ifndef BPF_WINDOW_GRAPH_ARGUMENTS_H
#define BPF_WINDOW_GRAPH_ARGUMENTS_H

#include "graph.h"

#define GRAPH_MAX_ARGUMENTS (8 * GRAPH_MAX_SERIES + 64)

struct graph_arguments {
  char *text[GRAPH_MAX_ARGUMENTS];
  int count;
};

void graph_add(struct graph_arguments *arguments, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void graph_forget_arguments(struct graph_arguments *arguments);

/*
 * Defines v0, v1, ..., the values of all series of a settled graph; of a stack also
 * `all`, its height, and `percent`, the hit rate as window_ratio_from_roles() has it:
 * of the totals, or without a total of the hits and misses.
 */
void graph_define(struct graph_arguments *arguments, const struct graph *graph);

#endif
