/* SPDX-License-Identifier: MIT */
/* Files that somebody sent: whatever is in them, show and report survive it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/history_json.h"
#include "cli/report.h"
#include "cli/show.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static FILE *nowhere;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
  (void)argc, (void)argv;
  nowhere = fopen("/dev/null", "w");
  stdout = nowhere; /* show prints there; libFuzzer speaks on stderr */
  return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
  char *text = malloc(size + 1);
  memcpy(text, data, size);
  text[size] = '\0';
  struct failure failure;
  struct history *history = NULL;
  if (history_from_text(&history, text, size, &failure) == 0) {
    struct span span = history_whole(history);
    json_t *environment = json_object();
    show_text(history, span);
    show_csv(history, span);
    show_text_per_second(history, span);
    show_csv_per_second(history, span);
    json_t *root = history_to_json(history, span);
    history_json_print(root, nowhere);
    report_page(nowhere, history, environment);
    json_decref(root);
    json_decref(environment);
  }
  history_free(&history);
  free(text);
  return 0;
}
