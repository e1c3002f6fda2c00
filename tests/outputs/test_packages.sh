#!/bin/bash
# Debian packages, for each release of RELEASES: built there, without a complaint of lintian;
# installed in a clean system, one line enabled, collectd started, a value read, removed.
#   PACKAGES   a folder of .deb files to take instead of building them
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"
# shellcheck source=tests/outputs/packages.sh
. "$SOURCE_DIR/tests/outputs/packages.sh"

why=$(packages_need | head -n 1)
[ -z "$why" ] || skip_all "$why"

folder=$(mktemp -d)
LOG=$folder/log
pins=/sys/fs/bpf/bpf_window_packages_$$
root=$folder/root
daemon=

leave_root() {
  [ -z "$daemon" ] || end_all "$daemon"
  daemon=
  rm -rf "$pins" "$root"
}
trap 'leave_root; rm -rf "$folder"' EXIT

# A rate: above 0, since this test itself opens files.
value_is_read() {
  in_root "$root" collectdctl getval "$host/bpf_window-inode_cache/cache_operation-lookups" |
    awk -F= '$1 == "value" && $2 ~ /^[0-9]/ && $2 > 0 { print; read = 1 } END { exit !read }'
}

leftovers() {
  find "$root/etc" "$root/usr" "$root/var/lib/collectd" -iname '*bpf[_-]window*' \
    -not -path '*/rrd/*' | sed "s|^$root||" | sort
}

built() { # RELEASE
  if [ -n "${PACKAGES:-}" ]; then
    BUILT=$PACKAGES
  elif packages_build "$1"; then
    ok "$1: the packages are built"
    # What an override explains stands there with an O.
    is "$(grep -E '^[EWI]:' "$BUILT/lintian" || true)" "" "$1: lintian has no complaint"
  else
    not_ok "$1: the packages are built" "$(tail -n 5 "$LOG")"
    return 1
  fi
}

installed() { # RELEASE
  root_make "$1" "$root" && mkdir "$root/packages" &&
    cp "$BUILT"/collectd-bpf-window_*.deb "$BUILT"/libbpf-window-dev_*.deb "$root/packages/" &&
    # The daemon and its tools first, so that what is left afterwards is known.
    apt_install "$root" collectd collectd-utils &&
    in_root "$root" sh -c 'apt-get -q install -y --no-install-recommends /packages/*.deb' >>"$LOG" 2>&1
}

host=packages
for release in ${RELEASES:-bookworm trixie}; do
  built "$release" || continue
  if installed "$release"; then
    ok "$release: the packages install"
  else
    not_ok "$release: the packages install" "$(tail -n 5 "$LOG")"
    leave_root
    continue
  fi

  # What a user does, and places of the test's own.
  sed -i 's/^#Include/Include/' "$root/etc/collectd/collectd.conf.d/bpf_window.conf"
  sed -i "s|#PinDir .*|PinDir \"$pins\"|" "$root/etc/collectd/bpf_window.conf"
  # Other plugins may need libraries that their packages only recommend.
  sed -i -e 's/^LoadPlugin /#&/' -e "s/^#\?Hostname.*/Hostname \"$host\"/" \
    -e 's/^#LoadPlugin unixsock/LoadPlugin unixsock/' -e 's/^FQDNLookup.*/FQDNLookup false/' "$root/etc/collectd/collectd.conf"
  # By its own name: a function's would be a shell's child, and outlive the shell.
  "$SOURCE_DIR/tests/outputs/in_root.sh" "$root" collectd -f >"$folder/collectd.log" 2>&1 &
  daemon=$!
  if until_true 90 value_is_read; then
    ok "$release: collectdctl reads $(value_is_read)"
  else
    not_ok "$release: collectdctl reads a value" "$(grep -i bpf "$folder/collectd.log" | head -n 5)"
  fi
  like "$(in_root "$root" bpf-window show inode_cache --pin-dir "$pins" 2>&1)" 'lookups +[0-9]' \
    "$release: bpf-window shows the window"
  end_all "$daemon"
  daemon=
  rm -rf "$pins"

  in_root "$root" apt-get -q remove -y collectd-bpf-window libbpf-window-dev >>"$LOG" 2>&1 ||
    not_ok "$release: the packages are removed" "$(tail -n 5 "$LOG")"
  is "$(leftovers)" "/etc/collectd/bpf_window.conf
/etc/collectd/collectd.conf.d/bpf_window.conf" "$release: removed, the settings stay"
  # What is enabled there must not keep collectd from starting.
  # (-T reads once and ends; -t of Debian's collectd does not look into the file.)
  like "$(in_root "$root" collectd -T 2>&1; echo "status $?")" 'status 0' "$release: collectd starts without the plugin"
  in_root "$root" apt-get -q purge -y collectd-bpf-window >>"$LOG" 2>&1 ||
    not_ok "$release: the package is purged" "$(tail -n 5 "$LOG")"
  is "$(leftovers)" "" "$release: purged without leftovers"
  leave_root
done
done_testing
