/* SPDX-License-Identifier: MIT */
/*
 * Stands in for libbpf's header when a unit test compiles window.bpf.h for the CPU of
 * the machine: the code under test is the one that BPF programs compile, its maps are
 * arrays of the test, and the test may let an "interrupt" run wherever the code asks
 * for a map or for the time.
 */
#ifndef NATIVE_BPF_HELPERS_H
#define NATIVE_BPF_HELPERS_H

#include <linux/types.h>

#define SEC(name)
#define __uint(name, val) int(*name)[val]
#define __type(name, val) typeof(val) *name
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define __noinline __attribute__((noinline))

/* The test's: the value of a map's entry on the current CPU. */
void *bpf_map_lookup_elem(void *map, const void *key);

#endif
