#!/bin/bash
# Counts instructions in a virtual machine: opens with and without the inode
# cache, and reading with 2 and with 255 possible CPUs.
#
#   vm.sh [KERNEL [KERNEL-FOR-READING]]
#
# From 6.9 on a kernel does not count CPUs as possible that the firmware says can
# never come, so that reading needs an older one.
#
# Environment: BUILD_DIR, SOURCE_DIR. Writes BUILD_DIR/tests/bench/vm-*.json.
set -euo pipefail
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }

here=$(dirname "$(realpath "$0")")
export SOURCE_DIR=${SOURCE_DIR:-$(realpath "$here/../..")}
BUILD_DIR=$(realpath "${BUILD_DIR:-$PWD}")
export BUILD_DIR
kernel=${1:-6.18}
older_kernel=${2:-6.1}
out=$BUILD_DIR/tests/bench

make -s -C "$BUILD_DIR" bench-instructions >&2

# measure NAME KERNEL ARGUMENTS BOOT-OPTION...: the document stands behind a mark.
measure() {
    local name=$1 kernel=$2 arguments=$3
    shift 3
    "$SOURCE_DIR/tests/vm/run.sh" --command \
        "\"\$BUILD_DIR\"/tests/bench/instructions /tmp/results.json $arguments && echo '#json' && cat /tmp/results.json" \
        "$kernel" -- --icount --timeout 900 "$@" | tee "$out/vm-$name.log"
    sed '1,/^#json/d' "$out/vm-$name.log" >"$out/vm-$name.json"
}

# shellcheck disable=SC2016 # the guest expands it
measure opens "$kernel" 'opens "$BUILD_DIR"' --smp 1
# One CPU online: with two, 6.1 does not get through its boot under -icount.
measure reading-2 "$older_kernel" reading --smp 1,maxcpus=2
measure reading-255 "$older_kernel" reading --smp 1,maxcpus=255
