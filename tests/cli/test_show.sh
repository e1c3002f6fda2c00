#!/bin/bash
# bpf-window show: what it prints is what the window holds.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

# Second AGO: CPU, lookups, hits_fast, hits_slow, misses, evictions. Nothing in 100 to 109;
# second 305 is of an earlier lap; the hit rate is worst in second 77.
schedule=$SCRATCH/schedule
for ago in $(seq 10 250); do
  if [ "$ago" -ge 100 ] && [ "$ago" -lt 110 ]; then continue; fi
  misses=$((20 + ago % 7))
  if [ "$ago" -eq 77 ]; then misses=600; fi
  echo "$ago 0 $((900 + 50 + misses)) 900 50 $misses 0"
  if [ $((ago % 2)) -eq 0 ]; then echo "$ago 1 100 95 0 5 1"; fi
done >"$schedule"
echo "305 1 70 70 0 0 0" >>"$schedule"
echo "retired 0 1000 900 50 50 2" >>"$schedule"
make_counted <"$schedule"

show() { run bpf_window show counted --pin-dir "$PINS" "$@"; }

# ---- Totals ----

show --json
is "$status" 0 "show ends with 0"
is "$(jq -c '[.counters[]]' <<<"$out")" \
  "[$(for c in 3 4 5 6 7; do sum 1 298 $c <"$schedule"; done | paste -sd,)]" \
  "the sums are those of the schedule; a bucket of an earlier lap is not in them (W3)"
is "$(jq .totals.lookups <<<"$out")" "$(($(sum 1 999 3 <"$schedule") + 1000))" \
  "the total since load has the earlier lap and what was retired (W1)"
is "$(jq -c .ledger <<<"$out")" \
  "{\"total\":$(sum 1 298 3 <"$schedule"),\"hits\":$((
    $(sum 1 298 4 <"$schedule") + $(sum 1 298 5 <"$schedule"))),\"misses\":$(
    sum 1 298 6 <"$schedule"),\"drift\":0}" "the ledger balances"
is "$(jq .worst.most_misses.since <<<"$out")" "$((start - 77))" \
  "the second with most misses is named by the wall clock"
is "$(jq .worst.lowest_hit_ratio.since <<<"$out")" "$((start - 77))" \
  "so is the one with the lowest hit rate"
is "$(jq .worst.lowest_hit_ratio.events <<<"$out")" 1550 "and of how many events that is"
is "$(jq '.buckets_with_data + .buckets_without_data' <<<"$out")" "$(jq '.rows | length' <<<"$out")" \
  "seconds with and without data make up the span"
is "$(jq .buckets_with_data <<<"$out")" 231 "231 seconds have data"

show
like "$out" "lowest hit rate at $(date -d "@$((start - 77))" +%H:%M:%S): 61.29 % of 1,550 events$" \
  "the same for people, and of how many events"
like "$out" 'ledger +[0-9,]+ = [0-9,]+ hits \+ [0-9,]+ misses$' "with the ledger"
is "$(awk 'length > 80' <<<"$out")" "" "in 80 columns"
is "$(grep -c $'\033' <<<"$out" || true)" 0 "without colours where there is no terminal"

# ---- Ranges ----

show --json --from "@$((start - 50))" --to "@$((start - 20))"
is "$(jq .counters.lookups <<<"$out")" "$(sum 21 50 3 <"$schedule")" \
  "--from and --to cut at whole seconds"
is "$(jq -c '[.since, .until, .seconds]' <<<"$out")" "[$((start - 50)),$((start - 20)),30]" \
  "and say so"
show --json --from "$(date -d "@$((start - 50))" +%H:%M:%S)" --to "$(date -d "@$((start - 20))" +%H:%M:%S)"
is "$(jq .counters.lookups <<<"$out")" "$(sum 21 50 3 <"$schedule")" "a time of day will do"
show --last 5m --json
is "$(jq '.seconds >= 297' <<<"$out")" true "five minutes are all that there is"
show --from "@$((start - 4000))" --to "@$((start - 3000))"
is "$status" 1 "a time that the window does not reach back to is a problem"
like "$err" '^bpf-window: show: nothing is known of that time' "and is said to be"

# ---- Seconds ----

show --csv --per-second --from "@$((start - 112))" --to "@$((start - 108))"
is "$out" "since,lookups,hits_fast,hits_slow,misses,evictions
$((start - 112)).000,$(sum 112 112 3 <"$schedule"),995,50,$(sum 112 112 6 <"$schedule"),1
$((start - 111)).000,$(sum 111 111 3 <"$schedule"),900,50,$(sum 111 111 6 <"$schedule"),0
$((start - 110)).000,$(sum 110 110 3 <"$schedule"),995,50,$(sum 110 110 6 <"$schedule"),1
$((start - 109)).000,,,,," "a second without data has empty fields, a zero is a zero"
show --per-second --from "@$((start - 112))" --to "@$((start - 108))"
like "$out" "^$(date -d "@$((start - 109))" +%H:%M:%S) +- +- +- +- +- +-\$" "or dashes, for people"
is "$(awk 'length > 80' <<<"$out")" "" "in 80 columns as well"
show --csv
is "$(head -n 1 <<<"$out")" "counter,events,per_second,since_load" "CSV of totals"

# ---- Round trip ----

show --json
cp "$SCRATCH/out" "$SCRATCH/window.json"
run bpf_window show --input "$SCRATCH/window.json" --json
is "$out" "$(cat "$SCRATCH/window.json")" "--input gives back what --json wrote, to the byte"
run bpf_window show --input "$SCRATCH/window.json" --json --from "@$((start - 50))" --to "@$((start - 20))"
is "$(jq .counters.lookups <<<"$out")" "$(sum 21 50 3 <"$schedule")" \
  "and answers as the machine would have"
echo '{"format": 1}' >"$SCRATCH/bad.json"
run bpf_window show --input "$SCRATCH/bad.json"
is "$status $(wc -l <<<"$err")" "1 1" "a file that is no history: one line, status 1"
like "$err" '^bpf-window: show: .*bad.json: member "fields"' "which names file and member"

# ---- Widths ----

# Names that do not fit into 80 columns side by side.
jq '(.fields[].name) |= "counter_with_a_long_name_" + . | .totals = null' "$SCRATCH/window.json" >"$SCRATCH/long.json"
run bpf_window show --input "$SCRATCH/long.json" --per-second
like "$out" '^time +counter_with_a_long_name_lookups counter_with_a_long_name_hits_fast ' "a pipe gets whole headings"
if command -v script >/dev/null; then
  heading() { # COLUMNS: the headings on a terminal of that width
    script -qec "stty cols $1; $BUILD_DIR/bpf-window show --input $SCRATCH/long.json --per-second" /dev/null </dev/null |
      tr -d '\r' | grep '^time '
  }
  is "$(heading 72 | awk '{ print (length <= 72 && length > 60) }')" 1 "a terminal those that fit"
  is "$(heading 300)" "$(grep '^time ' <<<"$out")" "which are all if it is wide"
else
  skip "headings on a terminal" "script is not installed"
fi

# Names as clang takes them, and longer ones than the column.
jq '(.fields[0].name) = "größe,$" | (.fields[1].name) = "a_name_of_more_than_twenty_eight" | .totals = null' \
  "$SCRATCH/window.json" >"$SCRATCH/names.json"
run bpf_window show --input "$SCRATCH/names.json"
is "$status $err" "0 " "names may have any characters but control characters"
is "$(awk '/^  [a-z].* [0-9,]+\.[0-9]$/ { print length }' <<<"${out/größe/gross}" | sort -u | wc -l)" 1 \
  "numbers stand in line behind them"
run bpf_window show --input "$SCRATCH/names.json" --per-second --last 1s
is "$(tail -n 2 <<<"${out//größe/gross}" | awk '{ print length }' | sort -u | wc -l)" 1 "so do the headings of seconds"
run bpf_window show --input "$SCRATCH/names.json" --csv
like "$out" '^"größe,\$",[0-9]+,[0-9.]+,$' "in CSV with quotes where they need them"

# ---- Zones ----

# A time copied from what was printed there leads to the same seconds here.
TZ=Asia/Kolkata show
like "$(head -n 1 <<<"$out")" ' \+0530, [0-9]+ CPUs?$' "times have their zone"
TZ=Asia/Kolkata show --json
is "$(jq .utc_offset <<<"$out")" 19800 "in JSON, too"
cp "$SCRATCH/out" "$SCRATCH/kolkata.json"
there() { TZ=Asia/Kolkata date -d "@$((start - $1))" +%H:%M:%S; }
for zone in America/New_York UTC; do
  TZ=$zone run bpf_window show --input "$SCRATCH/kolkata.json" --per-second --from "$(there 50)" --to "$(there 49)"
  is "$(head -n 1 <<<"$out" | grep -oE '[0-9:]{8} to .*0[0-9]{3}') $(tail -n 1 <<<"$out" | awk '{ print $1, $2 }')" \
    "$(there 50) to $(there 49) +0530 $(there 50) $(sum 50 50 3 <"$schedule")" \
    "--input: times are those of where it was written, not of $zone"
done
jq 'del(.utc_offset)' "$SCRATCH/kolkata.json" >"$SCRATCH/old.json"
TZ=UTC run bpf_window show --input "$SCRATCH/old.json"
like "$(head -n 1 <<<"$out")" ' \+0000, ' "a file that does not tell its zone is read in this one"
jq '.utc_offset = 86401' "$SCRATCH/kolkata.json" >"$SCRATCH/bad.json"
run bpf_window show --input "$SCRATCH/bad.json"
is "$status" 1 "a zone that cannot be is a problem"
like "$err" 'member "utc_offset" is not a number of seconds' "and named"

# ---- Pins ----

run bpf_window show "$PINS/counted/counted"
is "$status" 0 "a window may be named by the path of its pin"
run bpf_window show counted/counted --pin-dir "$PINS"
is "$status" 0 "or with its object"
"$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/other" </dev/null >/dev/null
show
is "$status" 1 "a name that two objects have is a problem"
like "$err" "2 windows are called counted, say which: $PINS/counted/counted, $PINS/other" "both are named"
run bpf_window show 'other/count*' --json --pin-dir "$PINS"
is "$status $(jq -r .object <<<"$out")" "0 other" "a pattern is one window, whatever else is pinned for it"
run bpf_window show 'count*' --pin-dir "$PINS"
like "$err" "2 windows are called count\\*, say which: $PINS/counted/counted, $PINS/other/counted\$" "or two, their records not counted"
for id in id: id:0 id:9713abc id:-1 id:4294967297; do
  for verb in show watch report graph; do
    run bpf_window $verb "$id"
    is "$status $(head -1 <<<"$err")" "2 bpf-window: $verb: $id is no id of a map, such as id:17238" "$verb: $id is no id: wrong usage"
  done
done

mkdir "$PINS/empty"
run bpf_window show counted --pin-dir "$PINS/empty"
is "$status" 1 "a folder without it, while elsewhere are several"
like "$err" "no window counted is pinned below $PINS/empty, but elsewhere are several of that name, say which: id:[0-9]+, id:[0-9]+\$" \
  "is said to lack it"
rmdir "$PINS/empty"
run bpf_window show "$PINS/counted/count"
is "$status" 1 "a pin that is a program, not a map, is no window"
like "$err" 'count is no map$' "and is said to be none"

# ---- Counters by name ----

for option in --total --hit --miss; do
  run bpf_window show "$PINS/other/counted" "$option" 'nosuch*'
  is "$status $(wc -l <<<"$err")" "1 1" "$option of a counter that is not there is a problem"
  like "$err" "$option nosuch\*: the window's counters are lookups, hits_fast, hits_slow, misses, evictions\$" \
    "and told those that are"
done
run bpf_window show --input "$SCRATCH/window.json" --miss nosuch
is "$status" 1 "of a file's window, too"

# ---- Output ----

status=0
bpf_window show "$PINS/other/counted" >/dev/full 2>"$SCRATCH/err" || status=$?
is "$status $(wc -l <"$SCRATCH/err")" "1 1" "output that cannot be written is a problem"

# ---- Another clock ----

if unshare --fork --time --monotonic 100000 true 2>/dev/null; then
  run unshare --fork --time --monotonic 100000 "$BUILD_DIR/bpf-window" show "$PINS/other/counted"
  is "$status $(wc -l <<<"$err")" "1 1" "in a time namespace with another clock: status 1, one line"
  like "$err" 'show: this is a time namespace whose CLOCK_MONOTONIC is 100000 s from that of the kernel' "which says so"
else
  skip "a time namespace with another clock" "this kernel has none"
fi

# ---- The folder of pins ----

if [ -d /etc/collectd ]; then
  printf '<Plugin bpf_window>\n  PinDir "%s"\n</Plugin>\n' "$PINS" >"$SCRATCH/collectd.conf"
  run configured show other/counted --json
  is "$status $(jq -r .object <<<"$out")" "0 other" "names are looked up below the configured PinDir"
  run configured list --json
  is "$status $(jq -r --arg pin "$PINS/other/counted" '.[] | select(.pin == $pin) | .window' <<<"$out")" \
    "0 counted" "by list, too"
  echo '<Plugin bpf_window>' >"$SCRATCH/collectd.conf"
  run configured show "$PINS/other/counted"
  is "$status $err" "0 " "a broken configuration does not keep anyone from reading"
else
  skip "the configured PinDir" "there is no /etc/collectd"
fi

# ---- Usage ----

for arguments in "" "one two" "counted --last 3x" "counted --frobnicate" \
  "counted --last 5s --from 16:00" "--input x counted" "counted --from noon" \
  "counted --json --csv" "counted --json --per-second"; do
  # shellcheck disable=SC2086
  run bpf_window show $arguments --pin-dir "$PINS"
  is "$status" 2 "usage: show $arguments"
done
run bpf_window show counted --frobnicate
is "$(head -n 1 <<<"$err")" "bpf-window: show: unrecognized option '--frobnicate'" \
  "what is wrong begins with the command's name"
for not_a_pin in "$PINS/counted:is a folder; windows in it: counted$" "$PINS:is a folder, and no window is pinned in it" \
  "/etc/passwd:is not on a BPF file system"; do
  run bpf_window show "${not_a_pin%%:*}"
  like "$status $err" "^1 .*${not_a_pin%%:*} ${not_a_pin#*:}" "what is no pin is told as what it is: ${not_a_pin%%:*}"
done
run bpf_window
is "$status" 2 "no verb is wrong usage"
verbs=$("$BUILD_DIR/bpf-window" --help | sed -n 's/^  \([a-z]*\) .*/\1/p')
for verb in $verbs; do
  run bpf_window "$verb" --help
  is "$status $(grep -c '^usage: bpf-window' <<<"$out") $(awk 'length > 80' <<<"$out")" "0 1 " "$verb --help"
  is "$(bpf_window help "$verb")" "$out" "and help $verb"
done

done_testing
