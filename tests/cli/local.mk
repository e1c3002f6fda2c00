# Helpers and objects of the command's tests, which are scripts.
CLI_TEST_HELPERS = tests/cli/count tests/cli/hand_made tests/cli/make_window tests/cli/run_plain
check_PROGRAMS += $(CLI_TEST_HELPERS)
tests_cli_count_SOURCES = tests/cli/count.c
tests_cli_count_LDADD = $(LIBBPF_LIBS)
tests_cli_hand_made_SOURCES = tests/cli/hand_made.c
tests_cli_hand_made_LDADD = $(LIBBPF_LIBS)
tests_cli_make_window_SOURCES = tests/cli/make_window.c
tests_cli_make_window_LDADD = libobject.la
tests_cli_run_plain_SOURCES = tests/cli/run_plain.c
tests_cli_run_plain_LDADD = $(LIBBPF_LIBS)

CLI_TEST_OBJECTS = tests/cli/counted.bpf.o tests/cli/counted_many.bpf.o tests/cli/counted_other.bpf.o tests/cli/plain.bpf.o
check_DATA += $(CLI_TEST_OBJECTS)
CLEANFILES += $(CLI_TEST_OBJECTS)
$(CLI_TEST_OBJECTS): $(bpfinclude_HEADERS)
tests/cli/counted_many.bpf.o: tests/cli/counted.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DMANY_COUNTERS -c $< -o $@
tests/cli/counted_other.bpf.o: tests/cli/counted.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DOTHER_COUNTERS -c $< -o $@

EXTRA_DIST += tests/cli/common.sh tests/cli/counted.bpf.c tests/cli/plain.bpf.c \
  tests/cli/test_agrees.sh tests/cli/test_check.sh tests/cli/test_completion.sh tests/cli/test_foreign.sh tests/cli/test_graph.sh tests/cli/test_hand_made.sh tests/cli/test_histogram.sh tests/cli/test_policy.sh tests/cli/test_privileges.sh \
  tests/cli/test_report.sh tests/cli/test_show.sh tests/cli/test_watch.sh tests/cli/test_widths.sh

if HAVE_CMOCKA
CLI_UNIT_TESTS = tests/unit/test_cli_conf tests/unit/test_cli_history tests/unit/test_cli_units
if HAVE_LIBRRD
CLI_UNIT_TESTS += tests/unit/test_cli_graph
endif
check_PROGRAMS += $(CLI_UNIT_TESTS)
TESTS += $(CLI_UNIT_TESTS)
endif
tests_unit_test_cli_conf_SOURCES = tests/unit/test_cli_conf.c \
  src/cli/conf.c src/cli/conf_tree.c src/cli/conf_word.c
tests_unit_test_cli_conf_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_cli_conf_LDADD = libwindow.la $(CMOCKA_LIBS)
tests_unit_test_cli_graph_SOURCES = tests/unit/test_cli_graph.c \
  src/cli/graph_define.c src/cli/graph_percentiles.c src/cli/graph_scratch.c src/cli/graph_series.c src/cli/graph_settle.c \
  src/cli/history.c src/cli/show_histogram.c src/cli/show_name.c src/cli/units.c
tests_unit_test_cli_graph_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBRRD_CFLAGS)
tests_unit_test_cli_graph_LDADD = libwindow.la $(CMOCKA_LIBS) $(LIBRRD_LIBS) -lm
tests_unit_test_cli_history_SOURCES = tests/unit/test_cli_history.c \
  src/cli/history.c src/cli/history_json.c src/cli/history_read.c
tests_unit_test_cli_history_CPPFLAGS = $(TEST_CPPFLAGS) $(JANSSON_CFLAGS)
tests_unit_test_cli_history_LDADD = libwindow.la $(CMOCKA_LIBS) $(JANSSON_LIBS) -lm
tests_unit_test_cli_units_SOURCES = tests/unit/test_cli_units.c src/cli/units.c
tests_unit_test_cli_units_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_cli_units_LDADD = $(CMOCKA_LIBS) -lm
