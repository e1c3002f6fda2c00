#!/bin/bash
# That the pages say what the sources say: links and anchors lead somewhere, files that are
# named exist, options and the plugin's own metrics are those of the code, and scripts
# answer --help.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/source/links.sh
. "$SOURCE_DIR/tests/source/links.sh"
cd "$SOURCE_DIR"
pages=(*.md docs/*.md tests/*/*.md)
plugin_page=man/collectd-bpf_window.5

# same DESCRIPTION HERE THERE: two lists of words, one a line, in any order.
same() {
  local difference
  difference=$(diff <(sort -u <<<"$2") <(sort -u <<<"$3") | grep '^[<>]' || true)
  if [ -z "$2" ]; then
    not_ok "$1" "nothing was found"
  elif [ -z "$difference" ]; then
    ok "$1"
  else
    not_ok "$1" "$difference"
  fi
}

# ---- Links ----

links_lead_somewhere "links and anchors of the pages lead somewhere" "${pages[@]}"

# ---- Files ----

# Words in backticks that begin with a folder of this tree; a test may be named without
# its ending, and a * stands for some.
named_files() { # PAGE...
  # shellcheck disable=SC2016 # backticks
  grep -ohE '`[^`]+`' "$@" | tr -d '`' | tr ' ' '\n' |
    grep -E '^(\.\./)?(bpf|collectd\.conf\.d|collection\.d|debian|docs|examples|man|packaging|src|tests|tools)/[a-z]' |
    sed 's|^\.\./||; s/[,;:]*$//; s/\*\*$/*/' | grep -vE '[<>]|results\.json|vm-\*\.json' | sort -u
}
missing_files() {
  local name found
  while read -r name; do
    found=$(compgen -G "$name" || compgen -G "$name.*" || true)
    [ -n "$found" ] || echo "$name"
  done < <(named_files "${pages[@]}")
}
is "$(missing_files)" "" "files that the pages name exist ($(named_files "${pages[@]}" | wc -l))"

# ---- Cases of the policy's tests ----

# In docs/policy.md a case stands in asterisks, in brackets or in a table: (*symbolic link*).
cases=$(grep -ohE '\{"[^"]+",' tests/policy/case_*.c | sed 's/^{"//; s/",$//; s/^enforcing: //')
unknown_cases() {
  local name
  while read -r name; do
    grep -qxF -- "$name" <<<"$cases" || echo "$name"
  done < <({
    tr '\n' ' ' <docs/policy.md | sed 's/  */ /g' | grep -oE '\(\*[^*]+\*\)'
    grep '^|' docs/policy.md
  } | sed 's/\*\*[^*]*\*\*//g' | grep -oE '\*[^*|]+\*' | tr -d '*')
}
is "$(unknown_cases)" "" "cases that docs/policy.md names are there"

# ---- Options ----

in_code=$(sed -n 's/.*strcasecmp(key, "\([A-Za-z]*\)").*/\1/p' src/collectd/config.c)
# Interval is collectd's own, of every plugin.
in_page=$(sed -n 's/^\.It Cm \([A-Z][A-Za-z]*\).*/\1/p; s/^\.It Li <\([A-Z][a-z]*\).*/\1/p' $plugin_page |
  grep -vx Interval)
# A <Ratio>'s two lines are told in its text.
in_page+=$'\n'$(sed -n 's/^\.Cm \(Numerator\|Denominator\)\b.*/\1/p' $plugin_page)
same "options of the plugin: the code's are the man page's" "$in_code" "$in_page"
in_sample=$(grep -oE '^ *#? *<?[A-Z][A-Za-z]+( |>)["a-z0-9A-Z]*' collectd.conf.d/bpf_window.conf |
  sed 's/^[ #<]*//; s/[ >].*//' | grep -vxE 'Plugin|LoadPlugin|Interval')
lacking_in_sample() { comm -23 <(sort -u <<<"$in_code") <(sort -u <<<"$in_sample"); }
is "$(lacking_in_sample)" "" "the sample configuration has every option"
same "options of the plugin: bpf-window check knows the same" "$in_code" \
  "$(grep -oE '\{"[A-Z][A-Za-z]*", [A-Z]+,' src/cli/check_options.c | sed 's/^{"//; s/".*//')"

# The command: every option of a --help is in the man page, and the other way round.
if [ -x "${BUILD_DIR:-}/bpf-window" ]; then
  of_help=$(for verb in $("$BUILD_DIR/bpf-window" --help | sed -n 's/^  \([a-z]*\) .*/\1/p'); do
    "$BUILD_DIR/bpf-window" "$verb" --help | grep -oE -- '--[a-z][a-z-]*'
  done)
  # --output is -o in the page's synopsis; without librrd there is no graph.
  of_page=$(grep -oE '^\.(It |Op )?Fl \\-.*' man/bpf-window.8 | grep -oE '\\-[a-z][a-z-]*' |
    sed 's/^\\/-/' | grep -vE -- '^--(help|version)$')
  grep -q -- '--rrd' <<<"$of_help" || of_page=$(grep -vx -- --rrd <<<"$of_page")
  same "options of the command: its help's are the man page's" \
    "$(grep -vx -- --output <<<"$of_help")" "$(grep -vx -- --output <<<"$of_page")"
else
  skip "options of the command" "it is not built"
fi

# ---- The plugin's own metrics ----

same "metrics of the plugin about itself: the code's are the man page's" \
  "$(grep -ohE '"self_[a-z_]+' src/collectd/*.c | tr -d '"')" \
  "$(sed -n 's/^\.It Em [a-z]*-\(self_[a-z_]*\).*/\1/p' $plugin_page)"

# ---- Counters of the bundled windows ----

# Fields of the buckets, with and without a tag; arrays by their name.
fields_of() { # FILE STRUCT
  awk -v name="struct $2 {" 'index($0, name) == 1 { inside = 1; next } /^}/ { inside = 0 }
    inside && $1 == "__u64" { sub(/[;[].*/, "", $2); if ($2 != "abs_bucket") print $2 }' "$1"
}
for name in tcp block_io page_cache; do
  bucket=$(sed -n "s/^BPF_WINDOW($name, struct \([a-z_]*\));.*/\1/p" "bpf/$name.bpf.c")
  same "docs/$name.md has every counter of the window" "$(fields_of "bpf/$name.bpf.c" "$bucket")" \
    "$(sed -n 's/^| `\([^|]*\) |.*/\1/p' "docs/$name.md" | tr ',' '\n' | tr -d '` ' | sed 's/\[.*//')"
done

# ---- Scripts ----

# Those that are run by hand; what cannot be done without arguments is not begun.
no_help() {
  local script text
  for script in quickstart.sh tests/run.sh tests/coverage.sh tests/bench/*.sh tests/faults/soak.sh \
    tests/vm/run.sh tests/vm/boot.sh tests/vm/kernels.sh tests/vm/initramfs.sh tools/packages.sh; do
    text=$(timeout 20 "./$script" --help 2>&1) || { echo "$script --help: status $?"; continue; }
    grep -qF "${script##*/}" <<<"$text" || echo "$script --help does not tell its usage"
  done
}
is "$(no_help)" "" "scripts that are run by hand answer --help"
done_testing
