#!/bin/bash
# A histogram through a real collectd: each slot's total and the percentiles are those of
# a known distribution.
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
private_new "$folder" csv rrdtool

private_config 1 <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "histogram">
    File "$BUILD_DIR/tests/bpf/histogram.bpf.o"
    Persist false
    <Window "numbers">
      Percentile 50 90 99.9
    </Window>
  </Object>
</Plugin>
END
private_start || { cat "$folder/collectd.out"; exit 1; }

# Slot, a number in it, how often. Slot 29 is the last: from 2^29 upwards.
cat >"$folder/distribution" <<END
0 0 7
0 1 3
1 3 200
5 40 1000
10 1024 500
10 2047 250
11 2048 30
29 1099511627776 2
END
# shellcheck disable=SC2046
"$BUILD_DIR/tests/collectd/mark_numbers" $(awk '{ print $2, $3 }' "$folder/distribution")
events=$(awk '{ sum += $3 } END { print sum }' "$folder/distribution")

value() { csv_last "$1" numbers 2>/dev/null; }
for _ in $(seq 1 300); do
  [ "$(value derive-events || echo 0)" != "$events" ] || break
  sleep 0.1
done
is "$(value derive-events)" "$events" "all $events events are in"

for slot in 0 1 2 5 10 11 29; do
  from=$((slot ? 1 << slot : 0))
  is "$(value "$(printf 'derive-number_us-%02d_ge_%d' $slot $from)")" \
    "$(awk -v slot=$slot '$1 == slot { sum += $3 } END { print sum + 0 }' "$folder/distribution")" \
    "slot $slot is named by its number and its smallest value, $from, and has its events"
done
is "$(value derive-coarse-00_ge_0) $(value derive-coarse-01_ge_2)" "10 $((events - 10))" \
  "of two slots the second has all the rest"
is "$(find "$folder/csv" -name 'derive-number_us-*' | wc -l)" 30 "30 slots are 30 series"
names=$(find "$folder/csv" -name 'derive-number_us-*' -printf '%f\n' | sed 's/.*_ge_//; s/-20.*//')
is "$(find "$folder/csv" -name 'derive-number_us-*' -printf '%f\n' | sort |
  sed 's/.*_ge_//; s/-20.*//')" "$(sort -n <<<"$names")" "which sort by what they count"

# By rank, in the table above: 10, 210, 1210, 1960, 1990, 1992 events up to each slot.
rank() { awk "BEGIN { printf \"%.6f\", $1 / 100 * $events }"; }
near() { # GOT WANTED DESCRIPTION
  if awk -v a="$1" -v b="$2" 'BEGIN { d = a - b; if (d < 0) d = -d; exit !(a != "" && d <= b * 1e-5) }'
  then ok "$3"; else not_ok "$3" "got:    $1" "wanted: $2"; fi
}
near "$(value gauge-number_us-p50)" \
  "$(awk -v rank="$(rank 50)" 'BEGIN { print 32 + 32 * (rank - 210) / 1000 }')" "p50 lies in slot 5"
near "$(value gauge-number_us-p90)" \
  "$(awk -v rank="$(rank 90)" 'BEGIN { print 1024 + 1024 * (rank - 1210) / 750 }')" "p90 in slot 10"
near "$(value gauge-number_us-p99.9)" 536870912 "p99.9 in the last: its smallest value"
is "$(find "$folder/csv" -name 'gauge-number_us-p99-*')" "" "Percentile replaces the default ones"

private_stop
is "$(rrd_increments derive-number_us-10_ge_1024 numbers)" 750 "the RRD of a slot has its events"
is "$(private_complaints)" "" "nothing was complained about"
done_testing
