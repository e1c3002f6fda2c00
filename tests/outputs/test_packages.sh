#!/bin/bash
# Debian packages in a clean system: install, enable one line, start collectd, read a value,
# remove. For each release of RELEASES a root is made with debootstrap from this machine's own
# package source, or ROOTS/<release> is used.
#   PACKAGES   folder of the .deb files (dpkg-buildpackage leaves them above the source)
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"

[ -n "${PACKAGES:-}" ] || skip_all "no packages: set PACKAGES to the folder of the .deb files"
[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -n "${ROOTS:-}" ] || command -v debootstrap >/dev/null || skip_all "debootstrap is not installed"

folder=$(mktemp -d)
pins=/sys/fs/bpf/bpf_window_packages_$$
root=
daemon=

leave_root() {
  [ -z "$daemon" ] || end_all "$daemon"
  daemon=
  [ -z "$root" ] || umount -q -l "$root/sys/fs/bpf" "$root/sys" "$root/proc" || true
  rm -rf "$pins"
  root=
}
trap 'leave_root; rm -rf "$folder"' EXIT

in_root() { chroot "$root" env DEBIAN_FRONTEND=noninteractive LC_ALL=C "$@"; }

enter_root() { # RELEASE
  root=${ROOTS:-$folder}/$1
  if [ ! -d "$root/usr" ]; then
    local mirror
    # shellcheck disable=SC2016 # for apt
    mirror=$(apt-get indextargets --format '$(SITE)' | grep -v security | sort -u | head -n 1)
    debootstrap --variant=minbase "$1" "$root" "$mirror" >"$folder/debootstrap.log" 2>&1
  fi
  mount -t proc proc "$root/proc"
  mount -t sysfs sysfs "$root/sys"
  mount --bind /sys/fs/bpf "$root/sys/fs/bpf"
  printf '#!/bin/sh\nexit 101\n' >"$root/usr/sbin/policy-rc.d"
  chmod 755 "$root/usr/sbin/policy-rc.d"
}

value_is_read() {
  in_root collectdctl getval "$host/bpf_window-inode_cache/cache_operation-lookups" |
    grep -E '^value=[0-9]'
}

leftovers() {
  find "$root/etc" "$root/usr" "$root/var/lib/collectd" -iname '*bpf[_-]window*' \
    -not -path '*/rrd/*' 2>/dev/null | sed "s|^$root||" | sort
}

for release in ${RELEASES:-bookworm trixie}; do
  if ! enter_root "$release"; then
    not_ok "$release: a root" "$(tail -n 3 "$folder/debootstrap.log")"
    leave_root
    continue
  fi
  mkdir -p "$root/packages"
  cp "$PACKAGES"/collectd-bpf-window_*.deb "$PACKAGES"/libbpf-window-dev_*.deb "$root/packages/"
  in_root apt-get -q update >"$folder/apt.log" 2>&1 || true
  # The daemon and its tools first, so that what is left afterwards is known.
  if in_root apt-get -q install -y --no-install-recommends collectd collectd-utils \
    >>"$folder/apt.log" 2>&1 &&
    in_root sh -c 'apt-get -q install -y --no-install-recommends /packages/*.deb' >>"$folder/apt.log" 2>&1; then
    ok "$release: the packages install"
  else
    not_ok "$release: the packages install" "$(tail -n 5 "$folder/apt.log")"
    leave_root
    continue
  fi

  # What a user does, and places of the test's own.
  sed -i 's/^#Include/Include/' "$root/etc/collectd/collectd.conf.d/bpf_window.conf"
  sed -i "s|#PinDir .*|PinDir \"$pins\"|" "$root/etc/collectd/bpf_window.conf"
  host=packages
  # Other plugins may need libraries that their packages only recommend.
  sed -i -e 's/^LoadPlugin /#&/' -e "s/^#\?Hostname.*/Hostname \"$host\"/" \
    -e 's/^#LoadPlugin unixsock/LoadPlugin unixsock/' -e 's/^FQDNLookup.*/FQDNLookup false/' "$root/etc/collectd/collectd.conf"
  mkdir -p "$root/run"
  # Not by in_root: it would be a shell's child, and outlive the shell.
  chroot "$root" collectd -f >"$folder/collectd.log" 2>&1 &
  daemon=$!
  if until_true 90 value_is_read; then
    ok "$release: collectdctl reads $(value_is_read)"
  else
    not_ok "$release: collectdctl reads a value" "$(grep -i bpf "$folder/collectd.log" | head -n 5)"
  fi
  like "$(in_root bpf-window show inode_cache --pin-dir "$pins" 2>&1)" 'lookups +[0-9]' \
    "$release: bpf-window shows the window"
  end_all "$daemon"
  daemon=
  rm -rf "$pins"

  in_root apt-get -q purge -y collectd-bpf-window libbpf-window-dev >>"$folder/apt.log" 2>&1 ||
    not_ok "$release: the packages are removed" "$(tail -n 5 "$folder/apt.log")"
  is "$(leftovers)" "" "$release: removed without leftovers"
  leave_root
done
done_testing
