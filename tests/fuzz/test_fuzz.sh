#!/bin/bash
# Hostile input to what reads files and descriptions of others: libFuzzer with
# AddressSanitizer and UndefinedBehaviorSanitizer. FUZZ_RUNS inputs each (20000; a long
# run takes 1000000). What is found stays in $BUILD_DIR/tests/fuzz.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"

RUNS=${FUZZ_RUNS:-20000}
folder=$BUILD_DIR/tests/fuzz
mkdir -p "$folder"
cd "$SOURCE_DIR"
: "${CLANG:=clang}"
command -v "$CLANG" >/dev/null || skip_all "clang is not installed"

build() { # TARGET SOURCE...
  local target=$1
  shift
  "$CLANG" -g -O1 -std=gnu11 -D_GNU_SOURCE -fsanitize=fuzzer,address,undefined \
    -fno-sanitize-recover=undefined -Ibpf/include -Ibpf -Isrc \
    -DBPF_OBJECT_DIR='"/nowhere"' -DBPF_WINDOW_VERSION='"fuzz"' \
    "tests/fuzz/$target.c" "$@" -o "$folder/$target" -lbpf -ljansson -lm
}

fuzz() { # TARGET DESCRIPTION
  mkdir -p "$folder/corpus_$1"
  if (cd "$folder" && "./$1" -runs="$RUNS" -seed=1 -timeout=60 -rss_limit_mb=1024 -max_len=8192 \
    -artifact_prefix="$folder/$1-" "corpus_$1" "$SOURCE_DIR/tests/fuzz/corpus/$1") >"$folder/$1.log" 2>&1; then
    ok "$2: $RUNS inputs"
  else
    not_ok "$2" "$(grep -m 5 -E 'ERROR|SUMMARY|runtime error' "$folder/$1.log")"
  fi
}

if ! build fuzz_describe src/object/{describe,probe,tags}.c src/window/*.c 2>"$folder/build.log"; then
  if grep -q 'clang_rt.fuzzer\|clang_rt.asan' "$folder/build.log"; then
    skip_all "clang's sanitizer library is not installed (libclang-rt-dev)"
  fi
  cat "$folder/build.log"
  exit 1
fi
build fuzz_input src/cli/{history*,html,report_*,show_*,terminal,units}.c src/window/*.c
build fuzz_conf src/cli/{check_options,check_say,conf,conf_tree,conf_word,terminal}.c src/object/policy_scope.c \
  src/window/failure.c

collectd=${COLLECTD_INCLUDEDIR:-/usr/include}/collectd
if [ -f "$collectd/core/daemon/plugin.h" ]; then
  # The harness is built as the plugin is; collectd's own headers are not ours to check.
  build fuzz_config -DHAVE_CONFIG_H -DDEFAULT_CONFIG_FILE='"/nowhere"' -isystem "$collectd/core/daemon" -isystem "$collectd/core" -isystem "$collectd" \
    src/collectd/{config,config_place,config_value,rules}.c src/object/{pins*,probe}.c \
    src/object/policy{,_file,_safety,_scope}.c src/window/failure.c
  fuzz fuzz_config "the plugin's configuration"
else
  skip "the plugin's configuration" "collectd's headers are not installed"
fi

fuzz fuzz_input "show --input and report"
fuzz fuzz_describe "BTF of buckets, and records"
fuzz fuzz_conf "configuration files"
done_testing
