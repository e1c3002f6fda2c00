#!/bin/sh
# Runs the benchmarks of a build tree, and makes the plot and the tables of
# docs/performance.md from what they found.
#
#   run.sh [LOADS [ROUNDS]]      (5 and 30; ROUNDS is 3 or more)
#
# Needs root. Environment: BUILD_DIR (where the project is built), SOURCE_DIR,
# BPFTOOL, PYTHON. Writes BUILD_DIR/tests/bench/results.json, and beside it
# performance.svg and tables.md; the page in docs/ is left alone.
set -eu
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }

here=$(dirname "$(realpath "$0")")
SOURCE_DIR=${SOURCE_DIR:-$(realpath "$here/../..")}
BUILD_DIR=${BUILD_DIR:-$PWD}
BPFTOOL=${BPFTOOL:-$(PATH=$PATH:/usr/sbin:/sbin command -v bpftool)}
# The interpreter itself: a version manager's shim would cost more than it.
PYTHON=${PYTHON:-$(python3 -c 'import sys; print(sys.executable)')}

out=$BUILD_DIR/tests/bench
if ! make -s -C "$BUILD_DIR" tests/bench/bench >&2; then
    echo "run.sh: cannot build tests/bench/bench in $BUILD_DIR (is it configured?)" >&2
    exit 2
fi

# As the article has it, but for the file instead of `python3 -c`.
# shellcheck disable=SC2016 # bench sets id
pipeline="'$BPFTOOL' -j map dump id "'$id'" | '$PYTHON' '$SOURCE_DIR/tests/bench/article.py' >/dev/null"

"$out/bench" "$out/results.json" "${1:-5}" "${2:-30}" "$pipeline"
"$PYTHON" -B "$SOURCE_DIR/tests/bench/report.py" "$out/results.json" \
    --plot "$out/performance.svg" --tables "$out/tables.md"
echo
echo "Results: $out/results.json, performance.svg, tables.md"
