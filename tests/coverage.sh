#!/bin/bash
# tests/coverage.sh [SUITE...]: which lines of user space the suites reach (default: unit
# bpf collectd cli policy faults). Builds in $BUILD_DIR-coverage (default: build/tests-coverage), with
# gcc's --coverage; needs gcovr. Prints lines and branches for each folder and file, and for
# src/object the lines that no test reached.
#
# A collectd that is killed writes no data, so what only `faults` reaches is underrated.
set -euo pipefail
[ "${1:-}" != --help ] || { sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"; exit 0; }

SOURCE_DIR=$(cd "$(dirname "$0")/.." && pwd)
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/tests}-coverage
export BUILD_DIR
[ $# -gt 0 ] || set -- unit bpf collectd cli policy faults

command -v gcovr >/dev/null || {
  echo "tests/coverage.sh: gcovr is not installed (Debian: apt-get install gcovr)" >&2
  exit 1
}
mkdir -p "$BUILD_DIR"
(
  cd "$BUILD_DIR"
  [ -f Makefile ] || "$SOURCE_DIR/configure" --enable-silent-rules CFLAGS='-g -O0 --coverage'
  make -j"$(nproc)" all
  make -j"$(nproc)" check TESTS=
) >"$BUILD_DIR/build.log" 2>&1 || { tail -n 20 "$BUILD_DIR/build.log" >&2; exit 1; }
find "$BUILD_DIR" -name '*.gcda' -delete
rm -f "$BUILD_DIR"/*conftest.gcno # of configure's own programs
# Programs that run as another user write data, too.
umask 0
find "$BUILD_DIR" -name '*.gcno' -exec dirname {} + | sort -u | xargs chmod a+w

"$SOURCE_DIR/tests/run.sh" --no-build "$@" || echo "(what a failed test did not reach is missing below)"

report=$BUILD_DIR/coverage.json
gcovr --root "$SOURCE_DIR" --filter "$SOURCE_DIR/src/" --json-summary --output "$report" "$BUILD_DIR"
jq -r '
  def percent(part; all): if all == 0 then 100 else 100 * part / all | floor end;
  def row(name; files):
    [name, percent(files | map(.line_covered) | add; files | map(.line_total) | add),
     percent(files | map(.branch_covered) | add; files | map(.branch_total) | add)];
  .files
  | (group_by(.filename | split("/")[1])[]
     | row("src/" + (.[0].filename | split("/")[1]); .), (.[] | row("  " + .filename; [.])))
  | "\(.[0])\t\(.[1])% of lines\t\(.[2])% of branches"' "$report" | column -t -s "$(printf '\t')"
echo
echo "lines of src/object that no test reached:"
gcovr --root "$SOURCE_DIR" --filter "$SOURCE_DIR/src/object/" "$BUILD_DIR" |
  awk '/%/ && $1 != "TOTAL" { print "  " $1 ": " $NF }'
