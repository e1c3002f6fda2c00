#!/bin/bash
# The window `tcp` against a known number of events, and against the kernel's own counts
# in all namespaces that have any.
set -euo pipefail
# shellcheck source=tests/windows/common.sh
. "$SOURCE_DIR/tests/windows/common.sh"

run_window tcp "$BUILD_DIR/bpf/tcp.bpf.o" || {
  not_ok "the programs can be loaded" "$refusal"
  done_testing
  exit
}
ok "the programs can be loaded"

# The kernel's counts outside of the load's namespace; the window has those too.
elsewhere() {
  awk '$1 == "Tcp:" && $2 ~ /[0-9]/ {
    printf "{\"active_opens\": %s, \"passive_opens\": %s, \"failed_connects\": %s,", $6, $7, $8
    printf "\"retransmitted_segments\": %s, \"resets_sent\": %s}\n", $13, $15 }' /proc/net/snmp
}

# Before Linux 6.10 resets that belong to no socket were not told.
all_resets=no
! grep -q 'tcp_send_reset.*rst_reason' <<<"$(
  bpftool btf dump file /sys/kernel/btf/vmlinux format c | grep btf_trace_tcp_send_reset)" ||
  all_resets=yes

# expected LOAD OTHERS: what the window must have grown by.
expected() {
  jq -cnS --argjson load "$1" --argjson others "$2" --arg all "$all_resets" '
    ($load.kernel | with_entries(.value += $others[.key]))
    + {resets_received: $load.known.resets_received}
    | if $all == "no" then .resets_sent = $load.known.resets_of_sockets else . end'
}

# Others in namespaces of their own may make events of theirs meanwhile: again then.
for attempt in 1 2 3 4 5 6 7 8; do
  before=$(totals tcp) others_before=$(elsewhere) status=0
  load=$("$HERE/tcp_load") || status=$?
  others=$(grown "$others_before" "$(elsewhere)") after=$(totals tcp)
  if [ "$status" -eq 77 ]; then skip_all "${load#\# }"; fi
  got=$(grown "$before" "$after" | jq -cS .)
  [ "$got" != "$(expected "$load" "$others")" ] || break
  echo "# attempt $attempt: $got for $load, the kernel's counts elsewhere: $others"
done
is "$(jq -cS '.known | del(.resets_of_sockets, .resets_received)' <<<"$load")" \
  "$(jq -cS '.kernel | del(.retransmitted_segments, .resets_sent)' <<<"$load")" \
  "the load's opens and failures are what the kernel counts in its namespace"
is "$got" "$(expected "$load" "$others")" "each counter grew by just that ($(jq -c .kernel <<<"$load"))"
like "$(jq .retransmitted_segments <<<"$got")" '^[1-9]' "of which some were retransmitted"
like "$("$BUILD_DIR/bpf-window" show tcp --pin-dir "$PINS")" 'active_opens +[0-9]' "bpf-window shows it"
done_testing
