#!/bin/bash
# Least privilege: what each capability is needed for, tried with a real collectd that has
# the others not; and what the pins let others do.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

folder=$(mktemp -d)
trap private_remove EXIT
private_new "$folder" csv
private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
    Front "syscall"
  </Object>
</Plugin>
END
root_daemon=("${PRIVATE_DAEMON[@]}")

# start_with CAPABILITY...: root's collectd with these alone
start_with() {
  local list=-all capability
  for capability in "$@"; do list+=,+$capability; done
  PRIVATE_DAEMON=(setpriv --no-new-privs --bounding-set="$list" --inh-caps=-all "${root_daemon[@]}")
  private_start || { not_ok "collectd starts with $list" "$(cat "$folder/collectd.log")"; exit 1; }
}
log() { grep -E 'bpf_window plugin' "$folder/collectd.log" || true; }

has_counted() {
  local lookups tenths
  for ((tenths = 0; tenths < 300; tenths++)); do
    cat "$folder/collectd.conf" >/dev/null
    lookups=$(csv_last cache_operation-lookups 2>/dev/null || true)
    [ "${lookups:-0}" -eq 0 ] || return 0
    sleep 0.1
  done
  return 1
}

# ---- Loading and attaching ----

needed=(bpf perfmon)
if ! grep -qw bpf_rdonly_cast /proc/kallsyms; then
  start_with "${needed[@]}"
  like "$(log)" '\[error\] bpf_window plugin: .*needs the capability CAP_SYS_ADMIN, too' \
    "before Linux 6.2 the error says that CAP_SYS_ADMIN is needed, too"
  private_stop
  needed+=(sys_admin)
fi
start_with "${needed[@]}"
if has_counted; then
  ok "CAP_${needed[*]^^} are enough to load, attach, pin and read"
else
  not_ok "CAP_${needed[*]^^} are enough to load, attach, pin and read" "$(log)"
fi
is "$(log | grep -c error || true)" 0 "without an error" || log
private_stop

# What is pinned is adopted: programs need not be loaded again.
start_with bpf
like "$(log)" 'adopted as it was left running' "adopting needs no CAP_PERFMON"
rm -rf "$folder/csv"
if has_counted; then ok "nor does reading"; else not_ok "nor does reading" "$(log)"; fi
private_stop
rm -rf "$PRIVATE_PINS"

for alone in bpf perfmon; do
  start_with $alone
  like "$(log)" '\[error\] bpf_window plugin: .*needs the capabilities CAP_BPF and CAP_PERFMON' \
    "with CAP_${alone^^} alone the error names both"
  private_stop
done

# ---- What a unit's ProtectKernelTunables takes away ----

# start_without MOUNT: in a mount namespace of its own, in which that has been done
start_without() {
  local list=-all capability
  for capability in "${needed[@]}"; do list+=,+$capability; done
  PRIVATE_DAEMON=(unshare --mount --propagation private sh -ec "$1; shift; exec \"\$@\"" sh --
    setpriv --no-new-privs --bounding-set="$list" --inh-caps=-all "${root_daemon[@]}")
  private_start || { not_ok "collectd starts without" "$(cat "$folder/collectd.log")"; exit 1; }
}
: >"$folder/hidden"
chmod 000 "$folder/hidden"
start_without "mount --bind '$folder/hidden' /proc/kallsyms"
like "$(log)" '\[error\] .*needs to read /proc/kallsyms \(is ProtectKernelTunables or ProcSubset set' \
  "without /proc/kallsyms the error names it, and the settings"
private_stop
rm -rf "$PRIVATE_PINS"
start_without "mount --bind -r /sys/fs/bpf /sys/fs/bpf"
like "$(log)" 'cannot make the folder .*Read-only file system \(is ProtectKernelTunables set' \
  "with a read-only BPF file system the warning names the setting"
if has_counted; then ok "and counts without pins"; else not_ok "and counts without pins" "$(log)"; fi
private_stop

# ---- What is pinned ----

PRIVATE_DAEMON=("${root_daemon[@]}")
private_start
is "$(stat -c '%a %U' "$PRIVATE_PINS")" "700 root" "the folder of pins is root's alone"
is "$(stat -c '%a' "$PRIVATE_PINS/inode_cache/inode_cache")" 600 "so are the pins"
for map in inode_cache inode_cache_epoch inode_cache_cursor; do
  pin=$PRIVATE_PINS/inode_cache/$map
  # shellcheck disable=SC2046 # a list of bytes
  refused=$(bpftool map update pinned "$pin" key 0 0 0 0 value \
    $(yes 0 | head -n "$(bpftool -j map show pinned "$pin" | jq .bytes_value)") 2>&1 || true)
  like "$refused" 'Operation not permitted' "root's update of $map is refused: it is frozen"
done
done_testing
