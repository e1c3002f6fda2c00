#!/bin/bash
# An object that the configuration no longer names is detached at collectd's next start, the
# last one, too; the others stay.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv
private_mount_bpffs || skip_all "there is no bpffs"

# run_once OBJECT...: collectd starts with these and ends; what is pinned is left.
run_once() {
  local object
  {
    echo "<Plugin bpf_window>"
    echo "  PinDir \"$PRIVATE_PINS\""
    for object; do
      printf '  <Object "%s">\n    File "%s"\n  </Object>\n' "$object" "$BUILD_DIR/bpf/$object.bpf.o"
    done
    echo "</Plugin>"
  } | private_config 2
  private_start || { cat "$folder/collectd.out" "$folder/collectd.log"; exit 1; }
  private_stop
}
pinned() { (cd "$PRIVATE_PINS" 2>/dev/null && ls) | tr '\n' ' '; }

run_once
is "$([ -e "$PRIVATE_PINS" ] && echo there || echo not there)" "not there" \
  "without an object no folder of pins is made"
run_once block_io tcp
is "$(pinned)" "block_io tcp " "two objects are pinned"
link_id() { bpftool -j link show pinned "$1" 2>/dev/null | grep -oE '"id":[0-9]+' | head -n 1; }
link=$(find "$PRIVATE_PINS/tcp" -name 'link_*' | sort | head -n 1)
before=$(link_id "$link")
run_once tcp
is "$(pinned)" "tcp " "the one that is no longer named is gone"
like "$(cat "$folder/collectd.log")" 'block_io: no longer in the configuration' "the log says so"
is "$(link_id "$link")" "$before" "the other was never detached"
run_once
is "$(pinned)" "" "the last one is removed, too"
like "$(cat "$folder/collectd.log")" 'tcp: no longer in the configuration' "and the log says so"
done_testing
