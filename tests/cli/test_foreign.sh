#!/bin/bash
# A window written by hand, as the article describes it: found, and read right.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

EVENTS=123400

# start_plain [PIN]: runs the agent that has the plain window, in $agent, with the name
# of the window in $name.
start_plain() {
  mkfifo "$SCRATCH/stop"
  "$HERE/run_plain" "$HERE/plain.bpf.o" $EVENTS "$@" <"$SCRATCH/stop" >"$SCRATCH/agent" &
  agent=$!
  name=$(printf 'w%08d' $agent)
  exec 9>"$SCRATCH/stop"
  until grep -qs ready "$SCRATCH/agent"; do
    kill -0 "$agent" || return 1
    sleep 0.1
  done
  sleep 1.5 # until the last second is settled
}
stop_plain() {
  exec 9>&-
  [ -z "${agent:-}" ] || wait "$agent"
  agent=
  rm -f "$SCRATCH/stop" "$SCRATCH/agent" # or the next one is ready before it is
}
at_end+=(stop_plain)
start_plain || { echo "# $(cat "$SCRATCH/agent")"; exit 1; }

run bpf_window list
like "$out" "^$name \\(id:[0-9]+\\)" "a window that only lives in a program is listed"
like "$out" 'hook +tp_btf/sys_enter by count' "with its hook and program"
like "$out" "held by +run_plain \(pid $agent\)" "with the process that holds it"
like "$out" 'no cursor, so no totals since load' "and what it cannot tell"
is "$(awk 'length > 80' <<<"$out")" "" "in 80 columns"
run bpf_window list --json
mine=$(jq -c ".[] | select(.processes[].pid == $agent)" <<<"$out")
like "$(jq .events_last_10_s <<<"$mine")" '^[1-9][0-9]{2}' "the events of the last ten seconds"
is "$(jq -c .counters <<<"$mine")" \
  '["lookups","hits_no_policy","hits_allow","hits_deny","misses_walk","fills"]' \
  "the counters' names come from the BTF"
id=$(jq .map_id <<<"$mine")

run bpf_window show "id:$id" --json
is "$status" 0 "show takes it by its map's id"
is "$(jq -c '[.counters[]]' <<<"$out")" \
  "[$EVENTS,0,$((EVENTS - EVENTS / 4)),0,$((EVENTS / 4)),0]" \
  "the sums are the agent's events, to the count; the bucket of an earlier lap is left out"
is "$(jq -c '[.totals, .ledger, .ratios]' <<<"$out")" '[null,null,{}]' \
  "what it does not say is not made up"
run bpf_window show "id:$id" --json --total lookups --hit 'hits_*' --miss 'misses_*'
is "$(jq -c '[.ratios.hit, .ledger.drift]' <<<"$out")" '[75,0]' \
  "told what the counters mean, it has a hit rate and a ledger"
run bpf_window show "$name" --json
is "$(jq .counters.lookups <<<"$out")" "$EVENTS" "its name will do while it is the only one"
run bpf_window show "id:$id" --width 2s --json
is "$(jq .width_ns <<<"$out")" 2000000000 "another width can be told"
stop_plain

start_plain "$PINS/their_stats"
run bpf_window show "$PINS/their_stats" --json
is "$(jq .counters.lookups <<<"$out")" "$EVENTS" "pinned somewhere, it is found by its pin"
run bpf_window list --pin-dir "$PINS"
like "$out" "pinned +$PINS/their_stats" "which is listed"
stop_plain

run bpf_window show "id:$id"
is "$status $(wc -l <<<"$err")" "1 1" "gone, it is a problem of one line"

# ---- Names that the kernel cuts to the same ----

"$BUILD_DIR/tests/faults/start_object" "$PINS/cut" tests/bpf/many_names_of_ours 0 >/dev/null
run bpf_window list --pin-dir "$PINS/cut" --json
is "$(jq -r --arg pins "$PINS/cut/" '.[] | select((.pin // "") | startswith($pins)) | "\(.window) \(.problem) \(.totals)"' <<<"$out" | sort)" \
  "$(printf '%s null true\n' names_of_14_ch names_of_15_chr names_of_16_chrs request_latency_read request_latency_write)" \
  "pinned windows have their names and their own totals, cut or not"

done_testing
