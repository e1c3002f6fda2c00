#!/bin/bash
# A window that another agent owns, through a real collectd: the agent is killed, starts
# anew, changes its counters; the totals are what was counted (A1 to A6).
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

folder=$(mktemp -d)
AGENT=/sys/fs/bpf/bpf_window_agent_$$
agent=
plain=
end_agent() {
  [ -z "$agent" ] || kill -KILL "$agent" 2>/dev/null || true
  [ -z "$agent" ] || wait "$agent" 2>/dev/null || true
  agent=
}
clean_up() {
  private_remove # first: collectd has inherited the agents' input
  end_agent
  exec 8>&-
  [ -z "$plain" ] || wait "$plain" || true
  rm -rf "$AGENT"
}
trap clean_up EXIT
private_new "$folder" csv rrdtool
private_mount_bpffs || skip_all "needs a bpffs"
mkdir -m 0700 "$AGENT"

# start_agent [OBJECT]; count FAST SLOW MISSES EVICTIONS: as run_agent.c has it.
start_agent() {
  rm -f "$folder/orders" "$folder/answers"
  mkfifo "$folder/orders"
  "$BUILD_DIR/tests/collectd/run_agent" "$BUILD_DIR/tests/cli/${1:-counted}.bpf.o" "$AGENT/mine" \
    <"$folder/orders" >"$folder/answers" &
  agent=$!
  exec 9>"$folder/orders"
  answered=0
  answer ready
}
answer() { # WORD: waits for the next one
  answered=$((answered + 1))
  until [ "$(sed -n ${answered}p "$folder/answers" 2>/dev/null)" = "$1" ]; do
    kill -0 "$agent" 2>/dev/null || return 1
    sleep 0.05
  done
}
count() { echo "$*" >&9; answer counted; }

private_config 1 <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Window "$AGENT/mine/counted">
    Instance "mine"
    RatioSeconds 100
    <Ratio "slow">
      Numerator "hits_slow"
      Denominator "lookups"
    </Ratio>
  </Window>
  <Window "$AGENT/their_stats">
  </Window>
  <Window "$AGENT/no_window">
  </Window>
</Plugin>
END
bpftool map create "$AGENT/no_window" type hash key 4 value 8 entries 1 name no_window

value() { csv_last "$1" "${2:-mine}" 2>/dev/null || echo none; }
total() { value cache_operation-lookups; }
wait_for() { # COMMAND WANTED...: as soon as that is printed, at most a minute
  local wanted=$2 tenths
  for tenths in $(seq 600); do
    [ "$($1)" != "$wanted" ] || return 0
    sleep 0.1
  done
}
log() { grep -c -- "bpf_window plugin: $1" "$folder/collectd.log" || true; }
edges() {
  cat "$folder"/csv/*/bpf_window-mine/cache_operation-lookups-* | grep -v epoch | sort -n
}

# ---- Waited for ----

private_start || { cat "$folder/collectd.out"; exit 1; }
some_reads() { sleep 3; }
some_reads
is "$(log "mine: nothing is pinned at $AGENT/mine/counted yet")" 1 "a pin that is not there yet is told once"
is "$(log "no_window: the pin $AGENT/no_window is no window: pin the map of its buckets")" 1 \
  "a pin that is no window is told once, with the remedy"

start_agent
count 80 10 10 2
wait_for total 100
is "$(total)" 100 "the agent is found when it comes, and its 100 events counted"
is "$(value cache_result-misses) $(value cache_operation-evictions)" "10 2" "each under its counter's name and type"
like "$(value cache_ratio-slow) $(value cache_ratio-hit)" '^10(\.0+)? 90(\.0+)?$' "with ratios"
is "$(log 'mine: reading the window pinned')" 1 "and the log says so"
ring=$("$BUILD_DIR/bpf-window" list --json | jq ".[] | select(.pin == \"$AGENT/mine/counted\") | .map_id")
writable=0 held=0
for info in /proc/"$PRIVATE_PID"/fdinfo/*; do
  grep -q "^map_id:.$ring\$" "$info" 2>/dev/null || continue
  held=$((held + 1))
  grep -q '^flags:.*0$' "$info" || writable=$((writable + 1))
done
like "$held $writable" '^[1-9] 0$' "its maps are open for reading only"

# ---- Killed and started anew (A1) ----

count 50 0 0 0
end_agent
start_agent
count 4 0 3 0
wait_for total 157
is "$(total)" 157 "the last events of the killed agent and the first of the new one are in the total"
is "$(log "mine: other maps are pinned at $AGENT/mine/counted; the totals go on")" 1 "a notification says so"
rm -rf "$AGENT/mine"
count 20 0 0 0
wait_for total 177
is "$(total)" 177 "while the pin is gone the maps are read on (A6)"
is "$(log "mine: nothing is pinned at $AGENT/mine/counted any more")" 1 "which is told once"
end_agent
start_agent
count 3 0 0 0
wait_for total 180
is "$(total)" 180 "once more"

# ---- collectd started anew ----

private_stop
before=$(edges | tail -n 1 | cut -d. -f1)
count 11 0 0 0
sleep 3
private_start
wait_for total 191
is "$(total)" 191 "over a stop of collectd the totals go on (A2)"
is "$(edges | awk -F '[.,]' -v from="$before" '$1 >= from && last && $1 - last != 1; { last = $1 }')" "" \
  "with every edge between, made up for"
private_stop
count 5 0 0 0
end_agent
start_agent
private_start
some_reads
count 9 0 0 0
wait_for total 200
is "$(total)" 200 "maps replaced meanwhile: all but the 5 events that are gone with the old ones"

# ---- Other counters (A4) ----

end_agent
start_agent counted_other
count 0 0 6 7
wait_for total 206
is "$(total)" 206 "with other counters those of the same name go on"
is "$(value cache_operation-spilled)" 7 "a new one begins at 0"
is "$(log 'mine: the window pinned at .* has other counters now')" 1 "a notification says so"
is "$(value cache_operation-evictions)" 2 "what it has no longer stays as it was"

# ---- The article's design: no record, no cursor (A5) ----

mkfifo "$folder/stop"
"$BUILD_DIR/tests/cli/run_plain" "$BUILD_DIR/tests/cli/plain.bpf.o" 1234 "$AGENT/their_stats" \
  <"$folder/stop" >"$folder/plain" &
plain=$!
exec 8>"$folder/stop"
plain_total() { value derive-lookups their_stats; }
wait_for plain_total 1234
is "$(plain_total)" 1234 "a plain window is added up from its first event"

# ---- What is kept of them was removed ----

rm -rf "$PRIVATE_PINS"
some_reads
is "$(log 'mine: somebody removed the pin of its totals; it was made again')" 1 "a removed folder of pins is made again"
private_stop
private_start
count 4 0 0 0
wait_for total 210
is "$(total) $(plain_total)" "210 1234" "so that the next collectd goes on from the totals"

# ---- As a whole ----

is "$(edges | awk -F, 'last != "" && $2 < last; { last = $2 }')" "" "no total ever fell"
private_stop
is "$(rrd_increments cache_operation-lookups mine)" 210 "the RRD has every event once: 210"
is "$(rrd_increments cache_operation-spilled mine)" 7 "and so of the new counter"
is "$(rrd_increments derive-lookups their_stats)" 1234 "and of the plain window"
is "$(private_complaints | grep '\[error\]' | grep -v no_window)" "" "no other errors"
sed -i '/<Window/,/<\/Window>/d; /^<Plugin bpf_window>/a <Window "'"$AGENT/mine/counted"'">\nInstance "new_name"\n</Window>' \
  "$folder/collectd.conf"
private_start
is "$(ls "$PRIVATE_PINS/other-windows")" "new_name" "what is no longer configured is forgotten"
done_testing
