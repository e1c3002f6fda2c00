#!/bin/bash
# An array of counters through a real collectd: each of its values is a series, a ratio has
# all of them or one; no two values get into one series.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

own_marked_calls

folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv

# start OBJECT WINDOW-OPTIONS [INTERVAL]
start() {
  private_config "${3:-1}" <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "array">
    File "$BUILD_DIR/tests/bpf/$1.bpf.o"
    Persist false
    <Window "parts">
$2
    </Window>
  </Object>
</Plugin>
END
  private_start || { cat "$folder/collectd.out"; exit 1; }
}
ratio() { # NAME NUMERATOR DENOMINATOR
  printf '<Ratio "%s">\nNumerator "%s"\nDenominator "%s"\n</Ratio>\n' "$@"
}
value() { csv_last "$1" parts 2>/dev/null || true; }

# Makes $calls calls and waits until they are in.
make_calls() {
  local marker
  "$BUILD_DIR/tests/faults/mark_calls" >"$folder/made" &
  marker=$!
  sleep 1
  kill "$marker"
  wait "$marker" || true
  calls=$(cat "$folder/made")
  for _ in $(seq 1 300); do
    [ "$(value derive-calls)" != "$calls" ] || break
    sleep 0.1
  done
  sleep 0.3 # what comes with that edge
}

start array "$(ratio all_of_calls part calls; ratio last_of_all part_3 part; ratio second_of_last part_1 part_3)"
make_calls
is "$(value derive-calls)" "$calls" "all $calls calls are in"
is "$(for i in 0 1 2 3; do value derive-part_$i; done | xargs)" "0 $calls 0 $((3 * calls))" \
  "each value of the array is a series of its own, named by its index"
is "$(find "$folder/csv" -name 'derive-part*' | wc -l)" 4 "four in all"
# percent NAME: rounded to a thousandth; csv has six digits.
percent() { printf '%.3f' "$(value "cache_ratio-$1")"; }
is "$(percent last_of_all)" 75.000 "a ratio has the sum of an array, and one of its values"
is "$(percent second_of_last)" 33.333 "or one over another"
is "$(percent all_of_calls)" 100.000 "more than all is all"
is "$("$BUILD_DIR/bpf-window" show --pin-dir "$PRIVATE_PINS" parts --json |
  jq -c .counters.part)" "[0,$calls,0,$((3 * calls))]" \
  "bpf-window shows the same"
private_stop

# Of buckets of two seconds the ratio has at least one.
rm -rf "$folder/csv"
start array_of_2_s "RatioSeconds 1
$(ratio last_of_all part_3 part)" 2
make_calls
is "$(value derive-calls)" "$calls" "buckets of two seconds: all $calls calls are in"
is "$(percent last_of_all)" 75.000 "RatioSeconds of less than a bucket is one bucket"
private_stop

# clash OBJECT OPTIONS PATTERN DESCRIPTION
clash() {
  start "$1" "$2"
  like "$(grep 'severity = FAILURE' "$folder/collectd.log")" "array.*<Window \"parts\">: $3" "$4"
  private_stop
}
clash array "$(ratio same part_1 calls; ratio same part_3 calls)" \
  'two of its values would be cache_ratio-same: give one of them another name' "two ratios of one name are refused"
clash array_named_twice '' 'two of its values would be derive-part_3' "and a counter named like a value of an array"
clash array "$(ratio self_x part calls)" 'cache_ratio-self_x: names in "self_" are the plugin.s own' \
  "a ratio with a name of the plugin's is refused"
clash array "$(ratio r part_4 calls)" '<Ratio "r">: unknown counter "part_4" \(there are: calls, part\)' \
  "an array has no more values than it has"
done_testing
