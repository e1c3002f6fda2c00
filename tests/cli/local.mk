# Helpers and objects of the command's tests, which are scripts.
CLI_TEST_HELPERS = tests/cli/count tests/cli/make_window tests/cli/run_plain
check_PROGRAMS += $(CLI_TEST_HELPERS)
tests_cli_count_SOURCES = tests/cli/count.c
tests_cli_count_LDADD = $(LIBBPF_LIBS)
tests_cli_make_window_SOURCES = tests/cli/make_window.c
tests_cli_make_window_LDADD = libobject.la
tests_cli_run_plain_SOURCES = tests/cli/run_plain.c
tests_cli_run_plain_LDADD = $(LIBBPF_LIBS)

CLI_TEST_OBJECTS = tests/cli/counted.bpf.o tests/cli/plain.bpf.o
check_DATA += $(CLI_TEST_OBJECTS)
CLEANFILES += $(CLI_TEST_OBJECTS)
$(CLI_TEST_OBJECTS): $(bpfinclude_HEADERS)

EXTRA_DIST += tests/cli/common.sh tests/cli/counted.bpf.c tests/cli/plain.bpf.c \
  tests/cli/test_agrees.sh tests/cli/test_check.sh tests/cli/test_completion.sh tests/cli/test_foreign.sh tests/cli/test_graph.sh tests/cli/test_privileges.sh \
  tests/cli/test_report.sh tests/cli/test_show.sh tests/cli/test_watch.sh
