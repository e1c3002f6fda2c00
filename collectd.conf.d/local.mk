# Examples to be copied into collectd's folder of that name.
exampleconfdir = $(docdir)/examples/collectd.conf.d
dist_exampleconf_DATA = \
  collectd.conf.d/bpf_window.conf
