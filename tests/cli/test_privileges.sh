#!/bin/bash
# With fewer privileges: what works, and what is said; and that reading only reads.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

seq 5 20 | sed 's/$/ 0 10 8 1 1 0/' | make_counted

# The command where nobody may run it.
chmod 0755 "$SCRATCH"
cp "$(readlink -f "$BUILD_DIR/bpf-window")" "$SCRATCH/bpf-window"
as_nobody() {
  setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all "$@"
}
with_capabilities() { # LIST COMMAND...
  local list=$1
  shift
  setpriv --reuid nobody --regid nogroup --clear-groups \
    --inh-caps="-all,$list" --ambient-caps="-all,$list" --bounding-set="-all,$list" "$@"
}

# ---- Nobody ----

for verb in "show counted" "report counted -o -"; do
  # shellcheck disable=SC2086
  run as_nobody "$SCRATCH/bpf-window" $verb --pin-dir "$PINS"
  is "$status $(wc -l <<<"$err")" "1 1" "$verb as nobody: one line, status 1"
  like "$err" "cannot look into $PINS: Permission denied \(run as root, or with CAP_BPF" "with the remedy"
done
run as_nobody "$SCRATCH/bpf-window" list --pin-dir "$PINS"
is "$status $(wc -l <<<"$err")" "1 1" "list as nobody: one line, status 1"
like "$err" 'CAP_SYS_ADMIN \(run as root\)' "with the remedy"
run as_nobody "$SCRATCH/bpf-window" check --pin-dir "$PINS" --config /dev/null
is "$status" 1 "check as nobody finds problems"
like "$out" 'PROBLEM privileges +CAP_BPF and CAP_PERFMON missing' "and names the capabilities"
like "$out" '^note +front +not tried \(needs root\)' "and does not judge hooks that it may not try"

# ---- CAP_BPF, and a way into the folder ----

needed=+bpf,+dac_read_search
run with_capabilities "$needed" "$SCRATCH/bpf-window" show counted --pin-dir "$PINS" --json
is "$status" 0 "show works with CAP_BPF and CAP_DAC_READ_SEARCH only" || echo "# $err"
is "$(jq .counters.lookups <<<"$out")" 160 "and reads what root reads"
run with_capabilities "$needed" "$SCRATCH/bpf-window" report counted --pin-dir "$PINS" -o -
is "$status" 0 "so does report"
run with_capabilities "$needed" "$SCRATCH/bpf-window" list --pin-dir "$PINS"
is "$status" 0 "so does list, of what is pinned"
like "$out" "^counted " "which it lists"
like "$err" 'only pinned windows are listed' "saying that there may be more"

# ---- Reading only reads ----

if command -v strace >/dev/null; then
  for verb in "list" "show counted" "report counted -o -" "check --config /dev/null"; do
    # A sanitized build cannot look for leaks while it is traced, nor log without mkdir.
    # shellcheck disable=SC2086
    ASAN_OPTIONS=detect_leaks=0 UBSAN_OPTIONS='' run strace -f -e trace=bpf,mkdir,mkdirat,unlink,unlinkat,rename,renameat2 \
      -o "$SCRATCH/trace" "$BUILD_DIR/bpf-window" $verb --pin-dir "$PINS"
    is "$(grep -cE 'BPF_(MAP_CREATE|MAP_UPDATE|MAP_DELETE|MAP_FREEZE|OBJ_PIN)|mkdir|unlink|rename' \
      "$SCRATCH/trace" || true)" 0 "$verb creates and changes no map and no pin"
    is "$(grep BPF_OBJ_GET, "$SCRATCH/trace" | grep -vc BPF_F_RDONLY || true)" 0 \
      "$verb opens pins for reading only"
    is "$(grep BPF_MAP_GET_FD_BY_ID "$SCRATCH/trace" | grep -vc BPF_F_RDONLY || true)" 0 \
      "and maps by their id as well"
  done
else
  skip "reading verbs only read" "strace is not installed"
fi

done_testing
