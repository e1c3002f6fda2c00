#!/bin/bash
# One collectd, configured by the snippets as they are shipped, and behind it at once: csv,
# rrdtool, rrdcached, carbon, Prometheus, and a second collectd over the encrypted network.
# With an outage in between. All have the same increments over the same edges, to the count.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
for program in collectd rrdtool rrdcached carbon-cache prometheus; do
  command -v "$program" >/dev/null || skip_all "$program is not installed"
done

INTERVAL=2
folder=$(mktemp -d)
clean_up() {
  servers_stop
  private_remove
}
trap clean_up EXIT
private_new "$folder" csv rrdtool rrdcached write_graphite write_prometheus network

# ---- The servers ----

read -r carbon_port web_port prometheus_port network_port <<<"$(free_ports 4)"
start_rrdcached "$folder/rrdcached.sock" "$folder/rrdcached"
start_carbon "$folder/carbon" "$carbon_port" $INTERVAL
start_prometheus "$folder/prometheus" "$prometheus_port" "$web_port"
prometheus_url=http://127.0.0.1:$prometheus_port
start_receiver "$folder/received" "$network_port"
start_relay "$network_port" "$folder/relay.json"

private_config $INTERVAL <<END
$(private_csv)
$(snippet '' "s|#PinDir .*|PinDir \"$PRIVATE_PINS\"|" \
  "s|#File .*|File \"$BUILD_DIR/bpf/inode_cache.bpf.o\"|")
$(snippet -rrdtool "s|/var/lib/collectd/rrd|$folder/rrd|")
$(snippet -rrdcached "s|/var/lib/collectd/rrd|$folder/rrdcached|" \
  "s|/run/rrdcached.sock|$folder/rrdcached.sock|")
$(snippet -graphite "s|\"2003\"|\"$carbon_port\"|")
$(snippet -prometheus "s|\"9103\"|\"$web_port\"|")
$(snippet -network-client "s|\"collectd.example.com\" \"25826\"|\"127.0.0.1\" \"$RELAY_PORT\"|")
END

# ---- Events, an outage, events ----

open_files() { # SECONDS
  local end=$((SECONDS + $1)) i=0
  while [ $SECONDS -lt "$end" ]; do
    i=$((i + 1))
    cat "$SOURCE_DIR"/bpf/*.c >/dev/null
    : >"$folder/new_$((i % 500))"
  done
}

has_edge_after() { # TIME FOLDER
  [ "$(csv_newest_time "$2" cache_operation-lookups)" -ge "$1" ]
}

private_start || { cat "$folder/collectd.out" "$folder/collectd.log"; exit 1; }
open_files $((8 * INTERVAL))
before=$(csv_newest_time "$folder/csv" cache_operation-lookups)
private_stop
open_files $((25 * INTERVAL)) # 25 edges are missed
private_start || { cat "$folder/collectd.out" "$folder/collectd.log"; exit 1; }
open_files $((12 * INTERVAL))
until_true 60 has_edge_after "$(date +%s)" "$folder/csv" ||
  not_ok "an edge behind the last event was written"
ok "collectd was away, and made up for the edges from $before on"

# ---- What they have ----

private_stop
until_true 60 has_edge_after "$(csv_newest_time "$folder/csv" cache_operation-lookups)" \
  "$folder/received/csv" || not_ok "the last edge came over the network"
servers_settle
while read -r verdict text; do
  case $verdict in
  ok) ok "$text" ;;
  not_ok) not_ok "$text" ;;
  *) echo "$verdict $text" ;;
  esac
done < <(/usr/bin/python3 "$SOURCE_DIR/tests/outputs/edges.py" "$folder" "$PRIVATE_HOST" \
  $INTERVAL "$prometheus_url" 2>&1 || echo "not_ok edges.py ended with status $?")

ratio=$(curl -s -G "$prometheus_url/api/v1/query" --data-urlencode \
  'query=instance_window:bpf_window_hit:ratio5m' | jq -r '.data.result[0].value[1]')
like "$ratio" '^0\.[0-9]+$|^1$' "Prometheus' recording rule has the hit ratio, $ratio"

servers_stop
is "$(jq .readable "$folder/relay.json")" 0 \
  "no name can be read in the $(jq .datagrams "$folder/relay.json") datagrams of the network"
# write_prometheus says at its start how it uses its web server's library, and bpf_window
# which front it could not have.
is "$(grep -hE '\[(error|warning)\]' "$folder/collectd.log" "$folder/received/collectd.log" |
  grep -v -e MHD_OPTION_EXTERNAL_LOGGER -e 'counting at' || true)" "" \
  "no errors and no warnings on either collectd"
done_testing
