# For authors of agents; installed as they are.
exampleexitsdir = $(docdir)/examples/exits
dist_exampleexits_DATA = examples/exits/Makefile examples/exits/exits.bpf.c examples/exits/exits.c
