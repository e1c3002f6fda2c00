#!/bin/bash
# Statistics: the kernel measures the runs of programs while collectd runs, and no longer;
# without it, it does not.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"
[ "$(cat /proc/sys/kernel/bpf_stats_enabled)" = 0 ] || skip_all "kernel.bpf_stats_enabled is set"

own_marked_calls
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv
private_mount_bpffs || skip_all "there is no bpffs"

# newest METRIC: its newest value, if there is one.
newest() { csv_last "derive-$1" marked 2>/dev/null || true; }

all=0
# Makes $CALLS marked calls, with those before $all. Every system call runs the program; it counts marked ones.
calls() {
  local pid
  "$BUILD_DIR/tests/faults/mark_calls" >"$folder/made" &
  pid=$!
  sleep 2
  kill "$pid"
  wait "$pid" || true
  CALLS=$(cat "$folder/made")
  all=$((all + CALLS))
}
# measure STATISTICS: $runs and $run_ns are what is dispatched behind such calls.
measure() {
  rm -rf "$folder/csv"
  private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  Statistics $1
  <Object "marked">
    File "$BUILD_DIR/tests/bpf/marked_calls.bpf.o"
  </Object>
</Plugin>
END
  private_start || { cat "$folder/collectd.out" "$folder/collectd.log"; exit 1; }
  calls
  until [ "$(newest calls)" -ge "$all" ] 2>/dev/null; do sleep 0.2; done
  sleep 1.5 # the same edge's costs
  runs=$(newest self_runs) run_ns=$(newest self_run_ns)
  private_stop
}
# What the kernel has counted of the pinned program's runs.
kernel_runs() {
  local program
  program=$(bpftool -j link show pinned "$PRIVATE_PINS/marked/link_on_call" | jq '[.. | .prog_id? // empty] | first')
  bpftool -j prog show id "$program" | jq '.run_cnt // 0'
}

# unmeasured RUNS DESCRIPTION: others may have some measured for a moment.
unmeasured() {
  if [ "$1" -lt "$CALLS" ]; then ok "$2 ($1 runs, $CALLS calls)"
  else not_ok "$2" "$1 runs were measured, for $CALLS calls"; fi
}

measure false
unmeasured "${runs:-0}" "without Statistics runs are not measured"
measure true
if [ "$runs" -ge "$CALLS" ] && [ "$run_ns" -gt 0 ]; then
  ok "with it, $CALLS calls are $runs runs of $run_ns ns"
else
  not_ok "with it, runs are measured" "$CALLS calls, $runs runs, $run_ns ns"
fi
before=$(kernel_runs)
calls
unmeasured $(($(kernel_runs) - before)) "collectd ended, runs are measured no more"
like "$(private_complaints)" '^$' "without a complaint"
done_testing
