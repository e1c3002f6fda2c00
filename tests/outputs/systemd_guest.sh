# shellcheck shell=bash
# Run in test_systemd.sh's guest, by its systemd. Prints TAP.
set -uo pipefail
# shellcheck source=tests/tap.sh
. /vm/tap.sh

unit=/etc/systemd/system/collectd.service
drop_ins=/etc/systemd/system/collectd.service.d
name=$(hostname)/bpf_window-inode_cache/cache_operation-lookups

value() { collectdctl getval "$name" 2>/dev/null | sed -n 's/^value=//p' | cut -d. -f1; }

# A rate: there is none until the second value, and it is above 0 while files are opened.
value_arrives() {
  local tries
  for ((tries = 0; tries < 600; tries++)); do
    cat /etc/passwd >/dev/null
    [ "$(value)" -gt 0 ] 2>/dev/null && return 0
    sleep 0.5
  done
  return 1
}
lookups() { # since load, by the command
  bpf-window show inode_cache 2>/dev/null | awk '$1 == "lookups" { gsub(",", "", $NF); print $NF }'
}
since=
said() { journalctl -u collectd --since "@$since" -o cat --no-pager 2>/dev/null | grep -a bpf_window; }

# What was said by now; the journal may lag behind.
says() { # PATTERN
  local tries
  for ((tries = 0; tries < 300; tries++)); do
    said | grep -qE -- "$1" && return 0
    sleep 0.5
  done
  return 1
}
expect() { # PATTERN DESCRIPTION
  if says "$1"; then ok "$2"; else not_ok "$2" "$(said | tail -n 5)" "$(journalctl -u collectd -n 5 -o cat --no-pager)"; fi
}

start() { # start|restart DESCRIPTION
  sleep 1 # the next second of the journal is this start's
  since=$(date +%s)
  if systemctl "$1" collectd; then ok "$2"; else not_ok "$2" "$(systemctl status collectd | tail -n 15)"; fi
}
arrives() { if value_arrives; then ok "$1"; else not_ok "$1" "$(said | tail -n 5)"; fi; }

# Counting goes on from where it was, under a service that starts again.
adopts() { # DESCRIPTION
  local before after
  before=$(lookups)
  start restart "$1: restarts"
  expect 'inode_cache: adopted' "$1: a restart adopts the pins"
  arrives "$1: values arrive after it"
  after=$(lookups)
  if [ "${before:-0}" -gt 0 ] && [ "${after:-0}" -gt "${before:-0}" ]; then
    ok "$1: counting went on, from $before to $after"
  else
    not_ok "$1: counting went on" "before ${before:-nothing}, after ${after:-nothing}"
  fi
}

works() { # DESCRIPTION
  start start "$1: collectd starts"
  says 'inode_cache: loaded, counting at' || true # so that the description may tell more
  expect 'inode_cache: loaded, counting at' \
    "$1: the object is loaded$(said | sed -n 's/.*: loaded\(, .*\)\.$/\1/p' | head -n 1)"
  arrives "$1: collectdctl reads a value, $(value)/s"
  adopts "$1"
}

fresh() {
  systemctl stop collectd
  bpf-window detach inode_cache >/dev/null 2>&1
  rm -rf "$drop_ins"
  systemctl daemon-reload
  is "$(find /sys/fs/bpf -mindepth 1 | wc -l)" 0 "nothing is pinned before the next"
}
drop_in() { # < TEXT
  mkdir -p "$drop_ins"
  cat >"$drop_ins/bpf_window.conf"
  systemctl daemon-reload
}

is "$(stat -f -c %T /sys/fs/bpf)" bpf_fs "systemd has mounted the BPF filesystem"

# ---- As Debian ships it ----

start start "as installed, nothing enabled: collectd starts"
is "$(said | wc -l)" 0 "as installed: the plugin is not loaded"
systemctl stop collectd
sed -i 's/^#Include/Include/' /etc/collectd/collectd.conf.d/bpf_window.conf
works "Debian's unit"
fresh

# ---- As upstream ships it: no capability at all ----

# unit_with SETTING...: Debian's unit with these
unit_with() {
  {
    sed '/^Restart/d' /lib/systemd/system/collectd.service | sed '/^\[Service\]/q'
    printf '%s\n' "$@"
    sed '/^Restart/d' /lib/systemd/system/collectd.service | sed '1,/^\[Service\]/d'
  } >"$unit"
  systemctl daemon-reload
}
upstream=(ProtectSystem=full ProtectHome=true CapabilityBoundingSet= Restart=on-failure)

unit_with "${upstream[@]}"
is "$(systemctl show -p CapabilityBoundingSet --value collectd)" "" "upstream's unit has no capability"
start start "upstream's unit alone: collectd starts"
expect 'inode_cache.*needs the capabilities CAP_BPF and CAP_PERFMON .*unit' \
  "upstream's unit alone: the object is refused, by a message that says what is lacking"
is "$(systemctl is-active collectd)" active "upstream's unit alone: collectd goes on without it"
is "$(value)" "" "upstream's unit alone: there is no value"
fresh

# Before Linux 6.2, see the drop-in.
more=
grep -qw bpf_rdonly_cast /proc/kallsyms || more=CapabilityBoundingSet=CAP_SYS_ADMIN

drop_in </vm/bpf_window.conf
is "$(systemctl show -p CapabilityBoundingSet --value collectd | xargs -n 1 | sort | xargs)" \
  "cap_bpf cap_perfmon" "upstream's unit with the drop-in has two capabilities"
if [ -n "$more" ]; then
  start start "upstream's unit with the drop-in, before Linux 6.2: collectd starts"
  expect 'needs the capability CAP_SYS_ADMIN, too' "it says that CAP_SYS_ADMIN is needed, too"
  fresh
  { cat /vm/bpf_window.conf; echo "$more"; } | drop_in
fi
works "upstream's unit with the drop-in"
fresh

# ---- Locked down further ----

unit_with "${upstream[@]}" ProtectSystem=strict ReadWritePaths=/var/lib/collectd ReadWritePaths=/run \
  PrivateTmp=true PrivateDevices=true NoNewPrivileges=true ProtectControlGroups=true \
  ProtectKernelModules=true ProtectKernelLogs=true ProtectKernelTunables=true \
  RestrictNamespaces=true RestrictRealtime=true LockPersonality=true MemoryDenyWriteExecute=true
printf '[Service]\nCapabilityBoundingSet=CAP_BPF CAP_PERFMON\n%s\n' "$more" | drop_in
start start "strict, with capabilities alone: collectd starts"
expect 'cannot make the folder.*ProtectKernelTunables' "strict, with capabilities alone: there are no pins, and why"
expect 'needs to read /proc/kallsyms.*ProtectKernelTunables' "strict, with capabilities alone: nor is the object loaded, and why"
fresh
{ cat /vm/bpf_window.conf; echo "$more"; } | drop_in
works "strict, with the drop-in"
fresh
done_testing
