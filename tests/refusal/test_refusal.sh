#!/bin/bash
# A kernel that is too old is refused in one line, and collectd goes on.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

release=$(uname -r)
if [ "$(printf '%s\n' 5.15 "$release" | sort -V | head -n 1)" = 5.15 ]; then
  skip_all "Linux $release is new enough"
fi
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv
private_config 1 <<END
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
  </Object>
</Plugin>
END
private_start || { cat "$folder/collectd.log"; exit 1; }
like "$(grep '\[error\] bpf_window plugin:' "$folder/collectd.log")" \
  "inode_cache: Linux $release is too old: 5.15 or newer is needed" "Linux $release is refused, and why"
is "$(grep -c '\[error\] bpf_window plugin:' "$folder/collectd.log")" 1 "in one line"
if kill -0 "$PRIVATE_PID"; then ok "collectd goes on"; else not_ok "collectd goes on"; fi
done_testing
