#!/bin/bash
# Missed edges are made up for in order, by a new collectd and by one that was stopped.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
[ -z "${IN_VM:-}" ] || skip_all "an emulated machine is too slow for edges every second"

MISSED=25
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv rrdtool
private_config 1 <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
  </Object>
</Plugin>
END

files() { find "$folder/csv" -path '*bpf_window-inode_uncached/derive-*' ! -name '*self_*'; }

# holes: points of a series that do not follow the one before by a second, in file order.
holes() {
  local file
  for file in $(files); do
    grep -v epoch "$file" | awk -F, -v file="$(basename "$file")" \
      'NR > 1 && $1 - t != 1 { print file ": " t " -> " $1 } { t = $1 }'
  done
}

private_start || { not_ok "collectd starts" "$(cat "$folder/collectd.log")"; exit 1; }
sleep 4
private_stop
sleep "$MISSED"
private_start || { not_ok "collectd starts again" "$(cat "$folder/collectd.log")"; exit 1; }
sleep 8
like "$(grep bpf_window "$folder/collectd.log")" 'adopted as it was left running' "the programs were adopted"
is "$(files | wc -l)" 8 "eight series"
is "$(holes)" "" "after $MISSED seconds without collectd no edge is missing, and all are in order"

kill -STOP "$PRIVATE_PID"
sleep "$MISSED"
kill -CONT "$PRIVATE_PID"
sleep 8
is "$(holes)" "" "nor after a read that was delayed by $MISSED seconds"
private_stop
unknown=$(for rrd in "$folder"/rrd/*/bpf_window-inode_uncached/derive-raced.rrd; do
  first=$(grep -v epoch "$folder"/csv/*/bpf_window-inode_uncached/derive-raced-* | head -n 1 | cut -d. -f1)
  final=$(rrdtool last "$rrd")
  rrdtool fetch "$rrd" AVERAGE --start "$first" --end "$((final - 1))" | grep -c nan || true
done)
is "$unknown" 0 "the RRD has no unknown slot"
is "$(grep -ciE 'too old|out of order' "$folder/collectd.log")" 0 "no writer complained"

done_testing
