#!/bin/bash
# sudo ./quickstart.sh [--seconds N]
#
# The whole of collectd-bpf-window in a few minutes, on a fresh Debian 12 or newer:
# installs what it needs, builds in build/quickstart, starts a collectd of its own, opens
# files for N seconds (60), shows what was counted, and leaves the system as it was. The
# packages, the build and the results (build/quickstart/result) stay.
set -euo pipefail

SOURCE_DIR=$(cd "$(dirname "$0")" && pwd)
BUILD_DIR=$SOURCE_DIR/build/quickstart
RESULT=$BUILD_DIR/result
FILES=400
seconds=60

# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

die() {
  echo "quickstart.sh: $*" >&2
  exit 1
}

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
    --seconds)
      if ! [[ ${2:-} =~ ^[0-9]+$ ]] || [ "$2" -lt 5 ]; then
        echo "quickstart.sh: --seconds needs a number from 5" >&2
        exit 2
      fi
      seconds=$2; shift ;;
    --help) sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0 ;;
    *) echo "quickstart.sh: unknown option $1 (see --help)" >&2; exit 2 ;;
    esac
    shift
  done
  [ "$(id -u)" -eq 0 ] || die "needs root, to load BPF programs: sudo ./quickstart.sh"
}

step() { echo; echo "== $*"; }

build() {
  step "Packages and build"
  "$SOURCE_DIR/tools/packages.sh" build run
  mkdir -p "$BUILD_DIR"
  echo "Building in $BUILD_DIR (log: build.log)"
  (
    [ -x "$SOURCE_DIR/configure" ] || "$SOURCE_DIR/bootstrap"
    cd "$BUILD_DIR"
    [ -f Makefile ] || "$SOURCE_DIR/configure" --enable-silent-rules
    make -j"$(nproc)"
  ) >"$BUILD_DIR/build.log" 2>&1 || {
    tail -n 20 "$BUILD_DIR/build.log" >&2
    die "the build failed; see $BUILD_DIR/build.log"
  }
}

start() {
  step "A private collectd"
  rm -rf "$RESULT"
  mkdir -p "$RESULT"
  private_new "$(mktemp -d)" csv rrdtool
  trap 'echo; echo "Interrupted; cleaning up." >&2; exit 130' INT TERM
  trap private_remove EXIT
  local i
  mkdir -p "$PRIVATE"/files/{allowed,denied,other}
  for i in $(seq "$FILES"); do
    : >"$PRIVATE/files/other/$i"
    [ $((i % 10)) -ne 0 ] || : >"$PRIVATE/files/allowed/$i"
    [ $((i % 20)) -ne 0 ] || : >"$PRIVATE/files/denied/$i"
  done
  private_config 2 <<END
<Plugin csv>
  DataDir "$PRIVATE/csv"
</Plugin>
<Plugin rrdtool>
  DataDir "$PRIVATE/rrd"
  RRATimespan 3600
  RRARows 1800
</Plugin>
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
    <Policy>
      # Observing: a denied file is counted as denied, and opened all the same.
      Allow "$PRIVATE/files/allowed/"
      Deny "$PRIVATE/files/denied/"
    </Policy>
  </Object>
</Plugin>
END
  if ! private_start; then
    cat "$PRIVATE/collectd.out" >&2
    die "collectd did not start"
  fi
  sed -n 's/^.*bpf_window plugin: //p' "$PRIVATE/collectd.log" | fold -s -w 78
  grep -q 'inode_cache: loaded' "$PRIVATE/collectd.log" || die "the BPF object did not load"
}

open_files() {
  step "Opening files for $seconds seconds (the rest of this machine is counted too)"
  local end=$((SECONDS + seconds)) opens=0 file files=("$PRIVATE"/files/*/*)
  while [ "$SECONDS" -lt "$end" ]; do
    for file in "${files[@]}"; do : <"$file"; done
    opens=$((opens + ${#files[@]}))
    [ ! -t 1 ] || printf '\r%3d s left, %d opens ' $((end - SECONDS)) "$opens"
    sleep 0.05
  done
  [ ! -t 1 ] || printf '\r%*s\r' 40 ''
  echo "$opens opens of ${#files[@]} files"
  sleep 4.5 # until collectd has dispatched the last second
}

graph() {
  local rrds=$PRIVATE/rrd/$PRIVATE_HOST/bpf_window-inode_cache
  local counter graph=()
  for counter in hits_no_policy hits_allow hits_deny misses_walk; do
    graph+=("DEF:$counter=$rrds/cache_result-$counter.rrd:value:AVERAGE")
  done
  rrdtool graph "$RESULT/inode_cache.png" --width 700 --height 240 \
    --start "end-$((seconds + 20))s" --end now --lower-limit 0 \
    --title "inode_cache: lookups per second, and how they were answered" \
    --vertical-label "per second" \
    "${graph[@]}" \
    "DEF:ratio=$rrds/cache_ratio-hit.rrd:value:AVERAGE" \
    'AREA:hits_no_policy#9ecae1:hit, no policy ' \
    'GPRINT:hits_no_policy:AVERAGE:average %8.1lf/s\l' \
    'AREA:hits_allow#31a354:hit, allowed   :STACK' \
    'GPRINT:hits_allow:AVERAGE:average %8.1lf/s\l' \
    'AREA:hits_deny#756bb1:hit, denied    :STACK' \
    'GPRINT:hits_deny:AVERAGE:average %8.1lf/s\l' \
    'AREA:misses_walk#e6550d:miss, walked   :STACK' \
    'GPRINT:misses_walk:AVERAGE:average %8.1lf/s\l' \
    'GPRINT:ratio:LAST:hit ratio of the last five minutes %5.1lf %%\l' >/dev/null
}

show() {
  step "collectd is stopped; the kernel still counts: bpf-window show inode_cache"
  "$BUILD_DIR/bpf-window" show inode_cache --pin-dir "$PRIVATE_PINS"
  step "The same in the long-term record: RRD increments and dispatched totals"
  local counter total increments wrong=0
  for counter in cache_operation-lookups cache_result-hits_no_policy cache_result-hits_allow \
    cache_result-hits_deny cache_result-misses_walk cache_operation-fills; do
    total=$(csv_last "$counter")
    increments=$(rrd_increments "$counter")
    printf '  %-32s %12s %12s\n' "$counter" "$increments" "$total"
    [ "$increments" = "$total" ] || wrong=$((wrong + 1))
  done
  [ "$wrong" -eq 0 ] || die "$wrong of the RRDs do not hold the dispatched totals"
}

ledger() {
  awk -v lookups="$(csv_last cache_operation-lookups)" \
    -v none="$(csv_last cache_result-hits_no_policy)" \
    -v allow="$(csv_last cache_result-hits_allow)" \
    -v deny="$(csv_last cache_result-hits_deny)" \
    -v misses="$(csv_last cache_result-misses_walk)" 'BEGIN {
      sum = none + allow + deny + misses
      printf "  ledger: %d + %d + %d + %d = %d, lookups %d\n", none, allow, deny, misses, sum, lookups
      exit sum != lookups }' || die "hits and misses are not the lookups"
}

main() {
  parse "$@"
  build
  start
  open_files
  private_stop
  show
  ledger
  graph
  mv "$PRIVATE/rrd" "$PRIVATE/csv" "$PRIVATE/collectd.log" "$RESULT/"
  private_remove
  step "Stopped, detached and unpinned. What stays:"
  find "$RESULT" -name '*.rrd' | sort | sed "s|^$SOURCE_DIR/|  |"
  echo "  ${RESULT#"$SOURCE_DIR/"}/csv (the same as text)"
  echo "Graph: $RESULT/inode_cache.png"
}

main "$@"
