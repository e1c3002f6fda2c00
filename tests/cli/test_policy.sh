#!/bin/bash
# bpf-window policy test and reload, of files and of a running collectd.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

rules=$SCRATCH/rules
cat >"$rules" <<'END'
# verdict path
deny /srv/
allow /srv/www/
deny /srv/www/.htpasswd
none /srv/tmp/
END

# ---- The rules of a file ----

of_file() { run bpf_window policy test "$1" --file "$rules"; }
of_file /srv/key
is "$status $out" "1 /srv/key: denied by \"/srv/\" ($rules:2)" "denied: status 1, the rule and its line"
of_file /srv/www/index.html
is "$status $out" "0 /srv/www/index.html: allowed by \"/srv/www/\" ($rules:3)" "allowed: status 0"
of_file /srv/www/.htpasswd
is "$status $out" "1 /srv/www/.htpasswd: denied by \"/srv/www/.htpasswd\" ($rules:4)" "the longest rule decides"
of_file /srv/tmp/x
is "$status $out" "0 /srv/tmp/x: no verdict by \"/srv/tmp/\" ($rules:5)" "none is a rule"
of_file /srv2
is "$status $out" "0 /srv2: no rule" "no rule: status 0"
mkdir "$SCRATCH/real"
ln -s "$SCRATCH/real" "$SCRATCH/link"
echo "deny $SCRATCH/real/" >>"$rules"
of_file "$SCRATCH/link/new"
like "$out" "^$SCRATCH/real/new: denied" "symbolic links on the way are followed"

# ---- Those of a configuration ----

config() { # LINE...: of the Policy
  printf '%s\n' "LoadPlugin bpf_window" "<Plugin bpf_window>" "PinDir \"$PINS\"" "<Object \"inode_cache\">" \
    "<Policy>" "$@" "</Policy>" "</Object>" "</Plugin>" >"$SCRATCH/collectd.conf"
}
config 'Deny "/etc/x"' "PolicyFile \"$rules\""
run bpf_window policy test /etc/x --config "$SCRATCH/collectd.conf"
is "$status $out" "1 /etc/x: denied by \"/etc/x\" ($SCRATCH/collectd.conf:6)" "a rule in the configuration"
run bpf_window policy test /srv/key inode_cache --config "$SCRATCH/collectd.conf"
is "$status $out" "1 /srv/key: denied by \"/srv/\" ($rules:2)" "one in its file"
run bpf_window policy test /srv/key other --config "$SCRATCH/collectd.conf"
is "$status $err" "3 bpf-window: policy: $SCRATCH/collectd.conf has no object other with a policy" \
  "an object that is not there"

config 'Deny "/etc/x"' 'Scope "here"'
run bpf_window policy test /etc/x --config "$SCRATCH/collectd.conf"
is "$status $err" "3 bpf-window: policy: $SCRATCH/collectd.conf:7: Scope: needs \"host\" or \"all\"" \
  "a scope that there is not"
config 'Deny "/etc/x"' 'Scope "all"'
run bpf_window policy test /etc/x --config "$SCRATCH/collectd.conf"
is "$status $out" "1 /etc/x: denied by \"/etc/x\" ($SCRATCH/collectd.conf:6)" "the default scope"
config 'Deny "/etc/x"' 'Scope "host"'
run bpf_window policy test /etc/x --config "$SCRATCH/collectd.conf"
no_host=$err
if [ -n "$no_host" ]; then
  is "$status" 3 "the host's scope cannot be told here: status 3"
  like "$no_host" 'Scope "host"' "which is said"
else
  is "$status $out" "1 /etc/x: denied by \"/etc/x\" ($SCRATCH/collectd.conf:6, on the host only)" "the host's scope"
  what="which ends where another mount namespace begins"
  run unshare --mount "$BUILD_DIR/bpf-window" policy test /etc/x --config "$SCRATCH/collectd.conf"
  if [ -e /proc/1/ns/mnt ]; then
    is "$status $out" "0 /etc/x: no rule here: Scope \"host\", and this is another mount namespace" "$what"
  else
    is "$status" 3 "without CAP_SYS_PTRACE another mount namespace cannot tell: status 3"
    like "$err" 'Scope "host": cannot read /proc/1/ns/mnt: Permission denied \(needs CAP_SYS_PTRACE\)' "which is said"
  fi
fi
config 'Deny "/etc/x"' "PolicyFile \"$rules\""

# ---- Mistakes ----

run bpf_window policy
is "$status" 2 "without an action: wrong usage"
run bpf_window policy test
is "$status" 2 "without a path: wrong usage"
run bpf_window policy test x --file "$rules"
is "$status $err" "3 bpf-window: policy: x: No such file or directory" "a relative path of nothing"
run bpf_window policy test /x --pin-dir "$PINS"
is "$status $err" "3 bpf-window: policy: $PINS has no object with a policy" "nothing is pinned"
run bpf_window policy reload --config "$SCRATCH/collectd.conf"
is "$status" 1 "reload without collectd: status 1"
like "$err" "^bpf-window: policy: inode_cache: no collectd runs on $PINS; .*when it starts" "which is said"
echo 'dney /x' >>"$rules"
run bpf_window policy reload --config "$SCRATCH/collectd.conf"
is "$status $err" \
  "1 bpf-window: policy: $SCRATCH/collectd.conf:7: PolicyFile: $rules:7: \"dney\" is not allow, deny or none" \
  "a wrong rule: file and line"
sed -i '$d' "$rules"

# ---- A running collectd ----

command -v collectd >/dev/null || { skip "a running collectd" "collectd is not installed"; done_testing; exit; }
private_new "$SCRATCH/collectd" csv
at_end+=(private_remove)
private_config 1 <<END
<Plugin csv>
  DataDir "$SCRATCH/csv"
</Plugin>
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
  <Object "inode_cache">
    File "$BUILD_DIR/bpf/inode_cache.bpf.o"
    <Policy>
      Allow "/srv/own"
      PolicyFile "$rules"
    </Policy>
  </Object>
</Plugin>
END
private_start || { not_ok "collectd starts" "$(cat "$PRIVATE/collectd.log")"; exit 1; }
in_force() { run bpf_window policy test "$1" --pin-dir "$PRIVATE_PINS"; }
reload() { run bpf_window policy reload --config "$PRIVATE/collectd.conf" "$@"; }

in_force /srv/key
is "$status" 1 "in force: a rule denies it, though it is counted only: status 1"
like "$out" '^/srv/key: denied by "/srv/" \(in force in inode_cache, generation [0-9]+, counted only\)$' \
  "by the rule that the kernel has"
in_force /srv
like "$out" '^/srv: denied by "/srv/"' "a folder is itself in its rule"
reload
is "$status" 0 "reload of what is in force already: status 0"
before=$(sed -n 's/.*generation \([0-9]*\).*/\1/p' <<<"$out")
is "$out" "inode_cache: 6 rules are in force (generation $before)" "with their number"
echo 'allow /srv/key' >>"$rules"
reload
is "$status $out" "0 inode_cache: 7 rules are in force (generation $((before + 2)))" \
  "a changed file: reload waits until it is in force" || echo "# $err"
in_force /srv/key
is "$status" 0 "and the rule is"
sed -i 's|Allow "/srv/own"|Deny "/srv/own"|' "$PRIVATE/collectd.conf"
reload --timeout 2s
is "$status" 1 "rules in the configuration itself do not change while collectd runs: status 1"
like "$err" 'inode_cache: not in force after 2 s\. process [0-9]+ \(collectd\) reads .* at a start only' "which is said"
sed -i 's|Deny "/srv/own"|Allow "/srv/own"\n      Scope "host"|' "$PRIVATE/collectd.conf"
reload
is "$status" 1 "a scope that is configured and not in force: status 1"
like "$err" 'inode_cache: the rules are in force, but for all mount namespaces; .*Scope at a start only$' "which is said"
sed -i 's|Scope "host"|Enforce true|' "$PRIVATE/collectd.conf"
reload
like "$status $err" '^1 bpf-window: policy: inode_cache: the rules are in force, but not enforced yet; .*Enforce at a start only$' \
  "nor is Enforce, which is not in force, passed over"
private_stop
in_force /srv/key
is "$status" 0 "without collectd the rules in force are still told"

# ---- Rules for the host ----

if [ -n "$no_host" ]; then
  skip "rules in force for the host" "${no_host#bpf-window: policy: }"
else
  sed -i 's|Enforce true|Scope "host"|' "$PRIVATE/collectd.conf"
  private_start || { not_ok "collectd starts" "$(cat "$PRIVATE/collectd.log")"; exit 1; }
  in_force /srv/www/.htpasswd
  like "$status $out" '^1 .*\(in force in inode_cache, generation [0-9]+, counted only, on the host only\)$' \
    "a scope comes into force at a start"
  run unshare --mount "$BUILD_DIR/bpf-window" policy test /srv/www/.htpasswd --pin-dir "$PRIVATE_PINS"
  like "$status $out" '^0 .*: no rule here: Scope "host"' "and elsewhere there is no rule"
  reload
  is "$status" 0 "reload finds it"
  private_stop
fi

done_testing
