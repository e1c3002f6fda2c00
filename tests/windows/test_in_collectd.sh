#!/bin/bash
# All bundled windows in one collectd: each has its values, under the types that its page
# in docs/ says.
set -euo pipefail
# shellcheck source=tests/windows/common.sh
. "$SOURCE_DIR/tests/windows/common.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"
command -v collectd >/dev/null || skip_all "collectd is not installed"

folder=$(mktemp -d)
trap 'private_remove; end_window; rm -rf "$PINS" "$SCRATCH"' EXIT
private_new "$folder" csv

windows=(block_io tcp)
# This one needs hooks that not every kernel has; test_page_cache.sh says which.
! run_window page_cache "$BUILD_DIR/bpf/page_cache.bpf.o" || windows+=(page_cache)
end_window
private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
$(for window in "${windows[@]}"; do cat <<OBJECT
  <Object "$window">
    File "$BUILD_DIR/bpf/$window.bpf.o"
    Persist false
  </Object>
OBJECT
done)
</Plugin>
END
private_start || { not_ok "collectd starts with them" "$(cat "$folder/collectd.out" "$folder/collectd.log")"; done_testing; exit; }
ok "collectd starts with them: ${windows[*]}"

# What each window has, without the plugin's own values and the hosts' date.
values_of() {
  (cd "$folder/csv/$PRIVATE_HOST/bpf_window-$1" && echo *) 2>/dev/null |
    tr ' ' '\n' | sed -E 's/-[0-9]{4}-[0-9]{2}-[0-9]{2}$//' | grep -vE 'self_|latency_us|^gauge' | sort -u | xargs
}
declare -A wanted=(
  [tcp]="derive-active_opens derive-failed_connects derive-passive_opens derive-resets_received derive-resets_sent derive-retransmitted_segments"
  [block_io]="derive-errors derive-others derive-read_bytes derive-reads derive-untimed derive-writes derive-written_bytes"
  [page_cache]="cache_operation-added cache_operation-fault_misses cache_operation-faults cache_operation-lookups cache_ratio-hit cache_result-hits cache_result-misses"
)
for window in "${windows[@]}"; do
  for _ in $(seq 900); do
    got=$(values_of "$window" || true)
    [ "$got" != "${wanted[$window]}" ] || break
    sleep 0.1
  done
  is "$got" "${wanted[$window]}" "$window: its values have the types that its page says"
  missing=
  for counter in $(jq -r 'keys[]' <<<"$("$HERE/totals" "$PRIVATE_PINS/$window/$window")"); do
    grep -q "\`${counter}[\`[]" "$SOURCE_DIR/docs/$window.md" || missing+=" $counter"
  done
  is "$missing" "" "$window: its page has all of its counters"
done
is "$(find "$folder/csv/$PRIVATE_HOST/bpf_window-block_io" -name 'derive-latency_us-*' | sed 's/.*latency_us-//; s/-....-..-..$//' |
  sort -u | wc -l)" 28 "block_io: each slot of its histogram is a series"
private_stop
is "$(private_complaints | grep '\[error\]')" "" "no errors in the log"
is "$(ls "$PRIVATE_PINS")" "" "Persist false leaves no pins behind"
done_testing
