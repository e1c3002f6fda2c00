/* SPDX-License-Identifier: MIT */
#include "terminal.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

void terminal_colour(enum terminal_colour colour) {
  static const char *const sequences[] = {
      [TERMINAL_PLAIN] = "\033[0m",   [TERMINAL_BOLD] = "\033[1m",
      [TERMINAL_RED] = "\033[31m",    [TERMINAL_GREEN] = "\033[32m",
      [TERMINAL_YELLOW] = "\033[33m",
  };
  const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
  if ((no_color && *no_color) || !term || strcmp(term, "dumb") == 0 ||
      !isatty(STDOUT_FILENO))
    return;
  fputs(sequences[colour], stdout);
}

int terminal_columns(void) {
  struct winsize size;
  return ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}
