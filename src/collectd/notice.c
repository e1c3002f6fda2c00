/* SPDX-License-Identifier: MIT */
#include "notice.h"

#include "collectd.h"

#include "plugin.h"
#include "utils/common/common.h"

static int log_level(int severity) {
  return severity == NOTIF_FAILURE   ? LOG_ERR
         : severity == NOTIF_WARNING ? LOG_WARNING
                                     : LOG_NOTICE;
}

void notice(int severity, const char *instance, const char *format, ...) {
  char text[NOTIF_MAX_MSG_LEN * 4];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof(text), format, arguments);
  va_end(arguments);
  plugin_log(log_level(severity), "bpf_window plugin: %s: %s", instance, text);

  notification_t note = {.severity = severity, .time = cdtime()};
  sstrncpy(note.host, hostname_g, sizeof(note.host));
  sstrncpy(note.plugin, "bpf_window", sizeof(note.plugin));
  sstrncpy(note.plugin_instance, instance, sizeof(note.plugin_instance));
  ssnprintf(note.message, sizeof(note.message), "%s: %s", instance, text);
  plugin_dispatch_notification(&note);
}
