#!/bin/bash
# The threshold snippet: a hit ratio driven down by opening ever new files gives one
# notification, its recovery another; a dip that is only made up for, after an outage, none.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

RATIO_SECONDS=10
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv threshold
private_config 1 <<END
$(private_csv)
# Late values on a busy machine are not what is looked at.
Timeout 60
$(snippet -threshold)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/tests/collectd/one_process.bpf.o"
    <Window "inode_cache">
      RatioSeconds $RATIO_SECONDS
    </Window>
  </Object>
</Plugin>
END

rounds=0
open_known() { # known files, again and again
  "$BUILD_DIR/tests/collectd/open_known_files" "$folder/known" 20 100 >/dev/null
  sleep 0.3
}
open_new() { # each of them for the first time, and the last
  rounds=$((rounds + 1))
  mkdir "$folder/new_$rounds"
  (cd "$folder/new_$rounds" && seq 0 399 | xargs touch)
  "$BUILD_DIR/tests/collectd/open_known_files" "$folder/new_$rounds" 400 1 >/dev/null
  rm -r "$folder/new_$rounds"
  sleep 0.3
}

notifications() { # SEVERITY
  grep -c "Notification: severity = \\($1\\),.*plugin_instance = inode_cache, type = cache_ratio, type_instance = hit" \
    "$folder/collectd.log" || true
}

# repeat_until SECONDS COMMAND TEST...
repeat_until() {
  local deadline=$((SECONDS + $1)) command=$2
  shift 2
  until "$@"; do
    [ $SECONDS -lt "$deadline" ] || return 1
    "$command"
  done
}
repeat_for() { # SECONDS COMMAND
  repeat_until "$1" "$2" false || true
}
has() { [ "$(notifications "$1")" -ge "$2" ]; } # SEVERITY COUNT
ratio_is_above() { awk -v ratio="$(csv_last cache_ratio-hit 2>/dev/null || echo 0)" -v least="$1" \
  'BEGIN { exit !(ratio != "nan" && ratio + 0 > least) }'; }

mkdir "$folder/known"
for i in $(seq 0 19); do : >"$folder/known/$i"; done
private_start || { cat "$folder/collectd.out"; exit 1; }
# collectd says OKAY at the start. Then a machine on which much is renamed, which empties the
# cache, may see a dip of its own before the cache is warm.
is_well() {
  [ "$(notifications OKAY)" -gt "$(notifications 'WARNING\|FAILURE')" ] && ratio_is_above 95
}
repeat_until 120 open_known is_well || not_ok "the cache becomes warm"
alarms=$(notifications 'WARNING\|FAILURE') recoveries=$(notifications OKAY)

repeat_until 120 open_new has WARNING $((alarms + 1)) || not_ok "a notification arrives"
repeat_for 10 open_new
is "$(notifications 'WARNING\|FAILURE')" $((alarms + 1)) \
  "a low hit ratio: one notification, however long it lasts"
is "$(notifications OKAY)" "$recoveries" "and no other"

repeat_until 120 open_known has OKAY $((recoveries + 1)) || not_ok "the recovery is told"
repeat_for 10 open_known
is "$(notifications OKAY)" $((recoveries + 1)) "the recovery: one notification"
is "$(notifications 'WARNING\|FAILURE')" $((alarms + 1)) "and no new alarm"

newest=$(csv_newest_time "$folder/csv" cache_operation-lookups)
private_stop
repeat_for 12 open_new
repeat_for $((RATIO_SECONDS + 5)) open_known
private_start || { cat "$folder/collectd.out"; exit 1; }
repeat_for 10 open_known
lowest=$(cat "$folder"/csv/*/bpf_window-inode_cache/cache_result-misses_walk-* |
  awk -F, -v newest="$newest" '$1 > newest && last && $2 - last > most { most = $2 - last }
    { last = $2 } END { print most + 0 }')
if [ "$lowest" -ge 400 ]; then
  ok "the dip during an outage was made up for: up to $lowest misses in a second"
else
  not_ok "the dip during an outage was made up for" "up to $lowest misses in a second"
fi
is "$(notifications 'WARNING\|FAILURE')" 0 "and raised no late alarm"
done_testing
