# shellcheck shell=bash disable=SC2034
# Sourced by the tests of this folder.
#
#   $PINS            a folder of pins of this test's own, removed at its end
#   $SCRATCH         a folder for files, removed as well
#   bpf_window ...   the command; out, err and status keep what came of it (see run)
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" = bpf_fs ] || skip_all "needs a bpffs at /sys/fs/bpf"

PINS=/sys/fs/bpf/bpf_window_cli_test_$$
SCRATCH=$(mktemp -d)
HERE=$BUILD_DIR/tests/cli
mkdir -m 0700 "$PINS"

declare -a at_end=()
clean_up() {
  local command
  for command in "${at_end[@]}"; do $command; done
  rm -rf "$PINS" "$SCRATCH"
}
trap clean_up EXIT

bpf_window() { "$BUILD_DIR/bpf-window" "$@"; }

# configured VERB...: the command, for which what stands in $SCRATCH/collectd.conf is the
# machine's configuration; where there is a folder for that.
configured() {
  mkdir -p "$SCRATCH/etc"
  cp "$SCRATCH/collectd.conf" "$SCRATCH/etc"
  # shellcheck disable=SC2016 # for the inner shell to expand
  unshare -m sh -c 'mount --bind "$0" /etc/collectd && exec "$@"' "$SCRATCH/etc" "$BUILD_DIR/bpf-window" "$@"
}

# run COMMAND...: keeps its output in $out and $err, its exit status in $status.
run() {
  status=0
  "$@" >"$SCRATCH/out" 2>"$SCRATCH/err" </dev/null || status=$?
  out=$(cat "$SCRATCH/out") err=$(cat "$SCRATCH/err")
}

# The object `counted` with the past that is read from stdin; see make_window.c. The wall
# clock at the open second is in $start.
make_counted() {
  start=$("$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/counted")
  sleep 0.1 # so long after its end a bucket is told, and the newest may have ended just now
}

# sum FIRST LAST COLUMN: adds up a column (from 3: the counters) of a schedule on stdin.
sum() {
  awk -v first="$1" -v last="$2" -v column="$3" \
    '$1 ~ /^[0-9]+$/ && $1 >= first && $1 <= last { sum += $column } END { print sum + 0 }'
}
