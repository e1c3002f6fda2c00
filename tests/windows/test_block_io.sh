#!/bin/bash
# The window `block_io` against what the kernel says of the same loop devices, and against
# a known number of requests.
set -euo pipefail
# shellcheck source=tests/windows/common.sh
. "$SOURCE_DIR/tests/windows/common.sh"

READS=100 WRITES=60 SIZE=4096

run_window block_io "$BUILD_DIR/bpf/block_io.bpf.o" || {
  not_ok "the program can be loaded" "$refusal"
  done_testing
  exit
}
ok "the program can be loaded"
end_window

device=
detach() {
  [ -z "$device" ] || losetup -d "$device" || true
  device=
}
trap 'detach; end_window; rm -rf "$PINS" "$SCRATCH"' EXIT
truncate -s 1M "$SCRATCH/disk"
device=$(losetup --find --show "$SCRATCH/disk" 2>"$SCRATCH/losetup") || {
  skip "the counts of a loop device" "losetup: $(cat "$SCRATCH/losetup")"
  done_testing
  exit
}

run_window block_io "$HERE/block_io_loop.bpf.o"

# The kernel's counts of all loop devices. Sectors are of 512 bytes.
kernel_counts() {
  cat /sys/block/loop*/stat | awk '{ reads += $1; sectors_read += $3; writes += $5; sectors_written += $7 }
    END { printf "{\"reads\": %d, \"read_bytes\": %d, \"writes\": %d, \"written_bytes\": %d}\n",
      reads, sectors_read * 512, writes, sectors_written * 512 }'
}

transfer() { # dd's own words are only of interest if it fails
  dd "$@" bs=$SIZE status=none
}

for attempt in 1 2 3 4 5 6 7 8; do # what others do on loop devices disturbs
  before=$(totals block_io) kernel_before=$(kernel_counts)
  transfer if="$device" of=/dev/null iflag=direct count=$READS
  transfer if=/dev/zero of="$device" oflag=direct count=$WRITES
  kernel=$(grown "$kernel_before" "$(kernel_counts)") got=$(grown "$before" "$(totals block_io)")
  known="[$READS,$((READS * SIZE)),$WRITES,$((WRITES * SIZE))]"
  [ "$(jq -c '[.reads, .read_bytes, .writes, .written_bytes]' <<<"$got")" != "$known" ] || break
  echo "# attempt $attempt: $got"
done
is "$(jq -c '[.reads, .read_bytes, .writes, .written_bytes]' <<<"$got")" "$known" \
  "$READS reads and $WRITES writes of $SIZE bytes are counted"
is "$(jq -c '[.reads, .read_bytes, .writes, .written_bytes]' <<<"$kernel")" "$known" \
  "which is what the device's own statistics say"
is "$(jq -c '[.errors, .untimed]' <<<"$got")" "[0,0]" "none failed, and each was timed"
is "$(jq '(.latency_us | add) == .reads + .writes + .others' <<<"$got")" true \
  "each is in the histogram once ($(jq -c .latency_us <<<"$got"))"

# Behind the file's new end, reads fail.
truncate -s 512K "$SCRATCH/disk"
before=$(totals block_io)
failed=0
transfer if="$device" of=/dev/null iflag=direct count=1 skip=200 2>/dev/null || failed=1
got=$(grown "$before" "$(totals block_io)")
if [ "$failed" -eq 1 ]; then
  is "$(jq -c '[.reads, .read_bytes, .errors]' <<<"$got")" "[1,0,1]" "a read that fails is an error without bytes"
else
  skip "a read that fails" "this kernel's loop device reads zeroes behind the end of its file"
fi
like "$("$BUILD_DIR/bpf-window" show block_io --pin-dir "$PINS")" 'reads +[0-9]' "bpf-window shows it"
done_testing
