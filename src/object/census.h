/* SPDX-License-Identifier: MIT */
/*
 * census.h - who has what of BPF on this machine: programs with their hooks and
 * maps, pins, processes. Only looks: loads, creates and changes nothing.
 */
#ifndef BPF_WINDOW_CENSUS_H
#define BPF_WINDOW_CENSUS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "window/failure.h"

struct census_program {
  uint32_t id;
  char name[16]; /* as the kernel has it: at most 15 characters */
  char hook[64]; /* such as lsm/file_open, tp_btf/sys_exit, xdp */
  uint32_t *map_ids;
  size_t maps;
  uint64_t runs; /* both 0 unless kernel.bpf_stats_enabled */
  uint64_t run_ns;
};

struct census_pin {
  uint32_t map_id;
  char path[256];
};

/* A process that has a descriptor of a map, or of a program or its link. */
struct census_holder {
  int pid;
  char command[16];
  uint32_t map_id, program_id; /* one of them; the other is 0 */
};

struct census {
  struct census_program *programs;
  size_t program_count;
  struct census_pin *pins; /* maps only */
  size_t pin_count;
  struct census_holder *holders;
  size_t holder_count;
};

/*
 * Takes the census; pins are those below bpffs (NULL: none are looked for).
 * Errors: -EPERM (walking ids needs CAP_SYS_ADMIN), -ENOMEM. What may not be
 * seen of other processes is left out silently.
 */
int census_take(struct census **census, const char *bpffs,
                struct failure *failure);

/* Programs alone, with their maps and without their hooks: cheap enough to be taken
 * again and again. Errors: likewise. */
int census_take_programs(struct census **census, struct failure *failure);

void census_free(struct census **census);

/* What kind of BPF thing a descriptor of this process is: bpf-map, bpf-prog,
 * bpf-link; empty for what is none. */
void census_kind_of(int fd, char kind[16]);

bool census_program_uses(const struct census_program *program, uint32_t map_id);

#endif
