# Examples to be copied into collectd's folder of that name.
exampleconfdir = $(docdir)/examples/collectd.conf.d
dist_exampleconf_DATA = \
  collectd.conf.d/bpf_window.conf \
  collectd.conf.d/bpf_window-aggregation.conf \
  collectd.conf.d/bpf_window-graphite.conf \
  collectd.conf.d/bpf_window-network-client.conf \
  collectd.conf.d/bpf_window-network-server.conf \
  collectd.conf.d/bpf_window-prometheus.conf \
  collectd.conf.d/bpf_window-rrdcached.conf \
  collectd.conf.d/bpf_window-rrdtool.conf \
  collectd.conf.d/bpf_window-threshold.conf
