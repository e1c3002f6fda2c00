# Tests print TAP. tests/run.sh builds and runs them by suite; `make check` runs what
# needs no root.
if HAVE_CMOCKA
UNIT_TESTS = tests/unit/test_clock tests/unit/test_edges tests/unit/test_histogram tests/unit/test_policy tests/unit/test_ring_model tests/unit/test_series \
  tests/unit/test_tags tests/unit/test_window
KERNEL_TESTS = tests/bpf/test_census tests/bpf/test_discover tests/bpf/test_histogram tests/bpf/test_object tests/bpf/test_ring tests/bpf/test_setup tests/bpf/test_split tests/collectd/mark_numbers tests/collectd/open_known_files tests/collectd/run_agent \
  tests/collectd/test_account tests/collectd/test_barrier \
  tests/faults/test_errors tests/faults/test_parts tests/faults/do_part \
  tests/faults/test_steps tests/faults/start_object tests/faults/mark_calls
check_PROGRAMS += $(UNIT_TESTS) $(KERNEL_TESTS)
TESTS += $(UNIT_TESTS)
endif

TEST_CPPFLAGS = $(AM_CPPFLAGS) $(CMOCKA_CFLAGS)

tests_unit_test_clock_SOURCES = tests/unit/test_clock.c src/window/clock.c src/window/failure.c
tests_unit_test_clock_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_clock_LDADD = $(CMOCKA_LIBS)

tests_unit_test_edges_SOURCES = tests/unit/test_edges.c src/collectd/edges.c
tests_unit_test_edges_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_edges_LDADD = libwindow.la $(CMOCKA_LIBS)

tests_unit_test_histogram_SOURCES = tests/unit/test_histogram.c
tests_unit_test_histogram_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_histogram_LDADD = libwindow.la $(CMOCKA_LIBS) -lm

tests_unit_test_policy_SOURCES = tests/unit/test_policy.c
tests_unit_test_policy_CPPFLAGS = $(TEST_CPPFLAGS) -I$(srcdir)/bpf
tests_unit_test_policy_LDADD = libobject.la $(CMOCKA_LIBS)

# window.bpf.h compiled for this machine, on maps of the test.
tests_unit_test_ring_model_SOURCES = tests/unit/test_ring_model.c tests/unit/native/bpf/bpf_helpers.h
tests_unit_test_ring_model_CPPFLAGS = -I$(srcdir)/tests/unit/native $(TEST_CPPFLAGS)
tests_unit_test_ring_model_LDADD = libwindow.la $(CMOCKA_LIBS)

tests_unit_test_series_SOURCES = tests/unit/test_series.c
tests_unit_test_series_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_series_LDADD = libwindow.la $(CMOCKA_LIBS)

tests_unit_test_tags_SOURCES = tests/unit/test_tags.c
tests_unit_test_tags_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_unit_test_tags_LDADD = libobject.la $(CMOCKA_LIBS)

tests_unit_test_window_SOURCES = tests/unit/test_window.c
tests_unit_test_window_CPPFLAGS = $(TEST_CPPFLAGS)
tests_unit_test_window_LDADD = libwindow.la $(CMOCKA_LIBS)

tests_bpf_test_discover_SOURCES = tests/bpf/test_discover.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_discover_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_discover_LDADD = libobject.la $(CMOCKA_LIBS)
tests_bpf_test_census_SOURCES = tests/bpf/test_census.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_census_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_census_LDADD = libobject.la $(CMOCKA_LIBS)

tests_bpf_test_histogram_SOURCES = tests/bpf/test_histogram.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_histogram_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_histogram_LDADD = libobject.la $(CMOCKA_LIBS)

tests_bpf_test_object_SOURCES = tests/bpf/test_object.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_object_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_object_LDADD = libobject.la $(CMOCKA_LIBS)

tests_bpf_test_ring_SOURCES = tests/bpf/test_ring.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_ring_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_ring_LDADD = libobject.la $(CMOCKA_LIBS)

tests_bpf_test_setup_SOURCES = tests/bpf/test_setup.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_setup_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_setup_LDADD = libobject.la $(CMOCKA_LIBS)

tests_bpf_test_split_SOURCES = tests/bpf/test_split.c tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_split_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_split_LDADD = libobject.la $(CMOCKA_LIBS)

tests_faults_test_steps_SOURCES = tests/faults/test_steps.c tests/faults/fault.c tests/faults/fault.h \
  tests/bpf/place.c tests/bpf/place.h
tests_faults_test_steps_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_faults_test_steps_LDADD = libobject.la $(CMOCKA_LIBS)

tests_faults_test_errors_SOURCES = tests/faults/test_errors.c tests/faults/fault.c tests/faults/fault.h \
  tests/bpf/place.c tests/bpf/place.h
tests_faults_test_errors_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_faults_test_errors_LDADD = libobject.la $(CMOCKA_LIBS)

tests_faults_test_parts_SOURCES = tests/faults/test_parts.c tests/faults/fault.c tests/faults/fault.h \
  tests/bpf/place.c tests/bpf/place.h
tests_faults_test_parts_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_faults_test_parts_LDADD = libobject.la $(CMOCKA_LIBS)

tests_faults_do_part_SOURCES = tests/faults/do_part.c tests/bpf/place.c tests/bpf/place.h \
  src/collectd/account.c src/collectd/account_follow.c src/collectd/edges.c
tests_faults_do_part_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_faults_do_part_LDADD = libobject.la

tests_faults_start_object_SOURCES = tests/faults/start_object.c tests/bpf/place.c tests/bpf/place.h
tests_faults_start_object_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_faults_start_object_LDADD = libobject.la

tests_faults_mark_calls_SOURCES = tests/faults/mark_calls.c

# Preloaded into a program under test; see its head.
check_LTLIBRARIES = tests/faults/fail_nth.la
tests_faults_fail_nth_la_SOURCES = tests/faults/fail_nth.c
tests_faults_fail_nth_la_LDFLAGS = -module -avoid-version -shared -rpath /nowhere

tests_collectd_mark_numbers_SOURCES = tests/collectd/mark_numbers.c

tests_collectd_run_agent_SOURCES = tests/collectd/run_agent.c
tests_collectd_run_agent_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_collectd_run_agent_LDADD = libobject.la

tests_collectd_test_account_SOURCES = tests/collectd/test_account.c tests/bpf/place.c tests/bpf/place.h \
  src/collectd/account.c src/collectd/account_follow.c src/collectd/edges.c
tests_collectd_test_account_CPPFLAGS = $(TEST_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_collectd_test_account_LDADD = libobject.la $(CMOCKA_LIBS)

tests_collectd_test_barrier_SOURCES = tests/collectd/test_barrier.c src/collectd/barrier.c src/collectd/barrier.h
tests_collectd_test_barrier_CPPFLAGS = $(TEST_CPPFLAGS) $(COLLECTD_CPPFLAGS)
tests_collectd_test_barrier_LDADD = $(CMOCKA_LIBS) -lpthread

tests_collectd_open_known_files_SOURCES = tests/collectd/open_known_files.c

# BPF objects of the tests; several are made from one source.
TEST_BPF_OBJECTS = \
  tests/bpf/array.bpf.o \
  tests/bpf/array_longer.bpf.o \
  tests/bpf/array_named_twice.bpf.o \
  tests/bpf/array_of_2_s.bpf.o \
  tests/bpf/at_tracepoint.bpf.o \
  tests/bpf/awkward_names.bpf.o \
  tests/bpf/awkward_names_colliding.bpf.o \
  tests/bpf/awkward_names_self.bpf.o \
  tests/bpf/each_task.bpf.o \
  tests/bpf/histogram.bpf.o \
  tests/bpf/histogram_of_one.bpf.o \
  tests/bpf/injected_clock.bpf.o \
  tests/bpf/many_names.bpf.o \
  tests/bpf/many_names_of_ours.bpf.o \
  tests/bpf/marked_calls.bpf.o \
  tests/bpf/marked_calls_again.bpf.o \
  tests/bpf/marked_calls_misspelt.bpf.o \
  tests/bpf/marked_calls_other.bpf.o \
  tests/bpf/marked_calls_short.bpf.o \
  tests/bpf/no_window.bpf.o \
  tests/bpf/over_the_limits_fronts.bpf.o \
  tests/bpf/over_the_limits_name.bpf.o \
  tests/bpf/over_the_limits_programs.bpf.o \
  tests/bpf/over_the_limits_slots.bpf.o \
  tests/bpf/over_the_limits_windows.bpf.o \
  tests/bpf/split.bpf.o \
  tests/bpf/torn_window.bpf.o \
  tests/bpf/usdt.bpf.o \
  tests/collectd/one_process.bpf.o
check_DATA = $(TEST_BPF_OBJECTS)
CLEANFILES += $(TEST_BPF_OBJECTS)
$(TEST_BPF_OBJECTS): tests/bpf/marked.bpf.h $(bpfinclude_HEADERS) $(BPF_PROGRAM_INCLUDES) bpf/inode_cache.bpf.c

COMPILE_BPF = $(BPF_CC) $(BPF_CFLAGS) $(BPF_CPPFLAGS) -I$(srcdir)/bpf/include -I$(srcdir)/bpf
tests/bpf/array_longer.bpf.o: tests/bpf/array.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DPARTS=6 -c $< -o $@
tests/bpf/array_named_twice.bpf.o: tests/bpf/array.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DNAMED_TWICE -c $< -o $@
tests/bpf/array_of_2_s.bpf.o: tests/bpf/array.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DWIDE_BUCKETS -c $< -o $@
tests/bpf/awkward_names_colliding.bpf.o: tests/bpf/awkward_names.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DCOLLIDING -c $< -o $@
tests/bpf/awkward_names_self.bpf.o: tests/bpf/awkward_names.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DSELF -c $< -o $@
tests/bpf/histogram_of_one.bpf.o: tests/bpf/histogram.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DHISTOGRAM_OF_ONE -c $< -o $@
tests/bpf/many_names_of_ours.bpf.o: tests/bpf/many_names.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DOURS_ALONE -c $< -o $@
tests/bpf/marked_calls_again.bpf.o: tests/bpf/marked_calls.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DOTHER_PROGRAM -c $< -o $@
tests/bpf/marked_calls_misspelt.bpf.o: tests/bpf/marked_calls.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DMISSPELT -c $< -o $@
tests/bpf/marked_calls_other.bpf.o: tests/bpf/marked_calls.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DOTHER_COUNTERS -c $< -o $@
tests/bpf/over_the_limits_fronts.bpf.o: OVER = -DMANY_FRONTS
tests/bpf/over_the_limits_name.bpf.o: OVER = -DLONG_NAME
tests/bpf/over_the_limits_programs.bpf.o: OVER = -DMANY_PROGRAMS
tests/bpf/over_the_limits_slots.bpf.o: OVER = -DFEW_SLOTS
tests/bpf/over_the_limits_windows.bpf.o: OVER = -DMANY_WINDOWS
tests/bpf/over_the_limits_%.bpf.o: tests/bpf/over_the_limits.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) $(OVER) -c $< -o $@
tests/bpf/marked_calls_short.bpf.o: tests/bpf/marked_calls.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DSHORT_BUCKETS -c $< -o $@

EXTRA_DIST += tests/coverage.sh tests/run.sh tests/tap.sh tests/source/links.sh tests/source/test_pages.sh tests/source/test_source.sh \
  tests/collectd/decode_dump.py tests/collectd/test_array.sh tests/collectd/test_bad_input.sh tests/collectd/test_privileges.sh tests/collectd/test_histogram.sh tests/collectd/test_options.sh tests/collectd/test_others.sh tests/collectd/test_removed.sh tests/collectd/test_statistics.sh tests/collectd/test_values.sh \
  tests/refusal/test_refusal.sh tests/faults/soak.sh tests/faults/test_clocks.sh tests/faults/test_kills.sh tests/faults/test_outage.sh tests/faults/test_plugin.sh tests/faults/test_stuck.sh \
  tests/vm/README.md tests/vm/boot.sh tests/vm/common.sh tests/vm/guest-init \
  tests/vm/initramfs.sh tests/vm/kernels.sh tests/vm/run.sh \
  tests/bpf/array.bpf.c tests/bpf/at_tracepoint.bpf.c tests/bpf/awkward_names.bpf.c tests/bpf/each_task.bpf.c tests/bpf/marked.bpf.h tests/bpf/histogram.bpf.c tests/bpf/injected_clock.bpf.c tests/bpf/many_names.bpf.c tests/bpf/marked_calls.bpf.c \
  tests/bpf/no_window.bpf.c tests/bpf/over_the_limits.bpf.c tests/bpf/split.bpf.c tests/bpf/torn_window.bpf.c tests/bpf/usdt.bpf.c \
  tests/collectd/one_process.bpf.c

include tests/bench/local.mk
include tests/bpf/race.mk
include tests/cli/local.mk
include tests/windows/local.mk
include tests/examples/local.mk
include tests/policy/local.mk
include tests/fuzz/local.mk
include tests/outputs/local.mk
