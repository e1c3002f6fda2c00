/* SPDX-License-Identifier: MIT */
/* value.h - one value of this plugin, handed to collectd. */
#ifndef BPF_WINDOW_VALUE_H
#define BPF_WINDOW_VALUE_H

#include "collectd.h"

#include "plugin.h"

#include "window/series.h"

/* The interval is the reading callback's. */
void value_dispatch(const char *plugin_instance, const char *type,
                    const char *type_instance, value_t value, cdtime_t time);

#endif
