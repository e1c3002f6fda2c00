#!/bin/bash
# What an author of another agent has of this project: the installed files. The example
# is built from them as a stranger would, and its window read.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tests/source/links.sh
. "$SOURCE_DIR/tests/source/links.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
[ -r /sys/kernel/btf/vmlinux ] || skip_all "needs the kernel's BTF"
[ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" = bpf_fs ] || skip_all "needs a bpffs at /sys/fs/bpf"
[ -f "$BUILD_DIR/Makefile" ] || skip_all "needs a build tree"

EVENTS=50 FAILED=20
folder=$(mktemp -d)
pins=/sys/fs/bpf/bpf_window_example_$$
agent=
end_agent() {
  [ -z "$agent" ] || { kill "$agent" && wait "$agent"; } || true
  agent=
}
trap 'end_agent; rm -rf "$folder" "$pins"' EXIT

root=$folder/root
if output=$(make -C "$BUILD_DIR" install DESTDIR="$root" 2>&1); then
  ok "make install into a folder"
else
  not_ok "make install into a folder" "$output"
fi
readme=$(find "$root" -name README.md)
links_lead_somewhere "links of the installed pages lead somewhere" \
  "$readme" "${readme%/*}"/CONTRIBUTING.md "${readme%/*}"/docs/*.md
pc=$(find "$root" -name bpf-window.pc)
is "$(wc -l <<<"$pc")" 1 "one file for pkg-config is installed"
export PKG_CONFIG_PATH=${pc%/*} PKG_CONFIG_SYSROOT_DIR=$root
headers=$(pkg-config --cflags-only-I bpf-window | grep -oE "${root}[^ ]*include\b" | head -n 1)
is "$(cd "$headers/bpf_window" && echo *)" "layout.h setup.h window.bpf.h" "its Cflags lead to the headers"
is "$(pkg-config --modversion bpf-window)" "$("$BUILD_DIR/bpf-window" --version | grep -oE '[0-9.]+$')" \
  "its version is the command's"
is "$(cd "$root$(pkg-config --variable=objectdir bpf-window | sed "s|^$root||")" && echo *)" \
  "$(cd "$SOURCE_DIR/bpf" && echo ./*.bpf.c | sed 's|\./||g; s/\.bpf\.c/.bpf.o/g')" \
  "its objectdir has the bundled objects"

# The installed copy, outside of the source tree.
cp -r "$(find "$root" -type d -path '*/examples/exits')" "$folder/exits"
if output=$(make -C "$folder/exits" CFLAGS="-O2 -g -Wall -Wextra -Werror" 2>&1); then
  ok "the example builds from the installed files"
else
  not_ok "the example builds from the installed files" "$output"
  done_testing
  exit
fi

# Programs of a name that nobody else here has.
mine=exits_$$
mine=${mine:0:15}
# shellcheck disable=SC2016 # for that program
printf '#!/bin/sh\nexit "$1"\n' >"$folder/$mine"
chmod +x "$folder/$mine"
"$folder/exits/exits" -n "$mine" -p "$pins" >"$folder/out" 2>"$folder/err" &
agent=$!
until grep -q '^counting' "$folder/out"; do
  kill -0 "$agent" 2>/dev/null || { not_ok "the agent starts" "$(cat "$folder/err")"; done_testing; exit; }
  sleep 0.1
done
for ((i = 0; i < EVENTS; i++)); do
  "$folder/$mine" $((i < FAILED ? 3 : 0)) || true
done

bpf_window() { env -u PKG_CONFIG_PATH "$BUILD_DIR/bpf-window" "$@"; }
# The bucket of this second is shown when it has ended.
for _ in $(seq 100); do
  shown=$(bpf_window show "$pins/exits" --json)
  [ "$(jq '.counters.processes' <<<"$shown")" != $EVENTS ] || break
  sleep 0.2
done
is "$(jq -c '[.counters.processes, .counters.failed]' <<<"$shown")" "[$EVENTS,$FAILED]" \
  "bpf-window show has the $EVENTS processes that ended, and the $FAILED that failed"
is "$(jq '[.counters | to_entries[] | select(.key | startswith("lifetime_ms")) | .value] | flatten | add' <<<"$shown")" \
  "$EVENTS" "each is in the histogram of their lifetimes"
like "$(bpf_window list --pin-dir "$pins")" "pinned +$pins/exits" "bpf-window list has it"
end_agent
is "$(find "$pins" 2>/dev/null)" "" "ended, the agent leaves no pins"
done_testing
