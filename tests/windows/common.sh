# shellcheck shell=bash
# Sourced by the tests of this folder: bundled windows, run as the plugin runs them.
#
#   run_window NAME FILE [FRONT]   attaches it and sets $front; 1 if it cannot be, with
#                                  the reason in $refusal
#   totals NAME                    its counts up to now, as JSON
#   grown BEFORE AFTER             the difference of two such, as JSON
#   end_window                     detaches it
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" = bpf_fs ] || skip_all "needs a bpffs at /sys/fs/bpf"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "needs the kernel's BTF"

PINS=/sys/fs/bpf/bpf_window_windows_test_$$
SCRATCH=$(mktemp -d)
HERE=$BUILD_DIR/tests/windows
holder=

run_window() {
  rm -f "$SCRATCH/stop"
  mkfifo "$SCRATCH/stop"
  : >"$SCRATCH/held"
  "$HERE/hold" "$PINS" "$@" <"$SCRATCH/stop" >"$SCRATCH/held" 2>"$SCRATCH/refusal" &
  holder=$!
  exec 9>"$SCRATCH/stop"
  until grep -q '^counting' "$SCRATCH/held"; do
    if ! kill -0 "$holder" 2>/dev/null; then
      end_window
      # shellcheck disable=SC2034 # for the tests
      refusal=$(cat "$SCRATCH/refusal")
      return 1
    fi
    sleep 0.1
  done
  # shellcheck disable=SC2034 # for the tests
  front=$(sed -n 's/^counting at //p' "$SCRATCH/held")
}

end_window() {
  exec 9>&-
  [ -z "$holder" ] || wait "$holder" || true
  holder=
}

trap 'end_window; rm -rf "$PINS" "$SCRATCH"' EXIT

totals() { "$HERE/totals" "$PINS/$1/$1"; }

grown() {
  jq -cn --argjson a "$1" --argjson b "$2" '
    def less($x; $y): if ($x | type) == "array" then [$x, $y] | transpose | map(.[0] - .[1])
      else $x - $y end;
    $b | with_entries(.value = less(.value; $a[.key]))'
}
