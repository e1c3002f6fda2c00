/* SPDX-License-Identifier: MIT */
#include "check.h"

#include <stdarg.h>
#include <stdio.h>

#include "terminal.h"

void check_say(struct check *check, enum check_finding finding,
               const char *subject, const char *format, ...) {
  static const struct {
    const char *word;
    enum terminal_colour colour;
  } looks[] = {
      [CHECK_OK] = {"ok", TERMINAL_GREEN},
      [CHECK_NOTE] = {"note", TERMINAL_YELLOW},
      [CHECK_PROBLEM] = {"PROBLEM", TERMINAL_RED},
  };
  terminal_colour(looks[finding].colour);
  printf("%-8s", looks[finding].word);
  terminal_colour(TERMINAL_PLAIN);
  printf("%-12s ", subject);
  va_list arguments;
  va_start(arguments, format);
  vprintf(format, arguments);
  va_end(arguments);
  putchar('\n');
  check->problems += finding == CHECK_PROBLEM;
}

void check_problem(struct check *check, const struct conf_item *item,
                   const char *format, ...) {
  char text[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  check_say(check, CHECK_PROBLEM, "config", "%s:%d: %s: %s", item->file,
            item->line, item->key, text);
}
