/* SPDX-License-Identifier: MIT */
/*
 * units.h - times and numbers as people type and read them.
 */
#ifndef BPF_WINDOW_UNITS_H
#define BPF_WINDOW_UNITS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define UNITS_TEXT 40 /* enough for what the functions below write */

/* "90", "90s", "5m", "2h", "1d", "1w", "1y": a positive length of time. */
bool units_parse_duration(const char *text, int64_t *duration_ns);

/*
 * An instant: "16:43" or "16:43:12" (the last such time before now_ns, local),
 * "2026-01-31 16:43:12" (a T between is fine), "@1764433686" (Unix seconds), or
 * "-90s" (before now_ns). now_ns is the wall clock to which it relates.
 */
bool units_parse_instant(const char *text, int64_t now_ns, int64_t *real_ns);

/* The wall clock rounded to seconds, local: "16:43:12", and with the day. */
const char *units_clock(int64_t real_ns, char text[UNITS_TEXT]);
const char *units_date(int64_t real_ns, char text[UNITS_TEXT]);

/* The local zone at that time: "+0100", and as seconds east of UTC. */
const char *units_zone(int64_t real_ns, char text[UNITS_TEXT]);
int32_t units_utc_offset(int64_t real_ns);

/* From here on local time is so many seconds east of UTC. */
void units_use_utc_offset(int32_t seconds);

/* 466908 as "466,908". */
const char *units_count(uint64_t count, char text[UNITS_TEXT]);

/* 1566.83 as "1,566.8"; negative numbers are not expected. */
const char *units_rate(double per_second, char text[UNITS_TEXT]);

/* Where room is scarce: 812.4 as "813", 5400000 as "5.4 M"; rounded up, so that
 * a scale's end is not below its values. At most 7 characters below 1e18. */
const char *units_short(double value, char text[UNITS_TEXT]);

/* A percentile: 57.12 as "57.1", 1827.3 as "1,827", and not a number as "-". */
const char *units_magnitude(double value, char text[UNITS_TEXT]);

/* 34650 as "34 KB"; 11532 s as "3 h 12 min". */
const char *units_bytes(uint64_t bytes, char text[UNITS_TEXT]);
const char *units_age(uint64_t seconds, char text[UNITS_TEXT]);

/* 98.7654 as "98.77 %", and not a number as "-". */
const char *units_percent(double percent, char text[UNITS_TEXT]);

#endif
