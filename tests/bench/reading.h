/* SPDX-License-Identifier: MIT */
/*
 * reading.h - what reading one interval costs, in microseconds: our reader, its
 * parts, and the pipeline that the article shows.
 */
#ifndef BENCH_READING_H
#define BENCH_READING_H

#include "series.h"

enum reading {
  READING_INTERVAL, /* snapshot, totals at an edge, sums of the interval */
  READING_SNAPSHOT,
  READING_NEWEST,
  READING_SINGLE,
  READING_ARTICLE,
  READING_SHELL,
  READINGS
};

#define READING_SIZES 6

const char *reading_title(enum reading which);
extern struct series reading[READINGS];

/* Possible CPUs of the machine that a row stands for, and both its costs. */
extern const int reading_size_cpus[READING_SIZES];
extern struct series reading_size_copy[READING_SIZES];
extern struct series reading_size_interval[READING_SIZES];

struct bench_bpf;

/* article is the shell command of the pipeline; NULL leaves it out. */
int reading_rounds(struct bench_bpf *bpf, int rounds, const char *article);

/* The same bytes as that many possible CPUs give, as larger values. */
int reading_size_rounds(int rounds);

#endif
