/* SPDX-License-Identifier: MIT */
#include "html.h"

void html_text(FILE *page, const char *text) {
  for (; *text; text++) {
    switch (*text) {
    case '<':
      fputs("&lt;", page);
      break;
    case '>':
      fputs("&gt;", page);
      break;
    case '&':
      fputs("&amp;", page);
      break;
    case '"':
      fputs("&quot;", page);
      break;
    default:
      fputc(*text, page);
    }
  }
}
