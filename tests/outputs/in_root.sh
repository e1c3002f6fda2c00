#!/bin/bash
# in_root.sh ROOT COMMAND...: runs a command in another system's root, with this kernel's file
# systems in it. The mounts are in a namespace of their own: however it ends, none is left.
# The root is pivoted, not changed to, so that a path is to the kernel what it is to the
# command (see docs/policy.md).
set -eu

ROOT=$(realpath "$1")
shift
export ROOT
# shellcheck disable=SC2016 # for the shells that they are given to
exec unshare -m --propagation private bash -ec '
  mount --bind "$ROOT" "$ROOT"
  cd "$ROOT"
  mount -t proc proc proc
  mount -t sysfs sysfs sys
  mount --bind /sys/fs/bpf sys/fs/bpf
  mkdir -p .outside
  pivot_root . .outside
  cd /
  exec /usr/bin/env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root LC_ALL=C.UTF-8 \
    DEBIAN_FRONTEND=noninteractive \
    /bin/sh -c "umount -l /.outside; rmdir /.outside; exec \"\$@\"" sh "$@"' bash "$@"
