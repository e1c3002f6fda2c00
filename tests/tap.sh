# shellcheck shell=bash
# Sourced by the tests in shell: prints TAP.
TAP_NUMBER=0 TAP_FAILED=0

ok() {
  TAP_NUMBER=$((TAP_NUMBER + 1))
  echo "ok $TAP_NUMBER - $1"
}

# not_ok DESCRIPTION [WHY...]
not_ok() {
  TAP_NUMBER=$((TAP_NUMBER + 1))
  TAP_FAILED=$((TAP_FAILED + 1))
  echo "not ok $TAP_NUMBER - $1"
  shift
  printf '%s\n' "$@" | sed 's/^/#   /'
}

skip() { # DESCRIPTION REASON
  TAP_NUMBER=$((TAP_NUMBER + 1))
  echo "ok $TAP_NUMBER - $1 # SKIP $2"
}

is() { # GOT WANTED DESCRIPTION
  if [ "$1" = "$2" ]; then ok "$3"; else not_ok "$3" "got:    $1" "wanted: $2"; fi
}

# like TEXT PATTERN DESCRIPTION: an extended regular expression
like() {
  if grep -qE -- "$2" <<<"$1"; then ok "$3"; else not_ok "$3" "got:     $1" "pattern: $2"; fi
}

skip_all() {
  echo "# $1"
  exit 77
}

# Marked calls are counted by every object that hears them, and some tests count the
# programs that do: from here to its end a test has them to itself.
own_marked_calls() {
  exec 9>/tmp/bpf_window_marked_calls.lock
  flock 9
}

done_testing() {
  echo "1..$TAP_NUMBER"
  [ "$TAP_FAILED" -eq 0 ]
}
