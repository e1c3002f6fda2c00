#!/bin/bash
# Backfill false: after an interruption only the newest edge, with all that was counted.
# DefaultRatio false: no ratio by the roles, in that window.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
[ -z "${IN_VM:-}" ] || skip_all "an emulated machine is too slow for edges every second"

own_marked_calls
folder=$(mktemp -d)
load=
finish() {
  [ -z "$load" ] || kill "$load" 2>/dev/null || true
  private_remove
}
trap finish EXIT
private_new "$folder" csv
private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  Backfill false
  <Object "marked">
    File "$BUILD_DIR/tests/bpf/marked_calls.bpf.o"
    Persist false
  </Object>
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
    Persist false
    <Window "inode_cache">
      DefaultRatio false
      <Ratio "kept">
        Numerator "fills"
        Denominator "misses_walk"
      </Ratio>
    </Window>
  </Object>
</Plugin>
END

# points: time and total of the marked calls, as they were written.
points() { grep -v epoch "$folder"/csv/*/bpf_window-marked/derive-calls-* | tr , ' ' | sed 's/\.[0-9]* / /'; }
# steps: of those times, each with how often it comes.
steps() { points | awk 'NR > 1 { print $1 - t } { t = $1 }' | sort -n | uniq -c | awk '{ print $2 }' | xargs; }

private_start || { cat "$folder/collectd.out" "$folder/collectd.log"; exit 1; }
"$BUILD_DIR/tests/faults/mark_calls" >"$folder/made" &
load=$!
sleep 4
is "$(steps)" 1 "read in time, every edge is there"
kill -STOP "$PRIVATE_PID"
sleep 8
kill "$load"
wait "$load" || true
load=
calls=$(cat "$folder/made")
kill -CONT "$PRIVATE_PID"
for _ in $(seq 1 100); do
  [ "$(points | tail -n 1 | cut -d' ' -f2)" != "$calls" ] || break
  sleep 0.1
done
gap=$(steps | awk '{ print $NF }')
if [ "$gap" -ge 7 ] && [ "$gap" -le 10 ]; then ok "a stop of 8 s is one step of $gap s"
else not_ok "a stop of 8 s is one step" "steps of these seconds: $(steps)"; fi
is "$(points | awk 'NR > 1 && $1 - t > 2 { n++ } { t = $1 } END { print n + 0 }')" 1 "and the only one"
is "$(points | tail -n 1 | cut -d' ' -f2)" "$calls" "behind which the total has all $calls calls"
is "$(find "$folder/csv" -name 'cache_ratio-*' -printf '%f\n' | sed 's/-20.*//' | sort -u)" cache_ratio-kept \
  "DefaultRatio false: only the window's own ratio"
private_stop
is "$(private_complaints | grep -v ': counting at ' || true)" "" "nothing was complained about"
done_testing
