examplecollectiondir = $(docdir)/examples/collection.d
dist_examplecollection_DATA = collection.d/bpf_window.conf
