/* SPDX-License-Identifier: MIT */
/* notice.h - a line in the log and the same as a notification of collectd. */
#ifndef BPF_WINDOW_NOTICE_H
#define BPF_WINDOW_NOTICE_H

/* severity: NOTIF_OKAY, NOTIF_WARNING or NOTIF_FAILURE; instance: the object or
 * window that it is about. */
void notice(int severity, const char *instance, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

#endif
