#!/bin/bash
# A real collectd on real file opens: what it wrote is what happened, to the count.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

# The object watches processes by their name: one such test at a time.
exec 9>/tmp/bpf_window_test_values.lock
flock 9

FILES=40 ROUNDS=25
folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv rrdtool

private_config 1 <<END
$(private_writers)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/tests/collectd/one_process.bpf.o"
    Persist false
    <Policy>
      Allow "$folder/allowed/"
      Deny "$folder/denied/"
      None "$folder/denied/none/"
    </Policy>
    <Window "inode_cache">
      RatioSeconds 100
      <Ratio "allowed">
        Numerator "hits_allow"
        Denominator "lookups"
      </Ratio>
    </Window>
  </Object>
</Plugin>
END
private_start || { cat "$folder/collectd.out"; exit 1; }

# open_files FOLDER FILES ROUNDS: the one program that this object watches.
open_files() {
  "$BUILD_DIR/tests/collectd/open_known_files" "$@"
}

make_files() {
  mkdir -p "$1"
  for i in $(seq 0 $((FILES - 1))); do echo "$i" >"$1/$i"; done
}

# Waits until an edge behind now was written.
settle() {
  local deadline=$((SECONDS + 30)) after newest
  after=$(date +%s)
  while [ "$SECONDS" -lt "$deadline" ]; do
    newest=$(cat "$folder"/csv/*/bpf_window-inode_cache/cache_operation-lookups-* 2>/dev/null |
      grep -v epoch | sort -n | tail -n 1 | cut -d. -f1)
    [ "${newest:-0}" -le "$after" ] || return 0
    sleep 0.2
  done
  return 1
}

counters="cache_operation-lookups cache_operation-fills cache_result-hits_no_policy
  cache_result-hits_allow cache_result-hits_deny cache_result-misses_walk"

read_all() {
  local counter
  settle || echo "no edge was written" >&2
  for counter in $counters; do
    csv_last "$counter"
  done | xargs
}

# The program opens its libraries too: what a run without any file of ours counts.
open_files "$folder" 0 0 >/dev/null
read -r lookups0 _ <<<"$(read_all)"
open_files "$folder" 0 0 >/dev/null
read -r lookups1 _ <<<"$(read_all)"
own=$((lookups1 - lookups0))

# Opens the files of a folder in two runs, one right behind the other, and sets opens and
# what each counter grew by.
measure() { # FOLDER
  local before after
  make_files "$1"
  before=$(read_all)
  open_files "$1" 0 0 >/dev/null # finds its libraries again, if something flushed them
  opens=$(($(open_files "$1" $FILES $ROUNDS) + $(open_files "$1" $FILES $ROUNDS)))
  after=$(read_all)
  read -r lookups fills none allow deny misses <<<"$(
    paste -d ' ' <(xargs -n 1 <<<"$after") <(xargs -n 1 <<<"$before") |
      awk '{ print $1 - $2 }' | xargs)"
  none_missed=$((3 * own - none)) # opens of its libraries that were no hits
}

# Whatever else this machine renames or mounts meanwhile flushes the cache: more misses,
# never a wrong count. So the number of misses is looked for in a quiet moment.
for attempt in $(seq 1 30); do
  measure "$folder/allowed/$attempt"
  known=$((misses - none_missed))
  if [ "$lookups" -ne $((opens + 3 * own)) ]; then break; fi
  if [ "$known" -eq $FILES ] && [ "$fills" -eq "$misses" ]; then break; fi
  echo "# attempt $attempt: $misses misses, $fills fills: something renames or mounts here"
done
is "$lookups" "$((opens + 3 * own))" \
  "the DERIVE total grew by exactly the $opens opens of two runs (and their own $own each)"
is "$lookups" "$((none + allow + deny + misses))" "hits and misses are the lookups"
is "$known" "$FILES" "misses are the $FILES distinct inodes: the second run had none"
is "$fills" "$misses" "every miss was filled"
is "$allow" "$((2 * FILES * ROUNDS - FILES))" "allowed files hit as allowed"

make_files "$folder/denied"
before=$(csv_last cache_result-hits_deny)
open_files "$folder/denied" $FILES $ROUNDS >/dev/null
read_all >/dev/null
like "$(($(csv_last cache_result-hits_deny) - before))" '^[1-9][0-9]*$' \
  "denied files are counted as denied, and opened all the same: this is observing"

before=$(read_all)
make_files "$folder/denied/none"
open_files "$folder/denied/none" $FILES $ROUNDS >/dev/null
after=$(read_all)
is "$(cut -d' ' -f5 <<<"$after")" "$(cut -d' ' -f5 <<<"$before")" "None in a denied folder: not counted as denied"
# Hits of no rule and misses, which a busy machine makes of some of them.
like "$(($(cut -d' ' -f3 <<<"$after") + $(cut -d' ' -f6 <<<"$after") -
  $(cut -d' ' -f3 <<<"$before") - $(cut -d' ' -f6 <<<"$before") >= FILES * ROUNDS))" 1 "but as of no rule"
read -r total _ <<<"$after"

# ---- The layout: as the operator with bpftool and a script reads it ----

if command -v python3 >/dev/null; then
  dump=$(bpftool -j map dump pinned "$PRIVATE_PINS/inode_cache/inode_cache" |
    python3 "$SOURCE_DIR/tests/collectd/decode_dump.py")
  shown=$("$BUILD_DIR/bpf-window" show inode_cache --pin-dir "$PRIVATE_PINS" --json |
    jq -c '.counters')
  is "$(jq -cS . <<<"$dump")" "$(jq -cS . <<<"$shown")" \
    "bpftool's dump, decoded by hand, has the counts of bpf-window show"
  is "$(jq .lookups <<<"$dump")" "$total" "and of collectd's last edge"
else
  skip "bpftool's dump, decoded by hand, has the counts of bpf-window show" "no python3"
fi

# ---- RRDs; behind collectd's end, for rrdtool cannot lock what is being read ----

private_stop
for counter in $counters; do
  total=$(csv_last "$counter")
  is "$(rrd_increments "$counter")" "$total" "$counter: the RRD's increments are the total, $total"
done
like "$(csv_last cache_ratio-allowed)" '^[0-9.]+$' "a ratio of the config is dispatched"
like "$(csv_last cache_ratio-hit)" '^(100|[0-9.]+)' "the hit ratio follows from the roles"

# ---- The end ----

like "$(grep bpf_window "$folder/collectd.log")" 'inode_cache: loaded, counting at [a-z]+' \
  "the log names the front in use"
like "$(private_complaints | grep -v 'counting at')" '^$' \
  "no errors, and no warnings but of the fronts that are not to be had"
is "$(ls "$PRIVATE_PINS")" "" "Persist false leaves no pins behind"
done_testing
