/* SPDX-License-Identifier: MIT */
/*
 * config_place.h - where an option stands. collectd's parser does not keep line
 * numbers, so the configuration file is searched for the option.
 */
#ifndef BPF_WINDOW_CONFIG_PLACE_H
#define BPF_WINDOW_CONFIG_PLACE_H

#include <stddef.h>

struct oconfig_item_s;

/* Writes `file:line: <Object "x"> Option` (or, when the option is not found in the main
 * file, as it happens with Include, the same without file and line). */
void config_place(const struct oconfig_item_s *option, char *text, size_t size);

#endif
