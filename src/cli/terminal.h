/* SPDX-License-Identifier: MIT */
#ifndef BPF_WINDOW_TERMINAL_H
#define BPF_WINDOW_TERMINAL_H

enum terminal_colour {
  TERMINAL_PLAIN,
  TERMINAL_BOLD,
  TERMINAL_RED,
  TERMINAL_GREEN,
  TERMINAL_YELLOW,
};

/* Switches standard output to a colour; does nothing unless that is a terminal,
 * and with NO_COLOR in the environment. */
void terminal_colour(enum terminal_colour colour);

/* Its width; 0 if standard output is no terminal, or does not tell. */
int terminal_columns(void);

#endif
