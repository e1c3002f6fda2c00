#!/bin/bash
# A writer that hangs: collectd's end gets through this plugin all the same, and what was
# counted meanwhile is there when the next one starts.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
command -v python3 >/dev/null || skip_all "python3 is not installed"
[ -f "$(collectd_plugins)/rrdcached.so" ] || skip_all "collectd has no plugin rrdcached"

folder=$(mktemp -d)
server=
finish() {
  [ -z "$server" ] || kill "$server" 2>/dev/null || true
  private_remove
}
trap finish EXIT
own_marked_calls

# A daemon that takes what is sent and never answers.
python3 - "$folder/socket" <<'END' &
import socket, sys, time
server = socket.socket(socket.AF_UNIX)
server.bind(sys.argv[1])
server.listen(16)
time.sleep(600)
END
server=$!
while [ ! -S "$folder/socket" ]; do sleep 0.1; done

private_new "$folder" csv rrdcached
config() { # BLOCK...
  private_config 1 <<END
$(private_csv)
$*
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "marked">
    File "$BUILD_DIR/tests/bpf/marked_calls.bpf.o"
  </Object>
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
  </Object>
</Plugin>
END
}
log_says() { # TEXT: within a minute
  local tenths
  for ((tenths = 0; tenths < 600; tenths++)); do
    ! grep -q "$1" "$folder/collectd.log" || return 0
    sleep 0.1
  done
  return 1
}

config "<Plugin rrdcached>
  DaemonAddress \"unix:$folder/socket\"
  DataDir \"$folder/rrd\"
  CollectStatistics false
</Plugin>"
private_start
sleep 3 # the writers hang in their first values
"$BUILD_DIR/tests/faults/mark_calls" >"$folder/counted" &
load=$!
sleep 3
kill -TERM "$PRIVATE_PID"
if log_says 'Stopping .* write threads'; then
  ok "the plugin's reads have ended, and collectd waits for its writers alone"
else
  not_ok "the plugin's reads have ended, and collectd waits for its writers alone" \
    "$(tail -n 5 "$folder/collectd.log")"
fi
sleep 1
kill "$load"
wait "$load" || true
kill "$server" # the writers' sockets are closed: they go on
server=
status=0
wait "$PRIVATE_PID" || status=$?
PRIVATE_PID=
is "$status" 0 "collectd ends when they do"

config
sed -i '/^LoadPlugin rrdcached/d' "$folder/collectd.conf"
private_start
counted=$(cat "$folder/counted") last=0
for _ in $(seq 100); do
  last=$(csv_last derive-calls marked 2>/dev/null || true)
  [ "${last:-0}" -lt "$counted" ] || break
  sleep 0.2
done
is "$last" "$counted" "the next collectd has all $counted events"
private_stop
done_testing
