#!/bin/bash
# What `show --json` says of a span is what the plugin dispatched for it, to the count.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

INTERVAL=2
folder=$(mktemp -d)
opening=
clean_up() {
  [ -z "$opening" ] || kill "$opening" 2>/dev/null || true
  private_remove
}
trap clean_up EXIT
private_new "$folder" csv rrdtool
private_config $INTERVAL <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
    Persist false
  </Object>
</Plugin>
END
private_start || { cat "$folder/collectd.out"; exit 1; }

# File opens of all kinds of processes, for some twenty seconds.
(while :; do cat /etc/*.conf /proc/self/status >/dev/null 2>&1; sleep 0.02; done) &
opening=$!
sleep 22
edges=$(cat "$folder"/csv/*/bpf_window-inode_cache/cache_operation-lookups-* | grep -v epoch |
  sort -n | cut -d. -f1)
first=$(sed -n 2p <<<"$edges") last=$(tail -n 1 <<<"$edges")
shown=$("$BUILD_DIR/bpf-window" show inode_cache --pin-dir "$PRIVATE_PINS" --json \
  --from "@$first" --to "@$last")
kill "$opening"
opening=
private_stop

at_edge() { # COUNTER EDGE
  cat "$folder"/csv/*/bpf_window-inode_cache/"$1"-* | grep "^$2" | cut -d, -f2
}
# A slot of the RRD that ends at an edge has what was counted since the one before.
rrd_between() { # COUNTER FIRST LAST
  rrdtool fetch "$folder"/rrd/*/bpf_window-inode_cache/"$1".rrd AVERAGE \
    --resolution $INTERVAL --start "$2" --end "$3" |
    awk -v first="$2" -v last="$3" -v step=$INTERVAL -F'[: ]+' \
      '/^[0-9]+:/ && $1 > first && $1 <= last { sum += $2 * step } END { printf "%.0f\n", sum }'
}

is "$(jq -c '[.since, .until]' <<<"$shown")" "[$first,$last]" "the span lies between two of collectd's edges"
for counter in cache_operation-lookups cache_operation-fills cache_result-hits_no_policy \
  cache_result-hits_allow cache_result-hits_deny cache_result-misses_walk; do
  count=$(jq ".counters.${counter#*-}" <<<"$shown")
  is "$count" "$(($(at_edge "$counter" "$last") - $(at_edge "$counter" "$first")))" \
    "${counter#*-}: show and the dispatched totals agree ($count)"
  is "$count" "$(rrd_between "$counter" "$first" "$last")" "${counter#*-}: and the RRD's increments"
done
like "$(jq .counters.lookups <<<"$shown")" '^[1-9][0-9]{2}' "there was something to count"
done_testing
