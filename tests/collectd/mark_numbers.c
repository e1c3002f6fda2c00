/* SPDX-License-Identifier: MIT */
/* mark_numbers NUMBER TIMES [NUMBER TIMES...]: hands numbers to histogram.bpf.c. */
#include <stdlib.h>
#include <sys/prctl.h>

int main(int argc, char **argv) {
  for (int i = 1; i + 1 < argc; i += 2)
    for (long times = atol(argv[i + 1]); times > 0; times--)
      prctl(0x68697374, strtoul(argv[i], NULL, 10), 0, 0, 0);
  return 0;
}
