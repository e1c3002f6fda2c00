/* SPDX-License-Identifier: MIT */
/*
 * history_json.h - a history as JSON, and back. The names are documented in
 * bpf-window(8) and stable.
 */
#ifndef BPF_WINDOW_HISTORY_JSON_H
#define BPF_WINDOW_HISTORY_JSON_H

#include <stdio.h>

#include <jansson.h>

#include "history.h"
#include "window/clock.h"
#include "window/failure.h"

#define HISTORY_JSON_FORMAT 1

/* The id of the HTML element in which a report carries its JSON. */
#define HISTORY_JSON_ELEMENT "bpf-window"

/* What is further off is taken for a mistake of who wrote the JSON. */
#define HISTORY_MAX_WIDTH_NS (3600 * NS_PER_SECOND)
#define HISTORY_MAX_UNIX_SECONDS 4e9
#define HISTORY_MAX_UTC_OFFSET (24 * 3600)

/* The utc_offset_s of a history read from JSON without one. */
#define HISTORY_NO_UTC_OFFSET INT32_MIN

/* plain, total, hit, miss, log2 */
const char *history_role_name(enum bpf_window_role role);

/* The span of a history, with what can be computed from it. NULL if memory is
 * short; the caller owns the reference. */
json_t *history_to_json(const struct history *history, struct span span);

/* As text, with jansson's flags; NULL if memory is short, else the caller frees it. */
char *history_json_text(const json_t *value, size_t flags);

/* Prints it with a line for each member. */
void history_json_print(const json_t *root, FILE *file);

/* Errors: -EINVAL with the member that is missing or wrong, -ENOMEM. */
int history_from_json(struct history **history, const json_t *root,
                      struct failure *failure);

/* Finds the JSON in a text, be it JSON itself or an HTML report, and makes a
 * history of it. text[length] must be a NUL. */
int history_from_text(struct history **history, const char *text, size_t length,
                      struct failure *failure);

#endif
