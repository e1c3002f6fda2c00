/* SPDX-License-Identifier: MIT */
#include "failure.h"

#include <stdarg.h>
#include <stdio.h>

int failure_set(struct failure *failure, int status, const char *format, ...) {
  if (failure) {
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(failure->text, sizeof(failure->text), format, arguments);
    va_end(arguments);
    /* One line, whatever names and values in it came from elsewhere. */
    for (char *c = failure->text; *c; c++)
      if ((unsigned char)*c < ' ')
        *c = ' ';
  }
  return status;
}
