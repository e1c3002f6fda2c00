/* SPDX-License-Identifier: MIT */
/*
 * config_place.h - where an option stands. collectd's parser does not keep line
 * numbers, so the configuration file is searched for the option.
 */
#ifndef BPF_WINDOW_CONFIG_PLACE_H
#define BPF_WINDOW_CONFIG_PLACE_H

#include <stddef.h>

struct oconfig_item_s;

/* An option and the blocks around it. (The items' own parent pointers are not
 * kept up when collectd moves them.) */
struct config_place {
  const struct oconfig_item_s *option;
  const struct config_place *around; /* NULL for the <Plugin> block */
};

/* Writes `file:line: <Object "x"> Option` (or, when the option is not found in
 * the main file, as it happens with Include, the same without file and line).
 */
void config_place_text(const struct config_place *place, char *text,
                       size_t size);

/* The main configuration file: what stands behind -C on collectd's command
 * line. */
void config_main_file(char *name, size_t size);

#endif
