#!/bin/bash
# The window `page_cache` against a program that reads a file twice, in each way in which
# this kernel offers the hooks.
set -euo pipefail
# shellcheck source=tests/windows/common.sh
. "$SOURCE_DIR/tests/windows/common.sh"

PAGES=60

volume=
leave() {
  [ -z "$volume" ] || umount "$volume" || true
  volume=
}
trap 'leave; end_window; rm -rf "$PINS" "$SCRATCH"' EXIT
# A filesystem of its own: here /tmp may be in memory, and others may read it.
mkdir "$SCRATCH/volume"
truncate -s 16M "$SCRATCH/disk"
mkfs.ext4 -q -b 4096 "$SCRATCH/disk" 2>"$SCRATCH/mkfs" || skip_all "mkfs.ext4: $(cat "$SCRATCH/mkfs")"
mount -o loop "$SCRATCH/disk" "$SCRATCH/volume" 2>"$SCRATCH/mount" || skip_all "mount: $(cat "$SCRATCH/mount")"
volume=$SCRATCH/volume

load() { "$HERE/page_load" "$volume/file" $PAGES "$1"; }

# after ACTION: what the window grew by, as [lookups, hits, misses, faults, fault_misses, added]
after() {
  local before
  before=$(totals page_cache)
  load "$1"
  grown "$before" "$(totals page_cache)" | jq -c '[.lookups, .hits, .misses, .faults, .fault_misses, .added]'
}

check_front() { # FRONT
  local why
  if ! run_window page_cache "$HERE/page_cache_load.bpf.o" "$1"; then
    skip "$1: the counts of known reads" "$refusal"
    return
  fi
  rm -f "$volume/file"
  is "$(after write)" "[0,0,0,0,0,$PAGES]" "$1: $PAGES new pages are added, nothing is looked up by a read"
  load drop || why="pages stay in the cache"
  if [ -n "${why:-}" ]; then
    not_ok "$1: the pages can be dropped" "$why"
    return
  fi
  is "$(after read)" "[$PAGES,0,$PAGES,0,0,$PAGES]" "$1: reads of what is not there are misses, and add it"
  is "$(after read)" "[$PAGES,$PAGES,0,0,0,0]" "$1: read again, each is a hit"
  load drop
  is "$(after fault)" "[0,0,0,$PAGES,$PAGES,$PAGES]" "$1: so are faults in a mapping"
  is "$(after read)" "[$PAGES,$PAGES,0,0,0,0]" "$1: what a fault has brought is a hit"
  rm "$volume/file"
  is "$(after write_read)" "[$PAGES,$PAGES,0,0,0,$PAGES]" "$1: what was written just now is a hit"
  load drop
  like "$(after stream)" "^.$PAGES,5[0-9],[1-9],0,0,[0-9]+.\$" "$1: what readahead has brought is a hit"
  end_window
}

if run_window page_cache "$BUILD_DIR/bpf/page_cache.bpf.o"; then
  ok "the bundled object counts, at the front $front"
  like "$("$BUILD_DIR/bpf-window" show page_cache --pin-dir "$PINS")" 'lookups +[0-9]' "bpf-window shows it"
  end_window
else
  like "$refusal" 'no front works: tracepoint: .*; fentry: ' "where no hook is to be had, it says so for each"
fi
check_front tracepoint
check_front fentry
done_testing
