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
like "$err" "^bpf-window: graph: drawn without RRDs: no RRDs of window counted below /var/lib/collectd" \
  "which is said, with the reason"
graph --rrd "$SCRATCH/rrd" -o "$SCRATCH/both.PNG"
is "$status $err" "0 " "nothing is said where nothing lacks; .PNG is a PNG, too"

# ---- A part, a choice, another host ----

# draw NAME OPTION...: the same time in $SCRATCH/NAME.
draw() {
  local name=$1
  status=0
  bpf_window graph counted --pin-dir "$PINS" -o - --from "@$((now - 3000))" --to "@$((now - 600))" "${@:2}" \
    >"$SCRATCH/$name" 2>"$SCRATCH/err" || status=$?
  err=$(cat "$SCRATCH/err")
}
differ() { if cmp -s "$SCRATCH/$1" "$SCRATCH/$2"; then not_ok "$3"; else ok "$3"; fi; }
draw all.png --rrd "$SCRATCH/rrd"
is "$status $(head -c 4 "$SCRATCH/all.png" | tail -c 3)" "0 PNG" "to standard output; --from and --to"
draw two.png --rrd "$SCRATCH/rrd" --counter misses --counter 'hits_f*'
is "$status $err" "0 " "--counter, twice"
differ all.png two.png "is another picture"
draw one.png --counter evictions
is "$status" 0 "--counter of one that is no result"
graph --rrd "$SCRATCH/rrd" -o "$SCRATCH/x.png" --counter misses --counter nosuch
is "$status $err" "1 bpf-window: graph: --counter nosuch: what can be drawn is lookups, hits_fast, hits_slow, misses, evictions" \
  "one that is not there: status 1, and those that are"
mkdir "$SCRATCH/other"
cp -r "$SCRATCH/rrd/host" "$SCRATCH/other/elsewhere"
draw other.png --rrd "$SCRATCH/other"
differ all.png other.png "the host is in the picture"
TZ=Asia/Kolkata draw zone.png --rrd "$SCRATCH/rrd"
differ all.png zone.png "so is the zone"
graph --percentiles -o "$SCRATCH/x.png"
is "$status $err" "1 bpf-window: graph: window counted has no histograms" "--percentiles without a histogram"
is "$(find /tmp -maxdepth 1 -name 'bpf-window.*' | wc -l)" 0 "nothing is left in /tmp"

graph --rrd "$SCRATCH/nothing" -o "$SCRATCH/x.png"
is "$status $(wc -l <<<"$err")" "1 1" "RRDs that are not there: one line, status 1"
like "$err" 'no RRDs of window counted below' "which says where it looked"
graph --rrd "$SCRATCH/rrd" -o /nowhere/x.png
is "$status $(wc -l <<<"$err")" "1 1" "a picture that cannot be written: one line, status 1"
graph -o "$SCRATCH/x.gif"
is "$status" 2 "another kind of picture is wrong usage"
if command -v script >/dev/null; then
  text=$(script -qec "$BUILD_DIR/bpf-window graph counted -o -" /dev/null </dev/null || true)
  like "$text" 'a terminal shows no picture' "no picture for a terminal"
else
  skip "no picture for a terminal" "script is not installed"
fi

# ---- Histograms ----

line() { # AGO SLOT=COUNT: one event kind in number_us, nothing in coarse and fine
  awk -v ago="$1" -v slot="${2%=*}" -v count="${2#*=}" 'BEGIN {
    printf "%d 0 %d", ago, count
    for (i = 0; i < 96; i++) printf " %d", i == slot ? count : 0
    print "" }'
}
for ago in $(seq 1 200); do line "$ago" "$((ago / 20 + 3))=$ago"; done |
  "$HERE/make_window" "$BUILD_DIR/tests/bpf/histogram.bpf.o" "$PINS/histogram" >/dev/null
run bpf_window graph numbers --pin-dir "$PINS" --percentiles --counter number_us --last 5m -o "$SCRATCH/percentiles.png"
is "$status $out" "0 $SCRATCH/percentiles.png" "percentiles of the window"
run bpf_window graph numbers --pin-dir "$PINS" --last 5m -o "$SCRATCH/counters.png"
like "$err" 'drawn without histogram number_us: --percentiles draws those' "histograms left out are told"
mkdir "$SCRATCH/rrd/host/bpf_window-numbers"
for slot in 0 1 2; do
  file=$SCRATCH/rrd/host/bpf_window-numbers/derive-number_us-0${slot}_ge_$((slot ? 1 << slot : 0)).rrd
  rrdtool create "$file" --step 10 --start $((now - 4000)) DS:value:GAUGE:20:0:U RRA:AVERAGE:0.5:1:600
  for time in $(seq $((now - 3600)) 10 $((now - 20))); do echo "$time:$((slot * (time / 10 % 7)))"; done |
    xargs rrdtool update "$file"
done
run bpf_window graph numbers --pin-dir "$PINS" --rrd "$SCRATCH/rrd" --percentiles --counter number_us -o "$SCRATCH/percentiles_both.png"
is "$status $err" "0 " "percentiles of both"

# ---- Arrays ----

seq 1 200 | sed 's/$/ 0 10 1 2 3 4/' | "$HERE/make_window" "$BUILD_DIR/tests/bpf/array.bpf.o" "$PINS/array" >/dev/null
array() { run bpf_window graph parts --pin-dir "$PINS" --last 5m -o "$SCRATCH/$1.png" --counter "${@:2}"; }
array element part_3
is "$status $out" "0 $SCRATCH/element.png" "--counter of one of an array, as collectd names it"
array whole part
is "$status" 0 "or of all of it"
differ element.png whole.png "which is another picture"
array both part --counter part_1
is "$status" 0 "or both"
array no_element part_4
like "$err" 'what can be drawn is calls, part, part_0, part_1, part_2, part_3$' "what it has not is told"

# ---- Buckets that no RRD has ----

"$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/fine" 100000000 <<<"20 0 5 5 0 0 0" >/dev/null
run bpf_window graph fine/counted --pin-dir "$PINS" -o "$SCRATCH/x.png"
is "$status $err" "1 bpf-window: graph: window counted: its buckets of 0.1 s are no whole number of seconds, so a picture of it needs RRDs" \
  "buckets of 0.1 s need RRDs: one line, status 1"
rm "$SCRATCH/other/elsewhere/bpf_window-counted/cache_result-misses.rrd"
run bpf_window graph fine/counted --pin-dir "$PINS" --rrd "$SCRATCH/other" -o "$SCRATCH/x.png"
is "$status $err" "0 bpf-window: graph: drawn without the window: its buckets of 0.1 s are no whole number of seconds
bpf-window: graph: drawn without misses, lookups: no RRD has that" "which give what they have; what lacks is told"
rm -r "$PINS/fine"

# ---- Where collectd's configuration has them ----

if [ -d /etc/collectd ]; then
  printf '<Plugin rrdtool>\n  DataDir "%s"\n</Plugin>\n' "$SCRATCH/rrd" >"$SCRATCH/collectd.conf"
  run configured graph counted --pin-dir "$PINS" -o "$SCRATCH/configured.png"
  is "$status $err" "0 " "the RRDs are found where collectd's configuration has them"
  printf 'BaseDir "%s"\n<Plugin rrdtool>\n  DataDir "rrd"\n</Plugin>\n' "$SCRATCH" >"$SCRATCH/collectd.conf"
  run configured graph counted --pin-dir "$PINS" -o "$SCRATCH/configured.png"
  is "$status $err" "0 " "also below its BaseDir"
else
  skip "collectd's configuration" "there is no /etc/collectd"
fi

# ---- The RRDs alone ----

rm -r "$PINS/counted" "$PINS/histogram" "$PINS/array"
run bpf_window graph counted --pin-dir "$PINS" --rrd "$rrds" -o "$SCRATCH/old.png"
is "$status" 0 "the RRDs alone"
like "$err" '^bpf-window: graph: drawn without the window: (no )?window counted' "which is said, with the reason"
run bpf_window graph numbers --pin-dir "$PINS" --rrd "$SCRATCH/rrd" --percentiles -o "$SCRATCH/percentiles_old.png"
is "$status" 0 "percentiles of the RRDs alone"
is "$(find /tmp -maxdepth 1 -name 'bpf-window.*' | wc -l)" 0 "nothing is left in /tmp"

[ -z "${KEEP:-}" ] || cp "$SCRATCH"/*.png "$KEEP"

done_testing
