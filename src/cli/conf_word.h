/* SPDX-License-Identifier: MIT */
/*
 * conf_word.h - what collectd's scanner takes for a value without quotes.
 *
 *   boolean  true yes on false no off, in these letters
 *   number   10 -5 0x1f .5 1.5e+3
 *   string   letters, digits and _; addresses such as 10.0.0.1:80 and [::1]:80
 *
 * Anything else it takes apart (a.b becomes "a" "b") or refuses (a/b).
 */
#ifndef BPF_WINDOW_CONF_WORD_H
#define BPF_WINDOW_CONF_WORD_H

#include "conf.h"

/* Sets the type. false: the word needs quotes. */
bool conf_word_type(const char *word, enum conf_type *type);

/* Of a boolean: whether it says yes. */
bool conf_word_truth(const char *word);

#endif
