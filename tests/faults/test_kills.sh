#!/bin/bash
# collectd is killed and started again at random moments under a steady load that counts
# its own events; some outages are longer than the window (whose buckets are 10 ms here, so
# that it spans three seconds). At the end every event is in the record once, or in a gap
# of which the record says so.
#
# KILLS=n: how often (default 25).
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
[ -z "${IN_VM:-}" ] || skip_all "an emulated machine is too slow for edges every second"

KILLS=${KILLS:-25}
RANDOM=${SEED:-$$}
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
$(private_csv)
<Plugin rrdtool>
  DataDir "$folder/rrd"
  RRATimespan 86400
  RRARows 86400
</Plugin>
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "marked">
    File "$BUILD_DIR/tests/bpf/marked_calls_short.bpf.o"
  </Object>
</Plugin>
END

start() {
  private_start || { not_ok "collectd starts" "$(cat "$folder/collectd.log")"; exit 1; }
  cat "$folder/collectd.log" >>"$folder/all.log"
}

series=$folder/csv/$PRIVATE_HOST/bpf_window-marked/derive-calls
points() { cat "$series"-????-??-?? | grep -v epoch | sort -n; }

start
sleep 2.5 # the zero is dispatched before the load begins
"$BUILD_DIR/tests/faults/mark_calls" >"$folder/counted" &
load=$!
# Started again at once, within the second of its last values.
for _ in 1 2 3; do
  sleep 1.2
  private_kill
  start
done
long=0
for _ in $(seq "$KILLS"); do
  sleep "$((RANDOM % 3)).$((RANDOM % 10))"
  private_kill
  if [ $((RANDOM % 5)) -eq 0 ]; then
    long=$((long + 1))
    sleep "$((4 + RANDOM % 3)).$((RANDOM % 10))"
  else
    sleep "0.$((RANDOM % 10))"
  fi
  start
done
kill "$load"
wait "$load" || true
load=
sleep 4 # the edge behind the last event, and one more
private_stop
cat "$folder/collectd.log" >>"$folder/all.log"

counted=$(cat "$folder/counted")
last=$(points | tail -n 1 | cut -d, -f2)
is "$last" "$counted" "after $((KILLS + 3)) kills, $long long outages: the total is the load's $counted events"

# What lies in gaps that a writer records as unknown: over two intervals long.
read -r unknown gap_seconds falls <<<"$(points | awk -F, '
  NR > 1 { gap = $1 - t; if (gap > 2.5) { unknown += $2 - v; seconds += gap }
           if ($2 < v) falls++ }
  { t = $1; v = $2 } END { print unknown + 0, seconds + 0, falls + 0 }')"
is "$falls" 0 "the total never falls"
increments=$(rrd_increments derive-calls marked)
is "$((increments + unknown))" "$counted" \
  "the RRD's increments, $increments, and $unknown events in $gap_seconds unknown seconds are all events"
lost=$(cat "$folder/csv/$PRIVATE_HOST/bpf_window-marked/derive-self_lost_seconds"-????-??-?? |
  grep -v epoch | sort -n | tail -n 1 | cut -d, -f2)
# A kill right behind an edge can lose that one point too, which nobody can know of.
if [ "$lost" -le "$gap_seconds" ] && [ "$lost" -ge $((gap_seconds - long)) ]; then
  ok "the record says how many seconds are unknown"
else
  not_ok "the record says how many seconds are unknown" "$lost, and the gaps have $gap_seconds"
fi
if [ "$long" -gt 0 ]; then
  like "$(grep 'seconds are unknown' "$folder/all.log" | head -n 1)" 'marked: [0-9]+ seconds are unknown' \
    "and the log does"
fi
is "$(grep -c 'value too old' "$folder/all.log" || true)" 0 "no value too old"
refused=$(grep 'illegal attempt' "$folder/all.log" || true)
is "$refused" "" "no update refused by rrdtool"
done_testing
