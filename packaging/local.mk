# What distributions need; nothing is built or installed from here.
EXTRA_DIST += packaging/rpm/collectd-bpf-window.spec \
  packaging/systemd/bpf_window.conf \
  debian/changelog debian/collectd-bpf-window.docs debian/collectd-bpf-window.install \
  debian/collectd-bpf-window.lintian-overrides debian/control debian/copyright \
  debian/enable.conf debian/libbpf-window-dev.install debian/not-installed debian/rules debian/settings.conf debian/source/format
