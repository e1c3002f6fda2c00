/* SPDX-License-Identifier: MIT */
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "window/clock.h"

#define DAY_SECONDS 86400

/* ---- Parsing ---- */

bool units_parse_duration(const char *text, int64_t *duration_ns) {
  static const struct {
    char unit;
    int64_t seconds;
  } units[] = {{'\0', 1},
               {'s', 1},
               {'m', 60},
               {'h', 3600},
               {'d', DAY_SECONDS},
               {'w', 7 * DAY_SECONDS},
               {'y', 365 * DAY_SECONDS}};
  if (!isdigit((unsigned char)text[0]))
    return false;
  char *end;
  errno = 0;
  long long number = strtoll(text, &end, 10);
  if (errno || number <= 0 || (end[0] != '\0' && end[1] != '\0'))
    return false;
  for (size_t i = 0; i < sizeof(units) / sizeof(*units); i++) {
    int64_t seconds;
    if (units[i].unit == end[0])
      return !__builtin_mul_overflow(number, units[i].seconds, &seconds) &&
             !__builtin_mul_overflow(seconds, NS_PER_SECOND, duration_ns);
  }
  return false;
}

static bool parse_with(const char *text, const char *format, struct tm *time) {
  const char *end = strptime(text, format, time);
  return end && *end == '\0';
}

bool units_parse_instant(const char *text, int64_t now_ns, int64_t *real_ns) {
  if (text[0] == '-') {
    int64_t back_ns;
    if (!units_parse_duration(text + 1, &back_ns))
      return false;
    return !__builtin_sub_overflow(now_ns, back_ns, real_ns);
  }
  if (text[0] == '@')
    return units_parse_duration(text + 1, real_ns) &&
           isdigit((unsigned char)text[strlen(text) - 1]);

  time_t now = (time_t)(now_ns / NS_PER_SECOND), instant;
  static const char *const day_formats[] = {"%Y-%m-%d %H:%M:%S",
                                            "%Y-%m-%dT%H:%M:%S",
                                            "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M"};
  for (size_t i = 0; i < sizeof(day_formats) / sizeof(*day_formats); i++) {
    struct tm date = {.tm_isdst = -1};
    if (!parse_with(text, day_formats[i], &date))
      continue;
    instant = mktime(&date);
    *real_ns = (int64_t)instant * NS_PER_SECOND;
    return instant != (time_t)-1;
  }

  struct tm today;
  localtime_r(&now, &today);
  today.tm_sec = 0;
  today.tm_isdst = -1;
  if (!parse_with(text, "%H:%M:%S", &today) &&
      !parse_with(text, "%H:%M", &today))
    return false;
  instant = mktime(&today);
  if (instant > now) {
    today.tm_mday--;
    today.tm_isdst = -1;
    instant = mktime(&today);
  }
  *real_ns = (int64_t)instant * NS_PER_SECOND;
  return true;
}

/* ---- Printing ---- */

static const char *print_time(int64_t real_ns, const char *format,
                              char text[UNITS_TEXT]) {
  time_t seconds = (time_t)((real_ns + NS_PER_SECOND / 2) / NS_PER_SECOND);
  struct tm local;
  if (!localtime_r(&seconds, &local) ||
      strftime(text, UNITS_TEXT, format, &local) == 0)
    strcpy(text, "?");
  return text;
}

const char *units_clock(int64_t real_ns, char text[UNITS_TEXT]) {
  return print_time(real_ns, "%H:%M:%S", text);
}

const char *units_date(int64_t real_ns, char text[UNITS_TEXT]) {
  return print_time(real_ns, "%Y-%m-%d %H:%M:%S", text);
}

const char *units_zone(int64_t real_ns, char text[UNITS_TEXT]) {
  return print_time(real_ns, "%z", text);
}

int32_t units_utc_offset(int64_t real_ns) {
  time_t seconds = (time_t)(real_ns / NS_PER_SECOND);
  struct tm local;
  return localtime_r(&seconds, &local) ? (int32_t)local.tm_gmtoff : 0;
}

void units_use_utc_offset(int32_t seconds) {
  char zone[UNITS_TEXT];
  int east = seconds < 0 ? -seconds : seconds;
  /* POSIX counts westward, and wants a name. */
  snprintf(zone, sizeof(zone), "<local>%c%d:%02d:%02d", seconds < 0 ? '+' : '-',
           east / 3600, east / 60 % 60, east % 60);
  setenv("TZ", zone, 1);
  tzset();
}

const char *units_count(uint64_t count, char text[UNITS_TEXT]) {
  char digits[24];
  int length =
      snprintf(digits, sizeof(digits), "%llu", (unsigned long long)count);
  char *out = text;
  for (int i = 0; i < length; i++) {
    if (i > 0 && (length - i) % 3 == 0)
      *out++ = ',';
    *out++ = digits[i];
  }
  *out = '\0';
  return text;
}

const char *units_rate(double per_second, char text[UNITS_TEXT]) {
  double tenths = round(per_second * 10);
  if (!(tenths < 1e18))
    return strcpy(text, "-");
  units_count((uint64_t)tenths / 10, text);
  size_t length = strlen(text);
  snprintf(text + length, UNITS_TEXT - length, ".%" PRIu64,
           (uint64_t)tenths % 10);
  return text;
}

const char *units_short(double value, char text[UNITS_TEXT]) {
  static const char letters[] = "MGTP";
  size_t letter = 0;
  if (value < 1e6)
    return units_count((uint64_t)ceil(value), text);
  for (value /= 1e6; value >= 1000 && letter + 1 < strlen(letters); letter++)
    value /= 1000;
  snprintf(text, UNITS_TEXT, "%.1f %c", ceil(value * 10) / 10, letters[letter]);
  return text;
}

const char *units_magnitude(double value, char text[UNITS_TEXT]) {
  if (value < 100)
    return units_rate(value, text);
  if (!(value < 18e18))
    return strcpy(text, "-");
  return units_count((uint64_t)llround(value), text);
}

const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT]) {
  uint64_t kilobytes = (bytes + 1023) / 1024;
  if (kilobytes < 10 * 1024)
    snprintf(text, UNITS_TEXT, "%" PRIu64 " KB", kilobytes);
  else
    snprintf(text, UNITS_TEXT, "%" PRIu64 " MB", kilobytes / 1024);
  return text;
}

const char *units_age(uint64_t seconds, char text[UNITS_TEXT]) {
  uint64_t minutes = seconds / 60, hours = minutes / 60, days = hours / 24;
  if (days > 0)
    snprintf(text, UNITS_TEXT, "%" PRIu64 " d %" PRIu64 " h", days, hours % 24);
  else if (hours > 0)
    snprintf(text, UNITS_TEXT, "%" PRIu64 " h %" PRIu64 " min", hours,
             minutes % 60);
  else if (minutes > 0)
    snprintf(text, UNITS_TEXT, "%" PRIu64 " min %" PRIu64 " s", minutes,
             seconds % 60);
  else
    snprintf(text, UNITS_TEXT, "%" PRIu64 " s", seconds);
  return text;
}

const char *units_percent(double percent, char text[UNITS_TEXT]) {
  if (isnan(percent))
    return strcpy(text, "-");
  snprintf(text, UNITS_TEXT, "%.2f %%", percent);
  return text;
}
