#!/bin/bash
# bpf-window graph: RRDs and window in one picture.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

"$BUILD_DIR/bpf-window" graph --help >/dev/null 2>&1 || skip_all "built without librrd"
command -v rrdtool >/dev/null || skip_all "rrdtool is not installed"

for ago in $(seq 1 280); do
  misses=50
  if [ "$ago" -gt 60 ] && [ "$ago" -lt 80 ]; then misses=600; fi
  echo "$ago 0 $((950 - ago + misses)) $((900 - ago)) 50 $misses 0"
done | make_counted

# What collectd would have kept for an hour, with ten minutes missing.
rrds=$SCRATCH/rrd/host/bpf_window-counted
mkdir -p "$rrds"
now=$(($(date +%s) / 10 * 10))
rate() { # COUNTER TIME
  case $1 in
  hits_fast) echo $((600 + $2 / 10 % 60 * 5)) ;;
  hits_slow) echo 50 ;;
  misses) echo $((40 + $2 % 70)) ;;
  esac
}
for counter in hits_fast hits_slow misses; do
  rrdtool create "$rrds/cache_result-$counter.rrd" --step 10 --start $((now - 4000)) \
    DS:value:GAUGE:20:0:U RRA:AVERAGE:0.5:1:600
  for time in $(seq $((now - 3600)) 10 $((now - 20))); do
    if [ "$time" -lt $((now - 2400)) ] || [ "$time" -gt $((now - 1800)) ]; then
      echo "$time:$(rate $counter "$time")"
    fi
  done | xargs rrdtool update "$rrds/cache_result-$counter.rrd"
done

graph() { run bpf_window graph counted --pin-dir "$PINS" "$@"; }

graph --rrd "$SCRATCH/rrd" -o "$SCRATCH/both.png"
is "$status $out" "0 $SCRATCH/both.png" "RRDs and window in one picture" || echo "# $err"
is "$(head -c 4 "$SCRATCH/both.png" | tail -c 3)" "PNG" "which is a PNG"
graph --rrd "$SCRATCH/rrd/host" -o "$SCRATCH/both.svg"
like "$(head -c 200 "$SCRATCH/both.svg")" '<svg' "or an SVG"
graph --last 5m -o "$SCRATCH/window.png"
is "$status" 0 "the window alone"
run bpf_window graph counted --pin-dir /sys/fs/bpf/none --rrd "$rrds" -o "$SCRATCH/old.png"
is "$status" 0 "the RRDs alone"
is "$(find /tmp -maxdepth 1 -name 'bpf-window.*' | wc -l)" 0 "nothing is left in /tmp"

graph --rrd "$SCRATCH/nothing" -o "$SCRATCH/x.png"
is "$status $(wc -l <<<"$err")" "1 1" "RRDs that are not there: one line, status 1"
like "$err" 'no RRDs of window counted below' "which says where it looked"
graph --rrd "$SCRATCH/rrd" -o /nowhere/x.png
is "$status $(wc -l <<<"$err")" "1 1" "a picture that cannot be written: one line, status 1"
graph -o "$SCRATCH/x.gif"
is "$status" 2 "another kind of picture is wrong usage"
[ -z "${KEEP:-}" ] || cp "$SCRATCH"/*.png "$KEEP"

done_testing
