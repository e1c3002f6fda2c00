# What distributions need; nothing is built or installed from here.
EXTRA_DIST += packaging/rpm/collectd-bpf-window.spec \
  packaging/systemd/bpf_window.conf
