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
#include "window/failure.h"

#define HISTORY_JSON_FORMAT 1

/* The id of the HTML element in which a report carries its JSON. */
#define HISTORY_JSON_ELEMENT "bpf-window"

/* The span of a history, with what can be computed from it. NULL if memory is
 * short; the caller owns the reference. */
json_t *history_to_json(const struct history *history, struct span span);

/* Prints it with a line for each member. */
void history_json_print(const json_t *root, FILE *file);

/* Errors: -EINVAL with the member that is missing or wrong, -ENOMEM. */
int history_from_json(struct history **history, const json_t *root,
                      struct failure *failure);

/* Finds the JSON in a text, be it JSON itself or an HTML report, and makes a
 * history of it. text[length] must be readable. */
int history_from_text(struct history **history, const char *text, size_t length,
                      struct failure *failure);

#endif
