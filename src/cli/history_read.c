/* SPDX-License-Identifier: MIT */
/*
 * A history out of JSON that somebody sent: nothing in it is believed before it
 * was checked.
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "history_json.h"

static int malformed(struct failure *failure, const char *member,
                     const char *expected) {
  return failure_set(failure, -EINVAL, "member \"%s\" is not %s", member,
                     expected);
}

static bool read_count(const json_t *json, uint64_t *count) {
  *count = json_is_integer(json) ? (uint64_t)json_integer_value(json) : 0;
  return json_is_integer(json) && json_integer_value(json) >= 0;
}

/* A name that can be shown on a terminal: without control characters. In UTF-8, which
 * jansson makes sure of, U+0080 to U+009F are such, too. */
static bool read_name(const json_t *json, char *name, size_t size) {
  const char *text = json_string_value(json);
  if (!text || strlen(text) >= size)
    return false;
  for (const unsigned char *c = (const unsigned char *)text; *c; c++)
    if (*c < ' ' || *c == 0x7f || (*c == 0xc2 && c[1] < 0xa0))
      return false;
  strcpy(name, text);
  return true;
}

static bool read_role(const json_t *json, uint32_t *role) {
  const char *text = json_string_value(json);
  for (*role = 0; text && *role < BPF_WINDOW_ROLES; ++*role)
    if (strcmp(text, history_role_name(*role)) == 0)
      return true;
  return false;
}

/* ---- The window's description ---- */

static int read_fields(const json_t *fields, struct bpf_window_epoch *epoch,
                       struct failure *failure) {
  size_t count = json_array_size(fields); /* 0 for what is no array */
  if (count == 0 || count > BPF_WINDOW_MAX_COUNTERS)
    return malformed(failure, "fields", "a list of counters");
  for (size_t i = 0; i < count; i++) {
    const json_t *field = json_array_get(fields, i);
    struct bpf_window_counter *counter = &epoch->counter[i];
    uint64_t values;
    if (!read_name(json_object_get(field, "name"), counter->name,
                   sizeof(counter->name)) ||
        !read_role(json_object_get(field, "role"), &counter->role) ||
        !read_count(json_object_get(field, "values"), &values) ||
        values > BPF_WINDOW_MAX_VALUES)
      return malformed(failure, "fields",
                       "a list of {name, role, values} of counters");
    counter->values = (uint32_t)values;
    epoch->values += counter->values;
  }
  epoch->counters = (uint32_t)count;
  return 0;
}

static int read_epoch(const json_t *root, struct bpf_window_epoch *epoch,
                      struct failure *failure) {
  memset(epoch, 0, sizeof(*epoch));
  epoch->format = BPF_WINDOW_FORMAT;
  epoch->slots = BPF_WINDOW_SLOTS;
  int status = read_fields(json_object_get(root, "fields"), epoch, failure);
  if (status != 0)
    return status;
  uint64_t width_ns;
  if (!read_count(json_object_get(root, "width_ns"), &width_ns) ||
      width_ns > HISTORY_MAX_WIDTH_NS)
    return malformed(failure, "width_ns", "a number of nanoseconds");
  epoch->width_ns = width_ns;
  const char *problem = window_epoch_problem(epoch);
  return problem ? failure_set(failure, -EINVAL, "it has %s", problem) : 0;
}

/* ---- Its counts ---- */

static int read_rows(const json_t *rows, struct history *history,
                     struct failure *failure) {
  uint32_t values = history->epoch.values;
  for (size_t i = 0; i < json_array_size(rows); i++) {
    const json_t *row = json_array_get(rows, i);
    if (json_is_null(row))
      continue;
    bool good = json_array_size(row) == values;
    for (uint32_t value = 0; good && value < values; value++)
      good = read_count(json_array_get(row, value),
                        &history->rows[i * values + value]);
    if (!good)
      return malformed(failure, "rows", "a count per field in each row");
    history->counted[i] = true;
  }
  return 0;
}

static int read_totals(const json_t *totals, struct history *history,
                       struct failure *failure) {
  uint64_t *total = history->totals;
  for (uint32_t c = 0; c < history->epoch.counters; c++) {
    const struct bpf_window_counter *counter = &history->epoch.counter[c];
    const json_t *value = json_object_get(totals, counter->name);
    bool good =
        counter->values == 1 || json_array_size(value) == counter->values;
    for (uint32_t i = 0; good && i < counter->values; i++)
      good = read_count(counter->values == 1 ? value : json_array_get(value, i),
                        total++);
    if (!good)
      return malformed(failure, "totals", "a count per field");
  }
  return 0;
}

static bool read_utc_offset(const json_t *offset, int32_t *seconds) {
  json_int_t number = json_integer_value(offset);
  *seconds = offset ? (int32_t)number : HISTORY_NO_UTC_OFFSET;
  return !offset ||
         (json_is_integer(offset) && number >= -HISTORY_MAX_UTC_OFFSET &&
          number <= HISTORY_MAX_UTC_OFFSET);
}

static int read_heading(const json_t *root, struct history *history,
                        struct failure *failure) {
  const json_t *object = json_object_get(root, "object");
  const json_t *until = json_object_get(root, "until");
  uint64_t cpus;
  if (!read_name(json_object_get(root, "window"), history->window,
                 sizeof(history->window)))
    return malformed(failure, "window", "a name");
  if (!json_is_null(object) &&
      !read_name(object, history->object, sizeof(history->object)))
    return malformed(failure, "object", "a name or null");
  if (!json_is_number(until) ||
      !(fabs(json_number_value(until)) <= HISTORY_MAX_UNIX_SECONDS))
    return malformed(failure, "until", "a time in Unix seconds");
  if (!read_utc_offset(json_object_get(root, "utc_offset"),
                       &history->utc_offset_s))
    return malformed(failure, "utc_offset", "a number of seconds");
  if (!read_count(json_object_get(root, "cpus"), &cpus) || cpus > UINT32_MAX)
    return malformed(failure, "cpus", "a number of CPUs");
  history->to_real_ns = llround(json_number_value(until) * 1e3) * 1000000;
  history->cpus = (uint32_t)cpus;
  return 0;
}

int history_from_json(struct history **out, const json_t *root,
                      struct failure *failure) {
  if (json_integer_value(json_object_get(root, "format")) !=
      HISTORY_JSON_FORMAT)
    return malformed(failure, "format", "1");
  struct bpf_window_epoch epoch;
  int status = read_epoch(root, &epoch, failure);
  if (status != 0)
    return status;
  const json_t *rows = json_object_get(root, "rows");
  const json_t *totals = json_object_get(root, "totals");
  if (!json_is_array(rows) || json_array_size(rows) > BPF_WINDOW_SLOTS)
    return malformed(failure, "rows", "a list of at most 300 rows");

  struct history *history =
      history_new(&epoch, 0, json_array_size(rows), json_is_object(totals));
  if (!history)
    return failure_set(failure, -ENOMEM, "out of memory");
  status = read_heading(root, history, failure);
  if (status == 0)
    status = read_rows(rows, history, failure);
  if (status == 0 && history->totals)
    status = read_totals(totals, history, failure);
  if (status == 0)
    *out = history;
  else
    history_free(&history);
  return status;
}

/* ---- Its text ---- */

int history_from_text(struct history **history, const char *text, size_t length,
                      struct failure *failure) {
  static const char element[] = "id=\"" HISTORY_JSON_ELEMENT "\"";
  const char *start = text, *end = text + length;
  size_t blank = strspn(text, " \t\r\n");
  if (text[blank] == '<') {
    start = memmem(text, length, element, strlen(element));
    start = start ? memchr(start, '>', (size_t)(end - start)) : NULL;
    end = start ? memmem(start, (size_t)(end - start), "</script", 8) : NULL;
    if (!end)
      return failure_set(failure, -EINVAL,
                         "this page is no report of bpf-window: it carries no "
                         "data");
    start++;
  }
  json_error_t error;
  json_t *root = json_loadb(start, (size_t)(end - start), 0, &error);
  if (!root)
    return failure_set(failure, -EINVAL, "not JSON: line %d: %s", error.line,
                       error.text);
  int status = history_from_json(history, root, failure);
  json_decref(root);
  return status;
}
