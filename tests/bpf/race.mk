# Races: counting interrupted by counting, and read while it rolls.
RACE_OBJECTS = tests/bpf/race.bpf.o tests/bpf/race_fast.bpf.o
check_PROGRAMS += tests/bpf/test_race
tests_bpf_test_race_SOURCES = tests/bpf/test_race.c \
  tests/bpf/race_load.c tests/bpf/race_load.h tests/bpf/place.c tests/bpf/place.h
tests_bpf_test_race_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS)
tests_bpf_test_race_LDADD = libobject.la $(LIBBPF_LIBS) -lpthread
check_DATA += $(RACE_OBJECTS)
CLEANFILES += $(RACE_OBJECTS)
EXTRA_DIST += tests/bpf/race.bpf.c
$(RACE_OBJECTS): $(bpfinclude_HEADERS)
tests/bpf/race_fast.bpf.o: tests/bpf/race.bpf.c
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -DFAST_CLOCK -c $< -o $@
