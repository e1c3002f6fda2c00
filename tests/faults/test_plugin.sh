#!/bin/bash
# Every call of the plugin that can fail does so once, in a real collectd that reads once
# and ends: it ends by itself, what went wrong is in its log, nothing is left attached
# without a word of it, and the next one works.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
[ -z "${IN_VM:-}" ] || skip_all "an emulated machine takes too long for hundreds of collectds"

own_marked_calls
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv
private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "fresh">
    File "$BUILD_DIR/tests/bpf/marked_calls.bpf.o"
    Persist false
  </Object>
</Plugin>
END
# Behind what the plugin's sanitizers want (PRIVATE_DAEMON says it), and with libbpf, which
# the plugin alone would have: the preloaded one calls it on.
FAULTS="${PRIVATE_DAEMON[1]#LD_PRELOAD=} $BUILD_DIR/tests/faults/.libs/fail_nth.so libbpf.so.1"

# read_once [VARIABLE=VALUE...]: with an object left over, which the configuration does not
# name. $status, $said (its errors and warnings) and $left tell what came of it.
read_once() {
  rm -rf "$folder/collectd.log" "$folder/struck" "$folder/csv" "$PRIVATE_PINS"
  "$BUILD_DIR/tests/faults/start_object" "$PRIVATE_PINS" tests/bpf/marked_calls 0 >/dev/null
  status=0
  env "${PRIVATE_DAEMON[1]}" FAULT_IN=bpf_window.so FAULT_MARK="$folder/struck" "$@" \
    collectd -T -C "$folder/collectd.conf" >"$folder/collectd.out" 2>&1 || status=$?
  said=$(grep -E '\[(error|warning)\] bpf_window plugin: ' "$folder/collectd.log" || true)
  left=$(find "$PRIVATE_PINS" -mindepth 1 2>/dev/null || true)
}
values() { find "$folder/csv" -name 'derive-calls-*' 2>/dev/null | grep -c . || true; }

read_once LD_PRELOAD="$FAULTS" FAULT_COUNTS="$folder/counts"
is "$status $(values) $said $left" "0 1  " "without a fault it reads once, says nothing, and leaves nothing"
calls=0 wrong=()
while read -r name count; do
  for ((nth = 1; nth <= count && nth <= 20; nth++)); do
    error=5 # EIO
    case $name in *alloc* | strdup) error=12 ;; esac # ENOMEM
    read_once LD_PRELOAD="$FAULTS" FAULT_CALL="$name" FAULT_NTH="$nth" FAULT_MODE=fail FAULT_ERRNO=$error
    [ -f "$folder/struck" ] || continue
    calls=$((calls + 1))
    call="call $nth of $name"
    [ "$status" -lt 128 ] || wrong+=("$call: status $status")
    [ -n "$said" ] || [ "$(values)" = 1 ] || wrong+=("$call: neither values nor a word")
    [ -z "$said" ] || grep -qE 'Input/output error|out of memory' <<<"$said" ||
      wrong+=("$call: $said")
    [ -z "$left" ] || [ -n "$said" ] || wrong+=("$call: it leaves ${left//$'\n'/ } without a word")
  done
done <"$folder/counts"
is "$(printf '%s\n' ${wrong[@]+"${wrong[@]}"})" "" "$calls calls failed, one in each collectd"
read_once
is "$status $(values) $said $left" "0 1  " "and none of it lasts"
done_testing
