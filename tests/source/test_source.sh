#!/bin/bash
# What can be told from the sources alone: layers, headers that stand by themselves,
# scripts, man pages, format.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
cd "$SOURCE_DIR"

# none DESCRIPTION COMMAND...: passes if the command prints nothing, else shows it.
none() {
  local description=$1 found
  shift
  found=$("$@" 2>&1 || true)
  if [ -z "$found" ]; then ok "$description"; else not_ok "$description" "$found"; fi
}

includes() { # FOLDER PATTERN: includes of the folder's files that match
  grep -rnE "^#include [\"<]$2" "$1" --include='*.[ch]'
}

none "src/window uses nothing above it" includes src/window '(object|collectd|cli)/'
none "src/object uses nothing above it" includes src/object '(collectd|cli)/'
none "src/collectd does not use src/cli" includes src/collectd 'cli/'
none "src/cli does not use collectd" includes src/cli '(collectd/|collectd\.h|plugin\.h|daemon/)'
others_with_libbpf() { includes src/window 'bpf/' | grep -v '^src/window/reader.c:'; }
none "in src/window only reader.c uses libbpf" others_with_libbpf
none "src/cli does not use libbpf" includes src/cli 'bpf/'
none "BPF programs use no user-space headers" grep -rnE '^#include "(\.\./)*src/' bpf
none "public headers use no other headers of the project" \
  grep -nE '^#include "[^l]' bpf/include/bpf_window/layout.h bpf/include/bpf_window/setup.h \
  bpf/include/bpf_window/window.bpf.h

compile_alone() { # DESCRIPTION COMPILER... : compiles stdin
  local description=$1 output
  shift
  if output=$("$@" - -o /dev/null 2>&1); then ok "$description"; else not_ok "$description" "$output"; fi
}
layout='#include <bpf_window/layout.h>'
compile_alone "layout.h compiles alone as C11" \
  gcc -std=c11 -Wall -Wextra -Wpedantic -Werror -Ibpf/include -x c -c <<<"$layout"
if command -v g++ >/dev/null; then
  compile_alone "layout.h compiles alone as C++" \
    g++ -std=c++11 -Wall -Wextra -Werror -Ibpf/include -x c++ -c <<<"$layout"
else
  skip "layout.h compiles alone as C++" "no C++ compiler"
fi
setup='#include <bpf_window/setup.h>
int main(void) { return bpf_window_setup(0, "") + bpf_window_pin(0, "", ""); }'
compile_alone "setup.h compiles alone as C11" \
  gcc -std=gnu11 -Wall -Wextra -Wshadow -Werror -Ibpf/include -x c -c <<<"$setup"
if command -v g++ >/dev/null; then
  compile_alone "setup.h compiles alone as C++" \
    g++ -std=gnu++11 -Wall -Wextra -Werror -Ibpf/include -x c++ -c <<<"$setup"
else
  skip "setup.h compiles alone as C++" "no C++ compiler"
fi
bpf_cc=(clang -target bpf -mcpu=v3 -g -O2 -Wall -Wextra -Werror -Ibpf/include
  -idirafter "/usr/include/$(gcc -print-multiarch)" -x c -c)
compile_alone "window.bpf.h compiles alone" "${bpf_cc[@]}" <<<'#include <bpf_window/window.bpf.h>'
a_window='struct my_window_stats { __u64 abs_bucket; __u64 n BPF_WINDOW_TOTAL; __u64 each[24]; };
BPF_WINDOW(my_window, struct my_window_stats);
SEC("raw_tp/sys_enter") int on_event(void *context) {
  struct my_window_stats *bucket = bpf_window_bucket(my_window);
  if (bucket) bpf_window_add(&bucket->n, context ? 1 : 2), bpf_window_add_plain(&bucket->each[3], 1);
  return 0;
}'
# libbpf's own, whichever comes first; a program that includes what it needs and no more.
libbpf_headers='#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>
#include <bpf/bpf_endian.h>
#include <bpf/bpf_tracing.h>'
compile_alone "a window compiles before libbpf's headers" "${bpf_cc[@]}" <<<"#include <linux/types.h>
#include <bpf_window/window.bpf.h>
$libbpf_headers
$a_window"
compile_alone "a window compiles behind libbpf's headers" "${bpf_cc[@]}" <<<"#include <linux/bpf.h>
$libbpf_headers
#include <bpf_window/window.bpf.h>
$a_window"
if [ -r /sys/kernel/btf/vmlinux ] && command -v bpftool >/dev/null; then
  folder=$(mktemp -d)
  bpftool btf dump file /sys/kernel/btf/vmlinux format c >"$folder/vmlinux.h"
  compile_alone "a window compiles behind vmlinux.h and libbpf's headers" "${bpf_cc[@]}" -I"$folder" <<<"#include \"vmlinux.h\"
$libbpf_headers
#include <bpf_window/window.bpf.h>
$a_window"
  compile_alone "a window compiles behind vmlinux.h alone" "${bpf_cc[@]}" -I"$folder" <<<"#include \"vmlinux.h\"
#include <bpf_window/window.bpf.h>
$a_window"
  rm -rf "$folder"
else
  skip "a window compiles behind vmlinux.h" "no kernel BTF or no bpftool"
fi

scripts=$(git ls-files 2>/dev/null | xargs grep -lE '^#!/bin/(ba)?sh|^# shellcheck shell=' 2>/dev/null || true)
if ! command -v shellcheck >/dev/null; then
  skip "shell scripts" "shellcheck is not installed"
elif [ -z "$scripts" ]; then
  skip "shell scripts" "no git to list them"
else
  # shellcheck disable=SC2086 # a list
  none "shell scripts are clean" shellcheck -x -e SC1091 $scripts
fi
if command -v mandoc >/dev/null; then
  for page in man/*.[1-9]; do
    none "$page is clean" mandoc -T lint -W warning "$page"
  done
else
  skip "man pages" "mandoc is not installed"
fi

# User space, as it is compiled: the paths of the libraries from pkg-config, collectd's
# headers from where configure found them.
collectd_headers=$(sed -n 's/^COLLECTD_CPPFLAGS = //p' "$BUILD_DIR/Makefile" 2>/dev/null || true)
user_space=(src/window/*.c src/object/*.c src/cli/*.c)
[ -z "$collectd_headers" ] || user_space+=(src/collectd/*.c)
tidy() {
  # shellcheck disable=SC2016,SC2086 # the inner shell expands it; flags
  printf '%s\n' "${user_space[@]}" | xargs -n 8 -P "$(nproc)" sh -c 'clang-tidy --quiet "$@" -- \
    -std=gnu11 -D_GNU_SOURCE -Ibpf/include -Ibpf -Isrc -DBPF_OBJECT_DIR=\"x\" \
    -DBPF_WINDOW_VERSION=\"x\" '"$collectd_headers" clang-tidy 2>/dev/null |
    grep -E ' (warning|error): '
}
if command -v clang-tidy >/dev/null; then
  none "user space is clean for clang-tidy" tidy
else
  skip "user space is clean for clang-tidy" "clang-tidy is not installed"
fi
if command -v cppcheck >/dev/null; then
  none "user space is clean for cppcheck" cppcheck --quiet --std=c11 \
    --enable=warning,performance,portability --suppress=missingInclude -D_GNU_SOURCE \
    '-DLIBBPF_OPTS(TYPE,NAME,...)=struct TYPE NAME = {__VA_ARGS__}' -Ibpf/include -Ibpf -Isrc src
else
  skip "user space is clean for cppcheck" "cppcheck is not installed"
fi

# Other versions of clang-format break lines otherwise.
unformatted() {
  local file
  git ls-files '*.c' '*.h' | while read -r file; do
    clang-format "$file" | cmp -s - "$file" || echo "$file"
  done
}
if ! clang-format --version 2>/dev/null | grep -q ' version 14\.'; then
  skip "sources are formatted" "clang-format 14 is not installed"
elif [ -z "$scripts" ]; then
  skip "sources are formatted" "no git to list them"
else
  none "sources are formatted" unformatted
fi

left_to_do() {
  grep -rnwE 'TODO|FIXME|XXX' bpf src tests tools --include='*.[chp]*' --include='*.sh' |
    grep -v '^tests/source/'
}
none "nothing is left to do without a reason" left_to_do

long_files() {
  wc -l src/*/*.[ch] bpf/*.[ch] | awk '$2 != "total" && $1 > 420 { print $2 ": " $1 " lines" }'
}
none "no file is over about 400 lines" long_files
done_testing
