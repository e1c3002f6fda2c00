# The benchmarks: built and run by `make bench` only.
EXTRA_PROGRAMS = tests/bench/bench tests/bench/instructions
tests_bench_bench_SOURCES = \
  tests/bench/bench.c \
  tests/bench/counting.c tests/bench/counting.h \
  tests/bench/machine.c tests/bench/machine.h \
  tests/bench/reading.c tests/bench/reading.h \
  tests/bench/result.c tests/bench/result.h \
  tests/bench/series.c tests/bench/series.h \
  tests/bench/stream.c tests/bench/stream.h \
  tests/bench/variants.h \
  tests/bench/window_setup.c tests/bench/window_setup.h
nodist_tests_bench_bench_SOURCES = tests/bench/bench.skel.h
tests_bench_bench_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS) -I.
tests_bench_bench_LDADD = libwindow.la $(LIBBPF_LIBS) -lpthread -lm

# Instruction counts, for a virtual machine.
tests_bench_instructions_SOURCES = \
  tests/bench/instructions.c \
  tests/bench/machine.c tests/bench/machine.h \
  tests/bench/result.c tests/bench/result.h \
  tests/bench/series.c tests/bench/series.h \
  tests/bench/window_setup.c tests/bench/window_setup.h
tests_bench_instructions_CPPFLAGS = $(AM_CPPFLAGS) $(LIBBPF_CFLAGS) -I$(srcdir)/bpf
tests_bench_instructions_LDADD = libobject.la libwindow.la $(LIBBPF_LIBS) -lm

BENCH_FEATURES = tests/bench/feature_cache.bpf.o tests/bench/feature_hook.bpf.o \
  tests/bench/feature_walk.bpf.o
$(BENCH_FEATURES): tests/bench/feature_base.bpf.h tests/bench/feature_life.bpf.h bpf/inode_cache.bpf.c \
  $(BPF_PROGRAM_INCLUDES) $(bpfinclude_HEADERS)
bench-instructions: tests/bench/instructions $(BENCH_FEATURES) $(BPF_OBJECTS)

tests/bench/bench.bpf.o: tests/bench/variants.h $(bpfinclude_HEADERS)
tests/bench/bench.skel.h: tests/bench/bench.bpf.o
	$(AM_V_GEN)$(BPFTOOL) gen skeleton $< name bench_bpf > $@.new && mv $@.new $@
tests/bench/bench-bench.$(OBJEXT) \
tests/bench/bench-counting.$(OBJEXT) \
tests/bench/bench-reading.$(OBJEXT) \
tests/bench/bench-stream.$(OBJEXT): tests/bench/bench.skel.h

CLEANFILES += tests/bench/bench tests/bench/instructions $(BENCH_FEATURES) tests/bench/bench.bpf.o tests/bench/bench.skel.h \
  tests/bench/results.json tests/bench/performance.svg tests/bench/tables.md
EXTRA_DIST += tests/bench/bench.bpf.c \
  tests/bench/feature_base.bpf.h tests/bench/feature_life.bpf.h \
  tests/bench/feature_cache.bpf.c tests/bench/feature_hook.bpf.c \
  tests/bench/feature_walk.bpf.c tests/bench/vm.sh \
  tests/bench/run.sh tests/bench/report.py \
  tests/bench/many.bpf.c tests/bench/many.sh tests/bench/plot.py tests/bench/article.py

bench: tests/bench/bench
	BUILD_DIR=. SOURCE_DIR=$(srcdir) BPFTOOL=$(BPFTOOL) $(srcdir)/tests/bench/run.sh
.PHONY: bench bench-instructions
