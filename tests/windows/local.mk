# Bundled windows against known numbers of events.
WINDOWS_TEST_HELPERS = tests/windows/hold tests/windows/page_load tests/windows/tcp_load \
  tests/windows/totals
check_PROGRAMS += $(WINDOWS_TEST_HELPERS)
tests_windows_hold_SOURCES = tests/windows/hold.c
tests_windows_hold_LDADD = libobject.la
tests_windows_page_load_SOURCES = tests/windows/page_load.c
tests_windows_tcp_load_SOURCES = tests/windows/tcp_load.c
tests_windows_totals_SOURCES = tests/windows/totals.c
tests_windows_totals_LDADD = libwindow.la

# What is watched is narrowed, so that each event is known.
WINDOWS_TEST_OBJECTS = tests/windows/block_io_loop.bpf.o tests/windows/page_cache_load.bpf.o
check_DATA += $(WINDOWS_TEST_OBJECTS)
CLEANFILES += $(WINDOWS_TEST_OBJECTS)
$(WINDOWS_TEST_OBJECTS): $(bpfinclude_HEADERS) $(BPF_PROGRAM_INCLUDES) $(BPF_PROGRAM_FILES)

EXTRA_DIST += tests/windows/block_io_loop.bpf.c tests/windows/common.sh tests/windows/page_cache_load.bpf.c \
  tests/windows/test_block_io.sh tests/windows/test_in_collectd.sh tests/windows/test_page_cache.sh tests/windows/test_tcp.sh
