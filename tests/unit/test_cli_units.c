/* SPDX-License-Identifier: MIT */
/* Times and numbers as people type and read them. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "cli/units.h"

#define SECOND INT64_C(1000000000)
#define NOON (INT64_C(1767960000) * SECOND) /* 2026-01-09 12:00:00 UTC */

static int use_utc(void **state) {
  (void)state;
  setenv("TZ", "UTC", 1);
  tzset();
  return 0;
}

static void durations_have_a_unit_or_are_seconds(void **state) {
  (void)state;
  static const struct {
    const char *text;
    int64_t seconds;
  } good[] = {{"90", 90},         {"90s", 90},   {"5m", 300},
              {"2h", 7200},       {"1d", 86400}, {"1w", 7 * 86400},
              {"1y", 365 * 86400}};
  for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
    int64_t duration_ns;
    assert_true(units_parse_duration(good[i].text, &duration_ns));
    assert_int_equal(duration_ns, good[i].seconds * SECOND);
  }
}

static void other_durations_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {"",
                                    "0",
                                    "-5",
                                    "+5",
                                    "5x",
                                    "5ss",
                                    " 5",
                                    "m",
                                    "99999999999999999999",
                                    "9223372036854775807",
                                    "300000000000y"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    int64_t duration_ns;
    assert_false(units_parse_duration(bad[i], &duration_ns));
  }
}

static void assert_instant(const char *text, int64_t wanted_ns) {
  int64_t real_ns;
  assert_true(units_parse_instant(text, NOON, &real_ns));
  assert_int_equal(real_ns, wanted_ns);
}

static void a_time_of_day_is_the_last_such_time(void **state) {
  (void)state;
  assert_instant("11:59:30", NOON - 30 * SECOND);
  assert_instant("12:00", NOON);
  assert_instant("12:01", NOON + 60 * SECOND - 86400 * SECOND);
}

static void instants_may_have_a_day_or_count_from_1970_or_back(void **state) {
  (void)state;
  assert_instant("2026-01-09 11:00", NOON - 3600 * SECOND);
  assert_instant("2026-01-09T12:00:05", NOON + 5 * SECOND);
  assert_instant("@1767960000", NOON);
  assert_instant("-90s", NOON - 90 * SECOND);
}

static void other_instants_are_refused(void **state) {
  (void)state;
  static const char *const bad[] = {
      "",           "noon", "25:00", "12:00x",
      "@12s",       "@",    "-",     "2026-13-01 00:00",
      "12:00:00:00"};
  for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
    int64_t real_ns;
    assert_false(units_parse_instant(bad[i], NOON, &real_ns));
  }
}

static void numbers_read_well(void **state) {
  (void)state;
  char text[UNITS_TEXT];
  assert_string_equal(units_count(0, text), "0");
  assert_string_equal(units_count(999, text), "999");
  assert_string_equal(units_count(466908, text), "466,908");
  assert_string_equal(units_count(UINT64_MAX, text),
                      "18,446,744,073,709,551,615");
  assert_string_equal(units_rate(1566.83, text), "1,566.8");
  assert_string_equal(units_rate(0.96, text), "1.0");
  assert_string_equal(units_rate(1e300, text), "-");
  assert_string_equal(units_short(0, text), "0");
  assert_string_equal(units_short(812.4, text), "813");
  assert_string_equal(units_short(999999, text), "999,999");
  assert_string_equal(units_short(5400000, text), "5.4 M");
  assert_string_equal(units_short(5400001, text), "5.5 M");
  assert_string_equal(units_short(2e12, text), "2.0 T");
  assert_string_equal(units_percent(98.7654, text), "98.77 %");
  assert_string_equal(units_percent(NAN, text), "-");
  assert_string_equal(units_bytes(34650, text), "34 KB");
  assert_string_equal(units_bytes(20 << 20, text), "20 MB");
  assert_string_equal(units_age(59, text), "59 s");
  assert_string_equal(units_age(11532, text), "3 h 12 min");
  assert_string_equal(units_age(200000, text), "2 d 7 h");
}

static void clocks_are_rounded_to_seconds(void **state) {
  (void)state;
  char text[UNITS_TEXT];
  assert_string_equal(units_clock(NOON + SECOND / 2 - 1, text), "12:00:00");
  assert_string_equal(units_clock(NOON - 3000, text), "12:00:00");
  assert_string_equal(units_date(NOON, text), "2026-01-09 12:00:00");
}

static void zones_are_those_of_the_time(void **state) {
  (void)state;
  char text[UNITS_TEXT];
  int64_t real_ns;
  units_use_utc_offset(-(3 * 3600 + 30 * 60));
  assert_string_equal(units_date(NOON, text), "2026-01-09 08:30:00");
  assert_string_equal(units_zone(NOON, text), "-0330");
  assert_int_equal(units_utc_offset(NOON), -12600);
  assert_true(units_parse_instant("08:29", NOON, &real_ns));
  assert_int_equal(real_ns, NOON - 60 * SECOND);
  units_use_utc_offset(19800);
  assert_string_equal(units_zone(NOON, text), "+0530");
  use_utc(state);
}

int main(void) {
  const struct CMUnitTest tests[] = {
      cmocka_unit_test(durations_have_a_unit_or_are_seconds),
      cmocka_unit_test(other_durations_are_refused),
      cmocka_unit_test(a_time_of_day_is_the_last_such_time),
      cmocka_unit_test(instants_may_have_a_day_or_count_from_1970_or_back),
      cmocka_unit_test(other_instants_are_refused),
      cmocka_unit_test(numbers_read_well),
      cmocka_unit_test(clocks_are_rounded_to_seconds),
      cmocka_unit_test(zones_are_those_of_the_time),
  };
  return cmocka_run_group_tests(tests, use_utc, NULL);
}
