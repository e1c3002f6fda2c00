# The file policy's cache, case by case, on a build of it that checks every hit.
POLICY_TEST_SOURCES = \
  tests/policy/expect.c tests/policy/expect.h \
  tests/policy/filesystem.c tests/policy/filesystem.h \
  tests/policy/tap.c tests/policy/tap.h \
  tests/policy/world.c tests/policy/world.h \
  tests/policy/watched.h
POLICY_TEST_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS) -I$(srcdir)/bpf
POLICY_TEST_LDADD = libobject.la $(LIBBPF_LIBS)

check_PROGRAMS += tests/policy/test_pitfalls
tests_policy_test_pitfalls_SOURCES = tests/policy/test_pitfalls.c \
  tests/policy/case_enforce.c tests/policy/case_files.c \
  tests/policy/case_limits.c tests/policy/case_mounts.c \
  tests/policy/case_names.c tests/policy/case_scope.c tests/policy/cases.h tests/policy/compat.c tests/policy/uring.c \
  $(POLICY_TEST_SOURCES)
tests_policy_test_pitfalls_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_test_pitfalls_LDADD = $(POLICY_TEST_LDADD)

check_PROGRAMS += tests/policy/test_stress tests/policy/test_fronts
tests_policy_test_stress_SOURCES = tests/policy/test_stress.c $(POLICY_TEST_SOURCES)
tests_policy_test_stress_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_test_stress_LDADD = $(POLICY_TEST_LDADD)
tests_policy_test_fronts_SOURCES = tests/policy/test_fronts.c $(POLICY_TEST_SOURCES)
tests_policy_test_fronts_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_test_fronts_LDADD = $(POLICY_TEST_LDADD)

check_PROGRAMS += tests/policy/test_trie
tests_policy_test_trie_SOURCES = tests/policy/test_trie.c tests/policy/tap.c tests/policy/tap.h
tests_policy_test_trie_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_test_trie_LDADD = $(POLICY_TEST_LDADD)

check_PROGRAMS += tests/policy/test_mark
tests_policy_test_mark_SOURCES = tests/policy/test_mark.c tests/policy/tap.c tests/policy/tap.h
tests_policy_test_mark_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_test_mark_LDADD = $(POLICY_TEST_LDADD) -lpthread

# Run by hand: it takes minutes and gigabytes.
check_PROGRAMS += tests/policy/memory
tests_policy_memory_SOURCES = tests/policy/memory.c $(POLICY_TEST_SOURCES)
tests_policy_memory_CPPFLAGS = $(POLICY_TEST_CPPFLAGS)
tests_policy_memory_LDADD = $(POLICY_TEST_LDADD)

check_DATA += tests/policy/checked_cache.bpf.o
CLEANFILES += tests/policy/checked_cache.bpf.o
tests/policy/checked_cache.bpf.o: bpf/inode_cache.bpf.c $(BPF_PROGRAM_INCLUDES) \
  $(bpfinclude_HEADERS) tests/policy/verdict_check.bpf.h tests/policy/watched.h
	$(AM_V_GEN)$(MKDIR_P) $(@D) && $(COMPILE_BPF) -I$(srcdir)/tests/policy \
	  -DVERDICT_CHECK='"verdict_check.bpf.h"' -c $(srcdir)/bpf/inode_cache.bpf.c -o $@
EXTRA_DIST += tests/policy/verdict_check.bpf.h tests/policy/test_hidden_locks.sh
