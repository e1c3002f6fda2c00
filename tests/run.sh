#!/bin/bash
# tests/run.sh [--no-build] [--sanitize] [--tap] [SUITE...]: installs what the tests need, builds, and
# runs the suites. Without a SUITE: all but refusal, outputs and bench, with a short choice
# of vm.
#
#   unit      arithmetic, rules, parsers: no kernel, no root
#   bpf       the window and the life of an object in this kernel
#   windows   the bundled windows against known numbers of events
#   examples  the installed headers, used as a stranger would
#   collectd  a real, private collectd: values, RRDs, bad configs
#   cli       the command bpf-window
#   policy    the file policy's cache, case by case
#   faults    kills, outages, failing steps
#   refusal   what happens on kernels that are too old
#   outputs   real servers behind collectd; packages for each release of Debian
#   source    shell scripts, man pages, layers, headers that compile alone; the pages
#             against the code
#   fuzz      hostile input, a short run (FUZZ_RUNS=1000000 makes it a long one)
#   vm        all of this on other kernels, in virtual machines, an hour
#             (vm KERNEL... picks the kernels)
#   bench     the benchmarks: figures, no verdict
#
# --sanitize  builds with the sanitizers (address, undefined behaviour), in a folder of its
#             own; each test during which they report something fails
# --no-build  runs what $BUILD_DIR (default: build/tests) holds; installs nothing
# --tap       prints the tests' own TAP lines only, for a harness that counts them
#
# Every test prints TAP. The last line is "N passed, N failed, N skipped"; the exit status
# is 0 if none failed.
set -euo pipefail

SOURCE_DIR=$(cd "$(dirname "$0")/.." && pwd)
BUILD_DIR=${BUILD_DIR:-$SOURCE_DIR/build/tests}
export SOURCE_DIR BUILD_DIR
ALL_SUITES=(source unit bpf windows examples collectd cli policy faults fuzz vm)

build=yes tap=no sanitize=no
suites=() kernels=() vm_options=(--short)
log=$(mktemp) # TAP lines of all tests
trap 'rm -f "$log"' EXIT

usage() {
  sed -n '2,/^set/{/^set/d;s/^# \{0,1\}//;p}' "$0"
}

parse() {
  while [ $# -gt 0 ]; do
    case $1 in
    --no-build) build=no ;;
    --tap) tap=yes ;;
    --sanitize) sanitize=yes ;;
    --help) usage; exit 0 ;;
    -*) echo "tests/run.sh: unknown option $1 (see --help)" >&2; exit 2 ;;
    vm) suites+=(vm); vm_options=(); shift; kernels=("$@"); break ;;
    *)
      [ -d "$SOURCE_DIR/tests/$1" ] || {
        echo "tests/run.sh: no suite \"$1\" (see --help)" >&2; exit 2
      }
      suites+=("$1") ;;
    esac
    shift
  done
  [ ${#suites[@]} -gt 0 ] || suites=("${ALL_SUITES[@]}")
}

# The sanitizers write their reports into files that begin with this name.
SANITIZER_REPORT=
sanitize() {
  BUILD_DIR=${BUILD_DIR%/}-sanitized
  mkdir -p "$BUILD_DIR"
  SANITIZER_REPORT=$BUILD_DIR/sanitizer-report
  rm -f "$SANITIZER_REPORT".*
  # What librrd and its fonts leave allocated; the full stacks say that it is they.
  printf '%s\n' leak:librrd leak:libfontconfig >"$BUILD_DIR/sanitizer-suppressions"
  export LSAN_OPTIONS="suppressions=$BUILD_DIR/sanitizer-suppressions:print_suppressions=0"
  export ASAN_OPTIONS="log_path=$SANITIZER_REPORT:abort_on_error=1:fast_unwind_on_malloc=0"
  export UBSAN_OPTIONS="log_path=$SANITIZER_REPORT:print_stacktrace=1:halt_on_error=1"
}

say() { [ "$tap" = yes ] || echo "$@"; }

install_and_build() {
  local packages=(build run test)
  [[ " ${suites[*]} " != *" vm "* ]] || packages+=(vm)
  [[ " ${suites[*]} " != *" outputs "* ]] || packages+=(outputs)
  "$SOURCE_DIR/tools/packages.sh" "${packages[@]}"
  say "== build"
  mkdir -p "$BUILD_DIR"
  (
    [ -x "$SOURCE_DIR/configure" ] || "$SOURCE_DIR/bootstrap"
    cd "$BUILD_DIR"
    [ -f Makefile ] || "$SOURCE_DIR/configure" --enable-silent-rules --enable-sanitizers="$sanitize"
    make -j"$(nproc)" all
    make -j"$(nproc)" check TESTS=
  ) >"$BUILD_DIR/build.log" 2>&1 || {
    tail -n 40 "$BUILD_DIR/build.log" >&2
    echo "tests/run.sh: the build failed; see $BUILD_DIR/build.log" >&2
    exit 1
  }
}

# Runs a program, keeps what it prints in the file and shows the part of it that is
# wanted. Returns its status.
run_into() {
  local output=$1 status
  shift
  set +e # a failing test is counted, it does not end the run
  CMOCKA_MESSAGE_OUTPUT=TAP "$@" 2>&1 | tee "$output" |
    if [ "$tap" = yes ]; then grep --line-buffered -E '^(not )?ok |^#'
    else grep --line-buffered -vE '^(1\.\.|ok |# ok|# not ok)'; fi
  status=${PIPESTATUS[0]}
  set -e
  return "$status"
}

# One test program. What it prints on stdout is TAP; a status that its lines do not
# explain is a failure of its own.
run_test() {
  local suite=$1 program=$2 status=0 began=$SECONDS name output
  shift 2
  name=$suite/$(basename "$program")
  output=$(mktemp)
  run_into "$output" "$program" "$@" || status=$?
  grep -E '^(not )?ok ' "$output" >>"$log" || true
  if [ "$status" -eq 77 ]; then
    local why
    why=$(sed -n 's/^# //p' "$output" | tail -n 1)
    emit "ok - $name # SKIP ${why:-it says that it cannot run here}"
  elif [ "$status" -ne 0 ] && ! grep -q '^not ok' "$output"; then
    emit "not ok - $name ended with status $status"
  elif [ "$status" -eq 0 ] && ! grep -qE '^(not )?ok ' "$output"; then
    emit "not ok - $name printed no test lines"
  fi
  if [ -n "$SANITIZER_REPORT" ] && ls "$SANITIZER_REPORT".* >/dev/null 2>&1; then
    sed 's/^/# /' "$SANITIZER_REPORT".*
    rm -f "$SANITIZER_REPORT".*
    emit "not ok - $name: reports of the sanitizers"
  fi
  local took=$((SECONDS - began))
  if [ "$tap" = yes ]; then echo "# $name took $took s"
  else
    echo "   $name: $(grep -cE '^ok ' "$output" || true) ok," \
      "$(grep -cE '^not ok ' "$output" || true) not ok, $took s"
  fi
  rm -f "$output"
}

emit() {
  echo "$1" >>"$log"
  if [ "$tap" = yes ] || [[ $1 != ok* ]]; then echo "$1"; else echo "   ${1#ok - }"; fi
}

run_suite() {
  local suite=$1 program began=$SECONDS
  say "== $suite"
  case $suite in
  vm) run_test vm "$SOURCE_DIR/tests/vm/run.sh" "${vm_options[@]}" "${kernels[@]}" ;;
  bench) "$SOURCE_DIR/tests/bench/run.sh" || emit "not ok - tests/bench/run.sh ended with status $?" ;;
  *)
    for program in "$BUILD_DIR/tests/$suite"/test_* "$SOURCE_DIR/tests/$suite"/test_*.sh; do
      if [ -f "$program" ] && [ -x "$program" ]; then
        run_test "$suite" "$program"
      fi
    done ;;
  esac
  say "   $suite took $((SECONDS - began)) s"
}

parse "$@"
[ "$sanitize" = no ] || sanitize
[ "$build" = no ] || install_and_build
for suite in "${suites[@]}"; do
  run_suite "$suite"
done

passed=$(grep -E '^ok ' "$log" | grep -vc '# SKIP' || true)
failed=$(grep -cE '^not ok ' "$log" || true)
skipped=$(grep -cE '^ok .*# SKIP' "$log" || true)
if [ "$tap" = no ]; then
  grep -E '^not ok ' "$log" | sed 's/^not ok/failed:/' || true
  grep -E '^ok .*# SKIP' "$log" | sed 's/^ok \([0-9]* \)\{0,1\}- /skipped: /' || true
fi
say "$passed passed, $failed failed, $skipped skipped"
[ "$failed" -eq 0 ]
