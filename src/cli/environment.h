/* SPDX-License-Identifier: MIT */
/*
 * environment.h - what else matters about the machine when a window is looked
 * at far away: kernel, CPUs, the programs that count and what they cost.
 */
#ifndef BPF_WINDOW_ENVIRONMENT_H
#define BPF_WINDOW_ENVIRONMENT_H

#include <jansson.h>

/*
 * An object of strings, and `programs`, an array of {id, name, hook, runs,
 * ns_per_run} (the last two null unless kernel.bpf_stats_enabled). What cannot
 * be found out is left out. object is the name of the window's pinned object,
 * or empty; ring_id the id of its map.
 */
json_t *environment_json(const char *object, const char *pin_dir,
                         unsigned ring_id);

#endif
