#!/bin/bash
# bpf-window report: one page, with nothing outside of it, that can be asked again.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

for ago in $(seq 1 250); do
  if [ "$ago" -lt 100 ] || [ "$ago" -gt 120 ]; then
    echo "$ago 0 $((1000 + ago)) 900 $ago 100 0"
  fi
done >"$SCRATCH/schedule"
make_counted <"$SCRATCH/schedule"

page=$SCRATCH/report.html
run bpf_window report counted --pin-dir "$PINS" -o "$page"
is "$status $out" "0 $page" "report writes a file and says which"
is "$(grep -cE '(src|href|url)[=(]|@import|https?:' "$page" || true)" 0 "the page refers to nothing outside"
is "$(grep -c '<svg' "$page")" 7 "two charts, and one for each counter"
like "$(cat "$page")" '<th>kernel<td>[0-9]' "the kernel is told"

run bpf_window show --input "$page" --json
cp "$SCRATCH/out" "$SCRATCH/again.json"
is "$(jq -c '.counters' "$SCRATCH/again.json")" \
  '{"lookups":258065,"hits_fast":206100,"hits_slow":29065,"misses":22900,"evictions":0}' \
  "show --input reads the page: the same totals"
sed -n '/<script type="application\/json"/,/<\/script>/p' "$page" | sed '1d;$d' >"$SCRATCH/inside.json"
is "$(jq -cS 'del(.environment)' "$SCRATCH/inside.json")" "$(jq -cS . "$SCRATCH/again.json")" \
  "and the same in every member"

run bpf_window report counted --pin-dir "$PINS" -o "$SCRATCH/part.html" --from "@$((start - 130))" --to "@$((start - 95))"
run bpf_window show --input "$SCRATCH/part.html" --json
is "$(jq -c '[.since, .until, .counters.lookups, .totals.lookups, (.rows | length), .buckets_with_data]' <<<"$out")" \
  "[$((start - 130)),$((start - 95)),$(sum 96 130 3 <"$SCRATCH/schedule"),$(sum 96 999 3 <"$SCRATCH/schedule"),35,14]" \
  "--from and --to: a page of that time, its totals up to its end"
run bpf_window report counted --pin-dir "$PINS" -o "$SCRATCH/part.html" --last 10s
run bpf_window show --input "$SCRATCH/part.html" --json
is "$(jq -c '[.seconds, (.rows | length)]' <<<"$out")" "[10,10]" "--last, too"
like "$(sed '/<script/,$d' "$page")" 'lowest hit rate, of 1,[0-9]{3} events, [0-9:]{8}<' "the worst second, of how many events"
like "$(sed '/<script/,$d' "$page")" 'to [0-9:]{8} [+-][0-9]{4}, [0-9]+ seconds' "times have their zone"

# The kernel refuses BTF with such names; the window is there all the same.
"$HERE/make_window" "$HERE/counted_many.bpf.o" "$PINS/many" <<<"20 0 5 5" >/dev/null 2>&1
run bpf_window report many/counted --pin-dir "$PINS" -o "$SCRATCH/names.html"
run bpf_window show --input "$SCRATCH/names.html" --json
is "$status $(jq -c '[.counters["größe"], .counters["a$b"]]' <<<"$out")" "0 [0,0]" "names as clang takes them are read back"
rm -r "$PINS/many"

(cd "$SCRATCH" && run bpf_window report counted --pin-dir "$PINS"
  like "$out" '^counted-[0-9]{8}-[0-9]{6}\.html$' "without -o the file is named by window and time"
  [ -s "$out" ])
run bpf_window report counted --pin-dir "$PINS" -o /nowhere/report.html
is "$status $(wc -l <<<"$err")" "1 1" "a file that cannot be written: one line, status 1"

# ---- As a browser draws it ----

if command -v chromium >/dev/null; then
  for width in 1280 400; do
    timeout 90 chromium --headless --no-sandbox --disable-gpu --disable-quic --no-first-run \
      --disable-background-networking --disable-component-update --disable-sync \
      --user-data-dir="$SCRATCH/profile$width" --window-size=$width,2000 \
      --virtual-time-budget=1000 --dump-dom "file://$page" >"$SCRATCH/dom" 2>/dev/null || true
    is "$(grep -c '<svg' "$SCRATCH/dom" || true)" 7 "chromium reads it, $width pixels wide"
  done
else
  skip "a browser reads it" "chromium is not installed"
fi

done_testing
