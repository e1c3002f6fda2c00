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
is "$status $err" "1 bpf-window: policy: $SCRATCH/collectd.conf has no object other with a policy" \
  "an object that is not there"

# ---- Mistakes ----

run bpf_window policy
is "$status" 2 "without an action: wrong usage"
run bpf_window policy test
is "$status" 2 "without a path: wrong usage"
run bpf_window policy test x --file "$rules"
is "$status $err" "1 bpf-window: policy: x: No such file or directory" "a relative path of nothing"
run bpf_window policy test /x --pin-dir "$PINS"
is "$status $err" "1 bpf-window: policy: $PINS has no object with a policy" "nothing is pinned"
run bpf_window policy reload --config "$SCRATCH/collectd.conf"
is "$status" 1 "reload without collectd: status 1"
like "$err" "^bpf-window: policy: inode_cache: no collectd runs on $PINS; .*when it starts" "which is said"
echo 'dney /x' >>"$rules"
run bpf_window policy reload --config "$SCRATCH/collectd.conf"
is "$status $err" "1 bpf-window: policy: $rules:7: \"dney\" is not allow, deny or none" "a wrong rule: file and line"
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
is "$status" 1 "in force: denied"
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
is "$status $out" "0 inode_cache: 7 rules are in force (generation $((before + 1)))" \
  "a changed file: reload waits until it is in force" || echo "# $err"
in_force /srv/key
is "$status" 0 "and the rule is"
sed -i 's|Allow "/srv/own"|Deny "/srv/own"|' "$PRIVATE/collectd.conf"
reload --timeout 2s
is "$status" 1 "rules in the configuration itself do not change while collectd runs: status 1"
like "$err" 'inode_cache: not in force after 2 s\. process [0-9]+ \(collectd\) reads .* at a start only' "which is said"
private_stop
in_force /srv/key
is "$status" 0 "without collectd the rules in force are still told"

done_testing
