# The command for people.
sbin_PROGRAMS += bpf-window
bpf_window_SOURCES = \
  src/cli/cli.h src/cli/main.c src/cli/complain.c \
  src/cli/history.c src/cli/history.h \
  src/cli/history_json.c src/cli/history_json.h src/cli/history_read.c \
  src/cli/inventory.c src/cli/inventory.h src/cli/list.c \
  src/cli/show.c src/cli/show.h src/cli/show_per_second.c src/cli/show_text.c \
  src/cli/source.c src/cli/source.h \
  src/cli/units.c src/cli/units.h
bpf_window_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS) $(JANSSON_CFLAGS) \
  -DBPF_WINDOW_VERSION='"$(PACKAGE_VERSION)"'
bpf_window_LDADD = libobject.la libwindow.la $(JANSSON_LIBS) -lm
