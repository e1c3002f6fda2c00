# The installed headers, and the bundled BPF objects.
bpfinclude_HEADERS = bpf/include/bpf_window/layout.h \
  bpf/include/bpf_window/setup.h bpf/include/bpf_window/window.bpf.h
noarch_pkgconfig_DATA = bpf/bpf-window.pc

BPF_OBJECTS = bpf/block_io.bpf.o bpf/inode_cache.bpf.o bpf/page_cache.bpf.o bpf/tcp.bpf.o
bpfobject_DATA = $(BPF_OBJECTS)
CLEANFILES += $(BPF_OBJECTS)

BPF_PROGRAM_FILES = bpf/block_io.bpf.c bpf/inode_cache.bpf.c bpf/page_cache.bpf.c bpf/tcp.bpf.c
BPF_PROGRAM_INCLUDES = \
  bpf/enforce.bpf.h bpf/file_marks.bpf.h bpf/file_policy.h \
  bpf/kernel_types.h bpf/name_sequences.bpf.h \
  bpf/open_verdict.bpf.h bpf/path_walk.bpf.h bpf/policy_match.bpf.h \
  bpf/unkept.h bpf/verdict_cache.bpf.h
EXTRA_DIST += $(BPF_PROGRAM_FILES) $(BPF_PROGRAM_INCLUDES)

# $(srcdir)/... -> builddir: BPF objects depend on every BPF header; they are few.
.bpf.c.bpf.o:
	$(AM_V_GEN)$(MKDIR_P) $(@D) && \
	  $(BPF_CC) $(BPF_CFLAGS) $(BPF_CPPFLAGS) -I$(srcdir)/bpf/include -I$(srcdir)/bpf -c $< -o $@

SUFFIXES = .bpf.c .bpf.o
$(BPF_OBJECTS): $(bpfinclude_HEADERS) $(BPF_PROGRAM_INCLUDES)
