#!/bin/bash
# tests/faults/soak.sh [MINUTES]: not part of the suite, which it would make long. Runs a
# private collectd at an interval of a second under load for MINUTES (30) and compares its
# memory and descriptors at the end with those after the first minute.
set -euo pipefail
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }
SOURCE_DIR=${SOURCE_DIR:-$(cd "$(dirname "$0")/../.." && pwd)}
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/tests}
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

minutes=${1:-30}
folder=$(mktemp -d)
load=
finish() {
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  private_remove
}
trap finish EXIT

own_marked_calls

private_new "$folder" csv rrdtool
private_config 1 <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
  </Object>
  <Object "marked">
    File "$BUILD_DIR/tests/bpf/marked_calls.bpf.o"
  </Object>
</Plugin>
END
private_start
"$BUILD_DIR/tests/faults/mark_calls" >/dev/null &
load=$!

state() {
  local kb fds cpu
  kb=$(sed -n 's/^VmRSS:\s*\([0-9]*\).*/\1/p' "/proc/$PRIVATE_PID/status")
  fds=$(find "/proc/$PRIVATE_PID/fd" -mindepth 1 | wc -l)
  cpu=$(awk '{ print $14 + $15 }' "/proc/$PRIVATE_PID/stat")
  echo "$1: RSS $kb KiB, $fds descriptors, $cpu ticks of CPU"
}
sleep 60
state "after 1 minute"
for minute in $(seq 2 "$minutes"); do
  sleep 60
  [ $((minute % 5)) -ne 0 ] || state "after $minute minutes"
done
state "at the end"
private_complaints | grep -v 'counting at' | tail -n 5 || true
