#!/bin/bash
# Windows declared without a line of this project: by system calls with a program in
# instructions, and by bpftool alone, after what docs/instrument.md says of the bytes.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

EVENTS=1234
maker=

start() { # KIND [FOLDER]
  mkfifo "$SCRATCH/stop"
  "$HERE/hand_made" "$1" $EVENTS "${@:2}" <"$SCRATCH/stop" >"$SCRATCH/maker" 2>&1 &
  maker=$!
  exec 9>"$SCRATCH/stop"
  until grep -q ready "$SCRATCH/maker"; do
    kill -0 "$maker" 2>/dev/null || { not_ok "$1: it can be made" "$(cat "$SCRATCH/maker")"; done_testing; exit 1; }
    sleep 0.1
  done
}
stop() {
  exec 9>&-
  [ -z "$maker" ] || wait "$maker"
  maker=
  rm -f "$SCRATCH/stop"
}
at_end+=(stop)

# shown WINDOW: shows it in $out once the last event's second has ended.
shown() {
  for _ in $(seq 100); do
    run bpf_window show "$1" --json
    [ "$(jq .counters.calls <<<"$out" 2>/dev/null)" != $EVENTS ] || return 0
    sleep 0.2
  done
}
counts='[.counters | .calls, .hits, ([.sizes, .["sizes[0]"], .["sizes_0"]] | map(values) | length)]'

# ---- With BTF, a short epoch, no cursor, no pins ----

start btf
run bpf_window list --json
id=$(jq ".[] | select(any(.processes[]; .pid == $maker)) | .map_id" <<<"$out")
like "$id" '^[0-9]+$' "btf: a window that only a process holds is listed"
shown "id:$id"
is "$(jq -c "$counts | .[:2]" <<<"$out")" "[$EVENTS,$EVENTS]" "btf: its counts are the events"
is "$(jq -c '[.ratios.hit, .totals]' <<<"$out")" '[100,null]' "btf: roles come from tags, and there are no totals without a cursor"
stop

# ---- Without BTF, with a record and a cursor, pinned ----

start record "$PINS/agent"
shown "$PINS/agent/by_hand"
is "$(jq -c "$counts | .[:2]" <<<"$out")" "[$EVENTS,$EVENTS]" "record: its counts are the events"
is "$(jq -c '.totals | [.calls, .hits]' <<<"$out")" "[$((EVENTS + 7)),$EVENTS]" "record: what is retired is in the totals"
like "$(bpf_window show "$PINS/agent/by_hand")" "sizes_1 +2,?468" \
  "record: an array is shown by its elements"
run bpf_window list --pin-dir "$PINS"
like "$out" "pinned +$PINS/agent/by_hand" "record: it is listed, though nothing but its record tells what it is"
is "$(grep -c "$PINS/agent/by_hand" <<<"$out")" 1 "record: once"
run bpf_window list --pin-dir "$PINS" --json
is "$(jq -c ".[] | select(.pin == \"$PINS/agent/by_hand\") | [.totals, .bytes > 10000]" <<<"$out")" '[true,true]' \
  "record: with its cursor, and the memory of all three"
stop
run bpf_window list --pin-dir "$PINS"
like "$out" "pinned +$PINS/agent/by_hand" "record: still when only its pins are left"
mkdir "$PINS/empty"
for suffix in "" _epoch _cursor; do mv "$PINS/agent/by_hand$suffix" "$PINS/agent/by_$$$suffix"; done
id=$(bpf_window list --pin-dir "$PINS" --json | jq ".[] | select(.pin == \"$PINS/agent/by_$$\") | .map_id")
for name in "by_$$" "id:$id"; do
  run bpf_window show "$name" --pin-dir "$PINS/empty" --json
  is "$status $(jq -c .totals.hits <<<"$out")" "0 $EVENTS" "record: shown as $name, though it is pinned elsewhere"
done
rmdir "$PINS/empty"

# ---- Nothing that tells ----

start bare "$PINS/bare"
run bpf_window show "$PINS/bare/by_hand"
is "$status $(wc -l <<<"$err")" "1 1" "bare: without BTF or record it is a problem of one line"
like "$err" "^bpf-window: show: nothing tells what the map pinned at $PINS/bare/by_hand counts: it has no BTF, and no \
$PINS/bare/by_hand_epoch and $PINS/bare/by_hand_cursor with its record" "bare: which names the pin and what it lacks"
like "$err" "\\(pin them, or compile with -g and give the map its key and value types\\)" "bare: and the remedy"
bpftool map create "$PINS/bare/by_hand_cursor" type percpu_array key 4 value 56 entries 1 name by_hand_cursor
run bpf_window show "$PINS/bare/by_hand"
like "$status $err" "^1 .*show: $PINS/bare/by_hand: map by_hand_epoch is no epoch of a window.*3120 bytes" \
  "bare: with something else beside it, that is named"
stop

# ---- Of a version to come ----

start btf_of_later
run bpf_window list --json
id=$(jq ".[] | select(any(.processes[]; .pid == $maker)) | .map_id" <<<"$out")
unknown='field hits of struct bucket has the tag "bpf_window:p99", which is not known there'
like "$(jq -r ".[] | select(.map_id == $id) | .problem" <<<"$out")" "^$unknown" "later: a tag that is not known is listed as a problem"
run bpf_window show "id:$id"
is "$status $(wc -l <<<"$err")" "1 1" "later: and refused by show, in one line"
like "$err" "$unknown: it is misspelt, misplaced or of a newer version \\(known: total, hit, miss, log2\\)" \
  "later: with the field, the tag, and those that are known"
stop
start record_of_later "$PINS/later"
run bpf_window show "$PINS/later/by_hand"
is "$status $(wc -l <<<"$err")" "1 1" "later: a role that is not known is refused in one line"
like "$err" "$PINS/later/by_hand: the record of window by_hand has a counter with an unknown role \\(of a newer version\\?\\)" \
  "later: which says so"
stop

# ---- By bpftool alone ----

le() { # VALUE BYTES: little-endian, as bpftool takes it
  local i
  for ((i = 0; i < $2; i++)); do printf '%02x ' $((($1 >> (8 * i)) & 255)); done
}
name_of() { # TEXT: 40 bytes
  local i
  for ((i = 0; i < 40; i++)); do
    if [ "$i" -lt ${#1} ]; then printf '%02x ' "'${1:i:1}"; else printf '00 '; fi
  done
}
if ! command -v python3 >/dev/null; then
  skip "bpftool: a window made of bytes" "no python3 to tell the monotonic clock"
else
  folder=$PINS/tool
  mkdir -m 0700 "$folder"
  bpftool map create "$folder/mine" type percpu_array key 4 value 16 entries 300 name mine
  bpftool map create "$folder/mine_epoch" type array key 4 value 3120 entries 1 name mine_epoch
  bpftool map create "$folder/mine_cursor" type percpu_array key 4 value 24 entries 1 name mine_cursor
  now_ns=$(python3 -c 'import time; print(time.monotonic_ns())')
  epoch_ns=$((now_ns - 1000 * 1000000000)) # negative on a machine just booted: modulo 2^64 then
  record="$(le $epoch_ns 8) $(le 1000000000 8) $(le 4000000 8) $(le 0 8) $(le 1 4) $(le 300 4) $(le 1 4) $(le 1 4)
    $(name_of events) $(le 1 4) $(le 1 4)"
  unused=$(le 0 $((63 * 48)))
  # shellcheck disable=SC2086 # words
  bpftool map update pinned "$folder/mine_epoch" key 0 0 0 0 value hex $record $unused
  bucket() { # LABEL EVENTS: on each possible CPU
    # shellcheck disable=SC2046 # words
    bpftool map update pinned "$folder/mine" key hex $(le $(($1 % 300)) 4) value hex $(le "$1" 8) $(le "$2" 8)
  }
  bucket 990 5
  bucket 995 6
  bucket 500 7 # of an earlier lap
  # shellcheck disable=SC2046 # words
  bpftool map update pinned "$folder/mine_cursor" key 0 0 0 0 value hex $(le 0 16) $(le 100 8)
  cpus=$(bpftool -j map lookup pinned "$folder/mine" key 0 0 0 0 | jq '.values | length')
  run bpf_window show "$folder/mine" --json
  is "$(jq -c '[.counters.events, .totals.events]' <<<"$out")" "[$((11 * cpus)),$((118 * cpus))]" \
    "bpftool: made of bytes after the guide, it is read right (on $cpus possible CPUs)"
fi
done_testing
