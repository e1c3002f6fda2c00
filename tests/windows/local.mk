# Bundled windows against known numbers of events.
WINDOWS_TEST_HELPERS = tests/windows/hold tests/windows/tcp_load tests/windows/totals
check_PROGRAMS += $(WINDOWS_TEST_HELPERS)
tests_windows_hold_SOURCES = tests/windows/hold.c
tests_windows_hold_LDADD = libobject.la
tests_windows_tcp_load_SOURCES = tests/windows/tcp_load.c
tests_windows_totals_SOURCES = tests/windows/totals.c
tests_windows_totals_LDADD = libwindow.la

EXTRA_DIST += tests/windows/common.sh tests/windows/test_tcp.sh
