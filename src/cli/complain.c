/* SPDX-License-Identifier: MIT */
#include "cli.h"

#include <stdarg.h>
#include <stdio.h>

static void say(const char *verb, const char *format, va_list arguments) {
  fprintf(stderr, "bpf-window: %s: ", verb);
  vfprintf(stderr, format, arguments);
  fputc('\n', stderr);
}

void complain(const char *verb, const char *format, ...) {
  va_list arguments;
  va_start(arguments, format);
  say(verb, format, arguments);
  va_end(arguments);
}

int complain_usage(const char *verb, const char *format, ...) {
  if (format) {
    va_list arguments;
    va_start(arguments, format);
    say(verb, format, arguments);
    va_end(arguments);
  }
  fprintf(stderr, "Try `bpf-window %s --help`.\n", verb);
  return CLI_USAGE;
}
