/* SPDX-License-Identifier: MIT */
/* The two clocks of clock.h, read while the reader is interrupted: this
 * clock_gettime stands before libc's. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "window/clock.h"

#define BOOT_NS (UINT64_C(1700000000) * NS_PER_SECOND)

static int64_t mono_ns;
static unsigned calls;
/* Behind each call; the last one is repeated. */
static const int64_t no_pause[] = {0}, *pauses_ns = no_pause;
static unsigned last_pause;

int clock_gettime(clockid_t clock, struct timespec *now) {
  int64_t ns = mono_ns + (clock == CLOCK_REALTIME ? (int64_t)BOOT_NS : 0);
  *now = (struct timespec){.tv_sec = ns / NS_PER_SECOND,
                           .tv_nsec = ns % NS_PER_SECOND};
  mono_ns += pauses_ns[calls < last_pause ? calls : last_pause];
  calls++;
  return 0;
}

static struct clock_pair read_with(const int64_t *pauses, unsigned count) {
  pauses_ns = pauses;
  last_pause = count - 1;
  mono_ns = 5 * NS_PER_SECOND;
  calls = 0;
  struct clock_pair pair = clock_pair();
  pauses_ns = no_pause; /* cmocka tells the time, too */
  last_pause = 0;
  return pair;
}

static int64_t error_ns(struct clock_pair pair) {
  return (int64_t)(pair.wall_ns - BOOT_NS - pair.mono_ns);
}

static void a_quiet_machine_is_asked_once(void **state) {
  (void)state;
  const int64_t pauses[] = {100};
  assert_int_equal(error_ns(read_with(pauses, 1)), 0);
  assert_int_equal(calls, 3);
}

static void a_reading_that_was_interrupted_is_thrown_away(void **state) {
  (void)state;
  const int64_t pauses[] = {100, 900000000, 100, 900000000, 100, 100};
  assert_int_equal(error_ns(read_with(pauses, 6)), 0);
}

static void of_readings_that_all_were_the_closest_is_taken(void **state) {
  (void)state;
  const int64_t pauses[] = {0, 900000000, 0, 0, 40000, 0, 0, 900000000};
  assert_int_equal(error_ns(read_with(pauses, 8)), -20000);
  assert_true(calls <= 30);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(a_quiet_machine_is_asked_once),
      cmocka_unit_test(a_reading_that_was_interrupted_is_thrown_away),
      cmocka_unit_test(of_readings_that_all_were_the_closest_is_taken),
  };
  return cmocka_run_group_tests_name("clock", tests, NULL, NULL);
}
