/* SPDX-License-Identifier: MIT */
/* Where a kernel test finds its objects and keeps its pins. */
#ifndef TESTS_PLACE_H
#define TESTS_PLACE_H

#include <stdbool.h>

/* Path of a test's BPF object, from BUILD_DIR (default: this folder); static. */
const char *place_object(const char *name);

/* A folder for pins of this process alone, on bpffs (which is mounted if need be); NULL
 * where that cannot be had. */
const char *place_pins(void);

/* Removes that folder with all objects in it. */
void place_clear(void);

/* Whether this process may load BPF programs at all; prints why not. Waits until no
 * other test makes marked calls. */
bool place_can_load(void);

/* The same for a test that neither makes nor counts marked calls: it waits for none. */
bool place_can_load_unmarked(void);

/* Makes n prctl calls that marked_calls.bpf.c counts. */
void place_marked_calls(unsigned n);

#endif
