# The command for people.
sbin_PROGRAMS += bpf-window
bpf_window_SOURCES = \
  src/cli/check.c src/cli/check.h src/cli/check_collectd.c \
  src/cli/check_config.c src/cli/check_machine.c src/cli/check_objects.c \
  src/cli/check_options.c src/cli/check_parts.h src/cli/check_pins.c \
  src/cli/check_policy.c src/cli/check_say.c src/cli/check_series.c src/cli/check_windows.c \
  src/cli/cli.h src/cli/complain.c \
  src/cli/conf.c src/cli/conf.h src/cli/conf_read.c \
  src/cli/conf_find.c src/cli/conf_policy.c src/cli/conf_policy.h \
  src/cli/conf_tree.c src/cli/conf_tree.h src/cli/conf_word.c src/cli/conf_word.h \
  src/cli/detach.c \
  src/cli/environment.c src/cli/environment.h \
  src/cli/file_text.c src/cli/file_text.h \
  src/cli/history.c src/cli/history.h \
  src/cli/history_json.c src/cli/history_json.h src/cli/history_read.c \
  src/cli/html.c src/cli/html.h \
  src/cli/inventory.c src/cli/inventory.h \
  src/cli/list.c \
  src/cli/main.c \
  src/cli/pin_dir.c src/cli/pin_dir.h \
  src/cli/policy.c src/cli/policy.h src/cli/policy_reload.c src/cli/policy_test.c \
  src/cli/report.c src/cli/report.h src/cli/report_chart.c src/cli/report_histogram.c \
  src/cli/report_page.c src/cli/report_style.c \
  src/cli/show.c src/cli/show.h src/cli/show_histogram.c src/cli/show_name.c src/cli/show_per_second.c src/cli/show_text.c \
  src/cli/span_options.c src/cli/span_options.h \
  src/cli/source_options.c src/cli/source_options.h \
  src/cli/source.c src/cli/source.h \
  src/cli/terminal.c src/cli/terminal.h \
  src/cli/units.c src/cli/units.h \
  src/cli/watch.c src/cli/watch.h src/cli/watch_chart.c src/cli/watch_screen.c
bpf_window_CPPFLAGS = $(AM_CPPFLAGS) -I$(srcdir)/bpf $(JANSSON_CFLAGS) $(NCURSESW_CFLAGS) \
  $(OBJECT_CPPFLAGS) \
  -DBPF_WINDOW_VERSION='"$(PACKAGE_VERSION)"'
bpf_window_LDADD = libobject.la libwindow.la $(JANSSON_LIBS) $(NCURSESW_LIBS) -lm
if HAVE_LIBRRD
bpf_window_SOURCES += src/cli/graph.c src/cli/graph.h src/cli/graph_arguments.h \
  src/cli/graph_define.c src/cli/graph_draw.c src/cli/graph_percentiles.c src/cli/graph_scratch.c \
  src/cli/graph_series.c src/cli/graph_settle.c
bpf_window_CPPFLAGS += $(LIBRRD_CFLAGS) -DHAVE_LIBRRD
bpf_window_LDADD += $(LIBRRD_LIBS)
endif

dist_man_MANS += man/bpf-window.8
bashcompletiondir = $(datadir)/bash-completion/completions
dist_bashcompletion_DATA = completion/bpf-window
