/* SPDX-License-Identifier: MIT */
/*
 * count PROGRAM_PIN HITS_FAST HITS_SLOW MISSES EVICTIONS [TIMES [PAUSE_MS]] -
 * runs the pinned program of counted.bpf.c, which counts so many events each
 * time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <bpf/bpf.h>

int main(int argc, char **argv) {
  if (argc < 6)
    return 2;
  unsigned long long counts[4];
  for (int i = 0; i < 4; i++)
    counts[i] = strtoull(argv[2 + i], NULL, 10);
  long times = argc > 6 ? atol(argv[6]) : 1;
  useconds_t pause_us = argc > 7 ? (useconds_t)atol(argv[7]) * 1000 : 0;
  int fd = bpf_obj_get(argv[1]);
  if (fd < 0) {
    perror(argv[1]);
    return 1;
  }
  for (long i = 0; i < times; i++) {
    LIBBPF_OPTS(bpf_test_run_opts, run, .ctx_in = counts,
                .ctx_size_in = sizeof(counts));
    if (bpf_prog_test_run_opts(fd, &run) != 0 || run.retval != 0) {
      perror("run");
      return 1;
    }
    usleep(pause_us);
  }
  return 0;
}
