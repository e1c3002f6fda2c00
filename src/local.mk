# window <- object <- collectd | cli : only downwards.
noinst_LTLIBRARIES += libwindow.la libobject.la

libwindow_la_SOURCES = \
  src/window/clock.c src/window/clock.h \
  src/window/failure.c src/window/failure.h \
  src/window/histogram.c src/window/histogram.h \
  src/window/reader.c src/window/reader.h \
  src/window/series.c src/window/series.h \
  src/window/window.c src/window/window.h
libwindow_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS)
libwindow_la_LIBADD = $(LIBBPF_LIBS) -lm

OBJECT_CPPFLAGS = -DBPF_OBJECT_DIR='"$(bpfobjectdir)"'

libobject_la_SOURCES = \
  src/object/adopt.c src/object/attempt.c src/object/parts.h src/object/rings.c \
  src/object/census.c src/object/census.h \
  src/object/describe.c src/object/describe.h \
  src/object/discover.c src/object/discover.h \
  src/object/explain.c src/object/explain.h \
  src/object/inspect.c src/object/inspect.h \
  src/object/load.c src/object/load.h \
  src/object/locate.c src/object/locate.h \
  src/object/object.c src/object/object.h \
  src/object/pins.c src/object/pins.h src/object/pins_lock.c src/object/pins_watch.c \
  src/object/policy.c src/object/policy.h \
  src/object/policy_file.c src/object/policy_install.c src/object/policy_mark.c \
  src/object/policy_read.c src/object/policy_safety.c src/object/policy_scope.c \
  src/object/policy_state.c src/object/policy_state.h \
  src/object/probe.c src/object/probe.h \
  src/object/probe_hook.c src/object/probe_hook.h \
  src/object/statistics.c src/object/statistics.h \
  src/object/tags.c src/object/tags.h
libobject_la_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS) -I$(srcdir)/bpf
libobject_la_LIBADD = libwindow.la

# The plugin. What it does not define comes from the daemon that loads it.
collectdplugin_LTLIBRARIES = bpf_window.la
bpf_window_la_SOURCES = \
  src/collectd/account.c src/collectd/account.h \
  src/collectd/account_follow.c src/collectd/account_parts.h \
  src/collectd/barrier.c src/collectd/barrier.h \
  src/collectd/bpf_window.c \
  src/collectd/config.c src/collectd/config.h \
  src/collectd/config_place.c src/collectd/config_place.h \
  src/collectd/config_value.c src/collectd/config_value.h \
  src/collectd/edges.c src/collectd/edges.h \
  src/collectd/feed.c src/collectd/feed.h \
  src/collectd/health.c src/collectd/health.h \
  src/collectd/metrics.c src/collectd/metrics.h \
  src/collectd/notice.c src/collectd/notice.h \
  src/collectd/rules.c src/collectd/rules.h \
  src/collectd/value.c src/collectd/value.h
bpf_window_la_CPPFLAGS = $(AM_CPPFLAGS) $(COLLECTD_CPPFLAGS) $(LIBBPF_CFLAGS) $(OBJECT_CPPFLAGS) -I$(srcdir)/bpf
bpf_window_la_LIBADD = libobject.la
bpf_window_la_LDFLAGS = -module -avoid-version -shared -export-symbols-regex '^module_register$$'

include src/cli/local.mk
