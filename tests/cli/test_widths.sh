#!/bin/bash
# Buckets that are no seconds: no verb calls them that.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

# make FOLDER WIDTH_NS: the same counts in each bucket, also in some that are to come.
make() {
  for ago in $(seq -150 140); do echo "$ago 0 100 40 0 60 0"; done |
    "$HERE/make_window" "$HERE/counted.bpf.o" "$PINS/$1" "$2"
}
start=$(make wide 10000000000)
make odd 7000000000 >/dev/null
make half_minute 30000000000 >/dev/null
make fine 100000000 >/dev/null

# ---- list ----

activity() { bpf_window list --pin-dir "$PINS" | awk -v RS= -v pin="$PINS/$1/counted" 'index($0, pin)' | grep activity; }
recent() { bpf_window list --pin-dir "$PINS" --json | jq --arg pin "$PINS/$1/counted" '.[] | select(.pin == $pin) | .events_last_10_s'; }
like "$(activity wide)" ' 100 events in the last 10 s;' "list: a bucket of 10 s"
is "$(recent wide)" 100 "in JSON, too"
like "$(activity fine)" ' 10,000 events in the last 10 s;' "a hundred of 0.1 s"
like "$(activity odd)" ' 200 events in the last 14 s;' "two of 7 s are 14 s"
is "$(recent odd)" null "and no ten seconds in JSON"
like "$(activity half_minute)" ' 100 events in the last 30 s;' "at least one"
is "$(recent half_minute)" null "of which JSON has no ten seconds either"

# ---- show ----

show() { run bpf_window show "$1/counted" --pin-dir "$PINS" "${@:2}"; }
show wide --last 4s
like "$status $(head -n 1 <<<"$out")" '^0 counted \(object wide\): 10 s, ' "--last of less than a bucket is the last one"
show wide --from "@$((start - 108))" --to "@$((start - 106))"
is "$status $err" "1 bpf-window: show: its buckets are 10 s long: none lies in that time" "between two edges there is none"
show wide --from "@$((start - 9000))" --to "@$((start - 8000))"
like "$err" 'nothing is known of that time: the window has 2980 s$' "what it does not reach back to is another thing"
show fine --per-second --last 2s
times=$(grep -oE '^[0-9]{2}:[0-9]{2}:[0-9]{2}\.[0-9]00 ' <<<"$out" || true)
is "$(sort -u <<<"$times" | wc -l)" 20 "--per-second: each bucket of 0.1 s has its time"

# ---- report ----

report() { # FOLDER: the page without its data
  bpf_window report "$1/counted" --pin-dir "$PINS" -o "$SCRATCH/$1.html" >/dev/null
  sed '/<script/,$d' "$SCRATCH/$1.html"
}
page=$(report wide)
like "$page" 'Data in 1?[0-9]{2} of 298 buckets' "report: data in so many buckets"
like "$page" 'Each counter, in each bucket of 10 s<' "charts say what they are of"
is "$(grep -cE 'in each second|of [0-9]+ seconds' <<<"$page" || true)" 0 "nothing says seconds"
"$HERE/make_window" "$HERE/counted_many.bpf.o" "$PINS/many" <<<"20 0 5 5" >/dev/null 2>&1
page=$(report many)
like "$page" '^<p>and 19 more, in the table$' "charts for which there is no room are counted"
like "$page" '<td>part_59' "and in the table"
like "$page" 'Each counter, in each second<' "seconds are called that"

done_testing
