/* SPDX-License-Identifier: MIT */
/*
 * health.h - looks after an object at every interval: mends its pins, reads its
 * rules again when their file has changed, and dispatches what the object
 * costs:
 *
 *   plugin bpf_window, plugin instance: the object
 *     count-self_programs           programs attached
 *     memory-self_maps              bytes of its windows' maps
 *     gauge-self_front_<front>      1: the front in use
 *     derive-self_runs              runs, while the kernel counts them
 *     derive-self_run_ns            their time (both: Statistics)
 *     derive-self_recursion_misses  runs that the kernel left out
 *
 * The last three where the kernel lets collectd look (CAP_SYS_ADMIN).
 */
#ifndef BPF_WINDOW_HEALTH_H
#define BPF_WINDOW_HEALTH_H

#include "config.h"
#include "object/object.h"

/* Registers a read callback; object and config must live as long as collectd
 * reads. */
int health_start(struct object *object, const struct config_object *config,
                 struct failure *failure);

#endif
