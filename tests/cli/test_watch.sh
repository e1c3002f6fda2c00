#!/bin/bash
# bpf-window watch in a real terminal: it draws, follows a resize, and leaves no trace.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

command -v tmux >/dev/null || skip_all "tmux is not installed"

for ago in $(seq 1 280); do echo "$ago $((ago % 2)) 1000 $((900 - ago)) 50 $((50 + ago)) 0"; done |
  make_counted
"$HERE/count" "$PINS/counted/count" 9 1 1 0 6000 10 &
counting=$!
stop_counting() { kill "$counting" 2>/dev/null || true; wait "$counting" 2>/dev/null || true; }
at_end+=(stop_counting)

terminal() { tmux -L "bpf_window_test_$$" -f /dev/null "$@"; }
at_end+=("terminal kill-server")

# watch COLUMNS LINES ENVIRONMENT [WINDOW OPTION...]
watch() {
  local columns=$1 lines=$2 environment=$3 window=${4:-counted}
  shift 3
  terminal new-session -d -s "$columns" -x "$columns" -y "$lines" \
    "stty -a >$SCRATCH/stty_before; env $environment $BUILD_DIR/bpf-window watch $window --pin-dir $PINS ${*:2}
     status=\$?; stty -a >$SCRATCH/stty_after; echo \"ended with \$status\"; sleep 1000"
  wait_for "$columns" 'counter +last '
}

screen() { terminal capture-pane -p -t "$1"; }

wait_for() { # SESSION PATTERN
  local tenths
  for tenths in $(seq 300); do
    if screen "$1" | grep -qE "$2"; then return 0; fi
    sleep 0.1
  done
  echo "# no $2 on the screen after ${tenths} tenths of a second:"
  screen "$1" | sed 's/^/# /'
}

# Every line within the screen, the title first, the keys last.
whole() { # SESSION COLUMNS LINES DESCRIPTION
  local text
  text=$(screen "$1")
  is "$(wc -l <<<"$text") $(grep -cE ".{$(($2 + 1))}" <<<"$text" || true)" "$3 0" "$4: $3 lines, none broken"
  like "$(head -n 1 <<<"$text")" '^counted +[0-9]{2}:[0-9]{2}:[0-9]{2}$' "$4: the title with the time"
  like "$(tail -n 1 <<<"$text")" '^q quit' "$4: the keys in the last line"
}

export LC_ALL=C.UTF-8
watch 80 24 "LC_ALL=C.UTF-8"
whole 80 80 24 "80 x 24"
like "$(screen 80)" '█{40}' "bars are drawn with blocks"
like "$(screen 80)" '^lookups +[0-9,]+ +[0-9,.]+ +[0-9,.]+ +[0-9,]+$' "a counter's line"
first=$(screen 80 | head -n 1)
for _ in $(seq 100); do
  second=$(screen 80 | head -n 1)
  [ "$second" = "$first" ] || break
  sleep 0.1
done
if [ "$second" != "$first" ]; then ok "it goes on by itself"; else not_ok "it goes on by itself"; fi
like "$(terminal capture-pane -p -e -t 80)" $'\033\[3[34]m' "hits and misses have colours"

terminal resize-window -t 80 -x 200 -y 50
wait_for 80 'a column is 2 s'
whole 80 200 50 "resized to 200 x 50"
terminal send-keys -t 80 c
wait_for 80 'CPU +last second'
like "$(screen 80)" '^1 +[0-9,.]+ +[0-9,.]+ +[0-9,.]+ +[0-9.]+ %$' "c splits by CPU"
terminal resize-window -t 80 -x 80 -y 24
wait_for 80 'a column is 5 s'
whole 80 80 24 "back to 80 x 24"
terminal resize-window -t 80 -x 30 -y 8
wait_for 80 'too small'
ok "a terminal too small is said to be"
terminal resize-window -t 80 -x 80 -y 24
wait_for 80 'CPU +last second'
terminal send-keys -t 80 q
wait_for 80 'ended with'
like "$(screen 80)" '^ended with 0$' "q ends it with 0"
is "$(grep -v speed "$SCRATCH/stty_after")" "$(grep -v speed "$SCRATCH/stty_before")" "the terminal is as it was"
is "$(screen 80 | grep -c █ || true)" 0 "and shows what it showed before"

watch 200 50 "LC_ALL=C.UTF-8 NO_COLOR=1"
whole 200 200 50 "200 x 50"
is "$(terminal capture-pane -p -e -t 200 | grep -cE $'\033\[[34][0-7]m' || true)" 0 "NO_COLOR: no colours"
like "$(screen 200)" '▒' "misses have a pattern then"
terminal send-keys -t 200 C-c
wait_for 200 'ended with'
like "$(screen 200)" '^ended with 0$' "so does Ctrl-C"

watch 100 30 "LC_ALL=C"
is "$(screen 100 | LC_ALL=C grep -c '[^ -~]' || true)" 0 "without UTF-8 it keeps to ASCII"
like "$(screen 100)" '#{40}' "and draws with #"

echo "5 0 27000000 27000000 0 0 0" |
  "$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/large" >/dev/null
watch 81 24 "LC_ALL=C.UTF-8" large/counted
like "$(screen 81)" '^ +[0-9.]+ M ' "a scale of millions is short, not cut"

# ---- Made anew ----

rm -r "$PINS/large"
wait_for 81 'no program counts in this window any more'
like "$(tail -n 1 <<<"$(screen 81)")" '^no program counts in this window any more$' "a window without programs is said to be one"
echo "5 0 700 700 0 0 0" | "$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/large" >/dev/null
wait_for 81 'made anew'
like "$(tail -n 1 <<<"$(screen 81)")" '^the window was made anew; this is the new one$' "one made anew is followed"
wait_for 81 '^lookups .* 700$'
like "$(screen 81)" '^lookups .* 700$' "with its counts"
wait_for 81 '^q quit'
like "$(screen 81)" '^q quit' "and after a while that is no news"
mkdir "$PINS/away" # a pin that is replaced in one step
mv "$PINS"/large/* "$PINS/away"
"$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/large" >/dev/null </dev/null
wait_for 81 'made anew'
like "$(screen 81)" 'made anew' "also if the old one lives on elsewhere"

# ---- Little room ----

terminal resize-window -t 81 -x 50 -y 13
wait_for 81 '^and 3 more'
like "$(screen 81)" '^and 3 more$' "rows for which there is no room are counted"

# ---- Other buckets than seconds ----

for ago in $(seq -9 9); do echo "$ago 0 100 40 0 60 0"; done |
  "$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/wide" 10000000000 >/dev/null
watch 110 24 "LC_ALL=C.UTF-8" wide/counted
like "$(screen 110)" '^counter +last 10 s +10 s, per s +5 min, per s +since load$' "headings tell of how long the numbers are"
like "$(screen 110)" '^lookups +100 +10\.0 ' "which are of that time"
like "$(screen 110)" 'a column is 30 s' "so does the axis"
terminal send-keys -t 110 c
wait_for 110 'CPU +last 10 s'
like "$(screen 110)" '^0 +10\.0 +10\.0 +[0-9.]+ +40\.00 %$' "split by CPU, too"
like "$(screen 110)" '^events per second, misses on top of hits' "misses are drawn on top"
echo "5 0 700 700" | "$HERE/make_window" "$HERE/counted_many.bpf.o" "$PINS/many" >/dev/null 2>&1
watch 111 24 "LC_ALL=C.UTF-8" many/counted
like "$(screen 111)" '^events per second$' "unless there are none"

run bpf_window watch counted --pin-dir "$PINS"
is "$status" 1 "without a terminal: status 1"
like "$err" '^bpf-window: watch: this is no terminal' "and a line that says so"

done_testing
