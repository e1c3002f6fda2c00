# shellcheck shell=bash
# Sourced by the tests of this folder: Debian packages of this source, and clean systems to try
# them in. Both are kept in $BUILD_DIR/tests/outputs until the source changes.
#
#   packages_need              says why there can be none, or nothing
#   root_make RELEASE FOLDER   a small Debian system
#   packages_build RELEASE     builds them in a system of that release, unless that is done;
#                              sets BUILT, the folder of .deb files and of lintian's report
#   in_root ROOT COMMAND...    runs a command in it
# What goes wrong is in $LOG.

KEPT=$BUILD_DIR/tests/outputs

in_root() { "$SOURCE_DIR/tests/outputs/in_root.sh" "$@"; }

packages_need() {
  [ "$(id -u)" -eq 0 ] || echo "needs root"
  local program
  for program in debootstrap unshare pivot_root; do
    command -v "$program" >/dev/null || echo "$program is not installed"
  done
  [ -n "$(package_source)" ] || echo "this machine has no source of Debian packages"
}

# The address that this machine has its own packages from.
package_source() {
  # shellcheck disable=SC2016 # for apt
  apt-get indextargets --format '$(LABEL) $(SITE)' 'Created-By: Packages' 2>/dev/null |
    awk '$1 == "Debian" && !site { site = $2 } END { print site }'
}

root_make() {
  local release=$1 root=$2 archive=$KEPT/roots/$1.tar
  if [ ! -e "$archive" ]; then
    mkdir -p "$KEPT/roots"
    rm -rf "$archive.d"
    debootstrap --variant=minbase "$release" "$archive.d" "$(package_source)" >>"$LOG" 2>&1 || return 1
    # A daemon that a package brings must not start: the tests run their own.
    printf '#!/bin/sh\nexit 101\n' >"$archive.d/usr/sbin/policy-rc.d"
    chmod 755 "$archive.d/usr/sbin/policy-rc.d"
    tar -C "$archive.d" -cf "$archive.new" .
    rm -rf "$archive.d"
    mv "$archive.new" "$archive"
  fi
  mkdir -p "$root"
  tar -C "$root" -xf "$archive"
  in_root "$root" apt-get -q update >>"$LOG" 2>&1 || true
}

# apt_install ROOT PACKAGE...
apt_install() {
  local root=$1
  shift
  in_root "$root" apt-get -q install -y --no-install-recommends "$@" >>"$LOG" 2>&1
}

packages_build() {
  local release=$1 root=$KEPT/building version key
  BUILT=$KEPT/packages/$release
  make -C "$BUILD_DIR" dist >>"$LOG" 2>&1 || return 1
  version=$(sed -n 's/^PACKAGE_VERSION = //p' "$BUILD_DIR/Makefile")
  local tarball=$BUILD_DIR/collectd-bpf-window-$version.tar.xz
  key=$(tar -xOf "$tarball" | sha256sum)
  [ "$(cat "$BUILT/source" 2>/dev/null)" != "$key" ] || return 0
  rm -rf "$root" "$BUILT"
  root_make "$release" "$root" || return 1
  mkdir "$root/build"
  tar -C "$root/build" -xf "$tarball"
  local source=/build/collectd-bpf-window-$version
  apt_install "$root" build-essential debhelper fakeroot lintian || return 1
  in_root "$root" sh -c "cd $source && apt-get -q build-dep -y --no-install-recommends ." >>"$LOG" 2>&1 || return 1
  in_root "$root" sh -c "cd $source && dpkg-buildpackage -us -uc" >>"$LOG" 2>&1 || return 1
  mkdir -p "$BUILT"
  in_root "$root" sh -c 'cd /build && lintian --allow-root --fail-on none --show-overrides *.changes' \
    >"$BUILT/lintian" 2>>"$LOG" || return 1
  mv "$root"/build/*.deb "$BUILT/"
  rm -rf "$root"
  echo "$key" >"$BUILT/source"
}
