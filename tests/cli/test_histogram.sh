#!/bin/bash
# Histograms in the command: percentiles of a known past, and no flood of slots.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

# bucket AGO CPU SLOT=COUNT...: events, 30 slots of number_us, 2 of coarse, 64 of fine.
bucket() {
  awk -v ago="$1" -v cpu="$2" -v slots="${*:3}" 'BEGIN {
    n = split(slots, pair, " ")
    for (i = 1; i <= n; i++) { split(pair[i], p, "="); count[p[1]] = p[2]; events += p[2] }
    line = ago " " cpu " " events
    for (i = 0; i < 30; i++) line = line " " count[i] + 0
    line = line " " count[0] + 0 " " events - count[0]
    for (i = 0; i < 64; i++) line = line " " count[i] + 0
    print line
  }'
}
schedule=$SCRATCH/schedule
{
  bucket 20 0 5=100 10=100
  bucket 20 1 5=600
  bucket 10 0 10=190 29=10
  bucket 400 0 3=1000
} >"$schedule"
start=$("$HERE/make_window" "$BUILD_DIR/tests/bpf/histogram.bpf.o" "$PINS/histogram" <"$schedule")

show() { run bpf_window show numbers --pin-dir "$PINS" "$@"; }

# 1000 events: 700 from 32, 290 from 1024, 10 in the last slot; p50 is 500 / 700 through
# the first of them, p90 is 200 / 290 through the second, p99 at its end.
show --json
is "$status" 0 "show ends with 0"
is "$(jq -c '.histograms.number_us | [.events, .p50, .p90, .p99]' <<<"$out" |
  sed 's/\([0-9]\.[0-9]\{4\}\)[0-9]*/\1/g')" "[1000,54.8571,1730.2068,2048]" \
  "percentiles lie within their slots"
is "$(jq -c '.histograms.number_us.from | [length, .[0], .[1], .[10], .[29]]' <<<"$out")" \
  "[30,0,2,1024,536870912]" "with the smallest value of each slot"
is "$(jq -c '.counters.number_us | [length, .[5], .[10], .[29]]' <<<"$out")" "[30,700,290,10]" \
  "and the slots among the counters"
is "$(jq -c '[.fields[].role]' <<<"$out")" '["total","log2","log2","log2"]' "their role is log2"
is "$(jq -c '.histograms | keys' <<<"$out")" '["coarse","fine","number_us"]' "each is there"
cp "$SCRATCH/out" "$SCRATCH/window.json"
run bpf_window show --input "$SCRATCH/window.json" --json
is "$out" "$(cat "$SCRATCH/window.json")" "--input gives back what --json wrote, to the byte"
show --json --from "@$((start - 15))" --to "@$((start - 5))"
is "$(jq -c '.histograms.number_us | [.events, .p99]' <<<"$out")" "[200,536870912]" \
  "of a part of the time; the last slot is told by its smallest value"
show --json --from "@$((start - 5))" --to "@$((start - 2))"
is "$(jq -c '.histograms.number_us | [.events, .p50, .p90, .p99]' <<<"$out")" "[0,null,null,null]" \
  "without events there are none"

LC_ALL=C.UTF-8 show
like "$out" '^  number_us +1,000 +54\.9 +1,730 +2,048$' "a line with events, p50, p90, p99"
like "$out" '^    32 \[█    ▃ {18}▁\] and more$' "and one with the slots as bars"
like "$out" '^  events +1,000 +[0-9.]+ +2,000$' "behind the counters"
is "$(grep -c 'number_us[-_][0-9]' <<<"$out" || true)" 0 "no line for each slot"
is "$(LC_ALL=C.UTF-8 awk 'length > 100' <<<"$out")" "" "in a terminal's width"
LC_ALL=C show
like "$out" '^    32 \[#    : {18}\.\] and more$' "bars in ASCII where the locale has no blocks"
is "$(awk 'length > 80' <<<"$out")" "" "in 80 columns"

show --per-second --from "@$((start - 21))" --to "@$((start - 18))"
like "$out" '^ +p50 +p99 +p50 +p99 +p50 +p99$' "percentiles above"
like "$out" '^time +events number_us number_us coarse coarse' "the whole names of their histograms"
like "$out" "^$(date -d "@$((start - 20))" +%H:%M:%S) +800 +50.3 +1966 " \
  "second by second: p50 and p99"
like "$out" "^$(date -d "@$((start - 19))" +%H:%M:%S) +- +- " "a second without data has dashes"

show --csv
is "$(head -n 1 <<<"$out")" "counter,events,per_second,since_load,p50,p90,p99" \
  "CSV has columns for percentiles"
like "$out" '^number_us,1000,[0-9.]+,2000,54\.857,1730\.207,2048\.000$' "a line for a histogram"
like "$out" '^number_us-10_ge_1024,290,[0-9.]+,290,,,$' "and one for each slot"
is "$(awk -F, 'NF != 7' <<<"$out")" "" "each with all fields"
show --csv --per-second --from "@$((start - 11))" --to "@$((start - 9))"
is "$(awk -F, 'NF != 98' <<<"$out" | wc -l)" 0 "seconds in CSV have all slots"

run bpf_window report numbers --pin-dir "$PINS" -o "$SCRATCH/report.html"
is "$status" 0 "a report"
page=$(sed '/<script/,$d' "$SCRATCH/report.html")
like "$page" '<b>54.9</b><span>p50</span>' "has the percentiles"
like "$page" '<tr><td class=n>1,024' "and the slots"
is "$(grep -o 'number_us[-_][0-9]' <<<"$page" | wc -l)" 0 "but no chart and no line for each of them"
is "$(grep -c '<figure>' <<<"$page")" 10 "ten charts: one counter, three percentiles of three"

done_testing
