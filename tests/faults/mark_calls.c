/* SPDX-License-Identifier: MIT */
/*
 * mark_calls: makes marked calls at a steady pace until SIGTERM, then prints how many it
 * made. The load whose every event must be in the record.
 */
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

static volatile sig_atomic_t ended;

static void end(int signal) {
  (void)signal;
  ended = 1;
}

int main(void) {
  unsigned long calls = 0;
  signal(SIGTERM, end);
  while (!ended) {
    for (int i = 0; i < 20; i++, calls++)
      prctl(0x77696e64, 0, 0, 0, 0);
    usleep(5000);
  }
  printf("%lu\n", calls);
  return 0;
}
