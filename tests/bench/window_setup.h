/* SPDX-License-Identifier: MIT */
/* window_setup.h - what the loader of a window does, in its smallest form. */
#ifndef BENCH_WINDOW_SETUP_H
#define BENCH_WINDOW_SETUP_H

/* Writes the record of the article's six counters, width one second. */
int window_setup(int epoch_fd);

#endif
