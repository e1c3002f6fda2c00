#!/bin/bash
# The aggregation snippet: sums for the host and the fleet arrive under the names it promises.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"
# shellcheck source=tests/outputs/servers.sh
. "$SOURCE_DIR/tests/outputs/servers.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv aggregation
private_config 1 <<END
$(private_csv)
$(snippet -aggregation 's/^  #\(<\|  \)/\1/')
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/tests/collectd/one_process.bpf.o"
    <Policy>
      Allow "$folder/"
    </Policy>
  </Object>
</Plugin>
END
for i in $(seq 0 49); do : >"$folder/$i"; done

private_start || { cat "$folder/collectd.out"; exit 1; }

# How much they are is not looked at: see the snippet.
grows() { # HOST TYPE-INSTANCE
  "$BUILD_DIR/tests/collectd/open_known_files" "$folder" 50 200 >/dev/null
  [ "$(PRIVATE_HOST=$1 csv_last "$2" inode_cache_sum 2>/dev/null || echo 0)" -gt 0 ]
}
for sum in private/cache_result-hits private/cache_result-misses \
  fleet/cache_result-hits_allow fleet/cache_result-misses_walk; do
  if until_true 60 grows "${sum%/*}" "${sum#*/}"; then ok "$sum has a sum"; else not_ok "$sum has a sum"; fi
done
is "$(grep -E '\[(error|warning)\] aggregation' "$folder/collectd.log" || true)" "" "without complaints"
done_testing
