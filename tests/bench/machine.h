/* SPDX-License-Identifier: MIT */
/* machine.h - on what the numbers were taken. */
#ifndef BENCH_MACHINE_H
#define BENCH_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

#define MACHINE_MAX_CPUS 1024

/* Prints and records the facts that the numbers depend on. */
void machine_report(void);

/* Length of a jiffy. */
uint64_t machine_tick_ns(void);

/* CLOCK_MONOTONIC. */
uint64_t machine_now_ns(void);

/* Notes which CPUs this process may use; before any thread is pinned. */
void machine_init(void);

/* Lets nothing that is not real-time take the CPU away from this process and
 * its threads to come, if that is permitted; false if not. Undone for a thread
 * that is to run as others do. */
bool machine_take_priority(void);
void machine_give_up_priority(void);

/* Those CPUs; returns their number. */
int machine_cpus(int cpus[MACHINE_MAX_CPUS]);

/* Puts the calling thread on one CPU, and back on all that it may use. */
void machine_pin(int cpu);
void machine_unpin(void);

/* How often the kernel took the CPU away from this thread. A measurement during
 * which this grew tells of other processes. */
long machine_preemptions(void);

#endif
