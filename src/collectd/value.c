/* SPDX-License-Identifier: MIT */
#include "value.h"

#include "utils/common/common.h"

void value_dispatch(const char *plugin_instance, const char *type,
                    const char *type_instance, value_t value, cdtime_t time) {
  value_list_t vl = VALUE_LIST_INIT;
  vl.values = &value;
  vl.values_len = 1;
  vl.time = time;
  vl.interval = plugin_get_interval();
  sstrncpy(vl.plugin, "bpf_window", sizeof(vl.plugin));
  sstrncpy(vl.plugin_instance, plugin_instance, sizeof(vl.plugin_instance));
  sstrncpy(vl.type, type, sizeof(vl.type));
  sstrncpy(vl.type_instance, type_instance, sizeof(vl.type_instance));
  plugin_dispatch_values(&vl);
}
