#!/bin/bash
# many.sh: what many windows cost. A private collectd with OBJECTS objects of ten counters
# each, at an interval of a second, for SECONDS_LONG seconds, without writers. Prints the CPU
# time of collectd, its memory, the kernel memory of the maps, and the time that a window's
# reading takes; once with no object, for comparison.
#
# Environment: BUILD_DIR (a finished build; default: where you are), OBJECTS (50), SECONDS_LONG
# (60), CLANG. Needs root and collectdctl.
set -euo pipefail
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }
SOURCE_DIR=$(cd "$(dirname "$0")/../.." && pwd)
BUILD_DIR=$(realpath "${BUILD_DIR:-$PWD}")
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"
OBJECTS=${OBJECTS:-50} SECONDS_LONG=${SECONDS_LONG:-60}

folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" unixsock
for ((i = 0; i < OBJECTS; i++)); do
  sed "s/many_x/many_$i/" "$SOURCE_DIR/tests/bench/many.bpf.c" >"$folder/many.bpf.c"
  "${CLANG:-clang}" -target bpf -mcpu=v3 -g -O2 -idirafter "/usr/include/$(gcc -print-multiarch)" \
    -I"$SOURCE_DIR/bpf/include" -c "$folder/many.bpf.c" -o "$folder/many_$i.bpf.o"
done

configure() { # OBJECTS
  {
    echo "<Plugin unixsock>"
    echo "  SocketFile \"$folder/socket\""
    echo "</Plugin>"
    echo "<Plugin bpf_window>"
    echo "  PinDir \"$PRIVATE_PINS\""
    for ((i = 0; i < $1; i++)); do
      echo "  <Object \"many_$i\">"
      echo "    File \"$folder/many_$i.bpf.o\""
      echo "  </Object>"
    done
    echo "</Plugin>"
  } | private_config 1
}

cpu_ticks() { # user and system time of collectd
  sed 's/.*) //' "/proc/$PRIVATE_PID/stat" | awk '{ print $12 + $13 }'
}
value() { # SERIES
  collectdctl -s "$folder/socket" getval "$PRIVATE_HOST/$1" | sed 's/.*=//'
}

measure() { # OBJECTS
  configure "$1"
  private_start
  sleep 5
  local before after
  before=$(cpu_ticks)
  sleep "$SECONDS_LONG"
  after=$(cpu_ticks)
  awk -v objects="$1" -v ticks=$((after - before)) -v seconds="$SECONDS_LONG" \
    -v hz="$(getconf CLK_TCK)" -v rss="$(awk '/^VmRSS/ { print $2 }' "/proc/$PRIVATE_PID/status")" 'BEGIN {
    printf "%3d objects: %.2f ms CPU per second (%.2f %% of a CPU), RSS %.1f MiB\n",
      objects, 1000 * ticks / hz / seconds, 100 * ticks / hz / seconds, rss / 1024 }'
  if [ "$1" -gt 0 ]; then
    for ((i = 0; i < $1; i++)); do
      echo "$(value "bpf_window-many_$i/duration-self_read") $(value "bpf_window-many_$i/memory-self_maps")"
    done | sort -g | awk '{ read[NR] = $1; maps += $2 } END {
      printf "             reading a window: median %.0f us, longest %.0f us; maps %.0f KiB each\n",
        1e6 * read[int((NR + 1) / 2)], 1e6 * read[NR], maps / NR / 1024 }'
  fi
  private_stop
}

"$BUILD_DIR/bpf-window" --version
echo "$(nproc) CPUs, kernel $(uname -r), load $(cut -d' ' -f1-3 /proc/loadavg)"
measure 0
measure "$OBJECTS"
