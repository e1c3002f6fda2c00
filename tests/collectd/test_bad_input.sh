#!/bin/bash
# Whatever is wrong gives one line that names the place and the remedy; a bad config stops
# collectd at its start, a failing object does not.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
# shellcheck source=tools/private_collectd.sh
. "$SOURCE_DIR/tools/private_collectd.sh"

[ "$(id -u)" -eq 0 ] || skip_all "needs root"
command -v collectd >/dev/null || skip_all "collectd is not installed"

own_marked_calls
folder=$(mktemp -d)
chmod 755 "$folder"
trap private_remove EXIT
private_new "$folder" csv

# config TEXT: the Plugin block's inside.
config() {
  private_config 1 <<END
$(private_csv)
<Plugin bpf_window>
  PinDir "$PRIVATE_PINS"
$1
</Plugin>
END
}

line_of() { grep -n -- "$1" "$folder/collectd.conf" | head -n 1 | cut -d: -f1; }

# refused CONFIG PATTERN DESCRIPTION [MARK]: collectd does not start; the one line that
# says why names the line with the text MARK.
refused() {
  config "$1"
  if private_start; then
    private_stop
    not_ok "$3" "collectd started"
    return
  fi
  local said place=$folder/collectd.conf:
  said=$(grep 'bpf_window plugin:' "$folder/collectd.log" "$folder/collectd.out" | head -n 1)
  [ $# -lt 4 ] || place=$place$(line_of "$4"):
  like "$said" "$place.*$2" "$3"
}

# notified PATTERN DESCRIPTION: a failure went out as a notification, too.
notified() {
  like "$(grep 'severity = FAILURE' "$folder/collectd.log")" "plugin = bpf_window.*$1" "$2 is a notification, too"
}

object=$BUILD_DIR/tests/bpf/marked_calls.bpf.o

refused '  Nonsense true' 'Nonsense: unknown option; see collectd-bpf_window\(5\)' \
  "an unknown option" Nonsense
refused "  <Object \"marked\">
    Fille \"$object\"
  </Object>" '<Object "marked"> Fille: unknown option' "an unknown option of an object" Fille
refused '  PinDir 7' 'needs one string' "a number for a string" 'PinDir 7'
refused '  <Object "marked">
    Persist "yes"
  </Object>' 'Persist: needs true or false' "a string for a boolean" Persist
refused '  <Window "my_stats">
  </Window>' 'it needs the path of a pin' "a window of others by its name" my_stats
refused '  <Window "/sys/fs/bpf/agent/my.stats">
  </Window>' 'cannot be the name of a window.*Instance' "a pin whose name cannot be an instance" my.stats
refused '  <Window "/sys/fs/bpf/a/x">
    Percentile 50 100.1
  </Window>' 'Percentile: needs up to 16 numbers above 0, at most 100' "a percentile over 100" Percentile
refused '  <Window "/sys/fs/bpf/a/x">
  </Window>
  <Window "/sys/fs/bpf/b/y">
    Instance "x"
  </Window>' 'there is a window of this name already' "two windows of one name" /b/y
refused '  <Object "marked">
    <Window "marked">
      Instance "a/b"
    </Window>
  </Object>' 'cannot be the name of a window' "an impossible instance" '<Window "marked">'
refused '  <Object "marked">
    <Window "marked">
    </Window>
    <Window "marked">
    </Window>
  </Object>' 'there is a block of this window already' "a window's block twice" '<Window "marked">'
refused '  <Object "a/b">
  </Object>' 'letters, digits and underscores' "an impossible name" 'a/b'
refused '  <Object "same">
  </Object>
  <Object "same">
  </Object>' 'there is an object of this name' "the same name twice"
refused '  <Object "marked">
    <Window "marked">
      RatioSeconds 0
    </Window>
  </Object>' 'from 1 to 300' "a window of no seconds" RatioSeconds
refused '  <Object "marked">
    <Window "marked">
      <Ratio "r">
        Numerator "calls"
      </Ratio>
    </Window>
  </Object>' 'a line Numerator and a line Denominator' "half a ratio" Ratio
refused '  <Object "inode_cache">
    <Policy>
      Deny "relative/path"
    </Policy>
  </Object>' 'Deny.*(absolute|relative)' "a relative path in a rule" Deny
for scope in '"container"' '"Host"' true '"host" "all"' '""'; do
  refused "  <Object \"inode_cache\">
    <Policy>
      Scope $scope
    </Policy>
  </Object>" 'Scope: needs "host" or "all"' "the scope $scope" Scope
done
refused '  <Object "inode_cache">
    <Policy>
      PolicyFile "/nowhere/rules"
    </Policy>
  </Object>' '/nowhere/rules' "a policy file that is not there" PolicyFile
mkdir "$folder/rules" && echo "deny $folder/rules/" >"$folder/rules/own" && ln -s rules/own "$folder/link"
for file in rules/own link; do
  refused "  <Object \"inode_cache\">
    Persist true
    <Policy>
      Enforce true
      PolicyFile \"$folder/$file\"
    </Policy>
  </Object>" "PolicyFile: .*:1: the rule would deny $folder/rules/own, which this program needs" \
    "a policy file that denies itself, by $file"
done

# goes_on PATTERN DESCRIPTION: collectd runs, and one error line says what failed.
goes_on() {
  like "$(grep '\[error\] bpf_window plugin:' "$folder/collectd.log")" "$1" "$2"
  is "$(grep -c '\[error\] bpf_window plugin:' "$folder/collectd.log")" 1 "$2: in one line"
  if kill -0 "$PRIVATE_PID" 2>/dev/null; then ok "$2: collectd goes on"
  else not_ok "$2: collectd goes on"; fi
}

good="  <Object \"good\">
    File \"$object\"
    Persist false
  </Object>"

with_object() { # FILE
  config "  <Object \"bad\">
    File \"$1\"
    Persist false
  </Object>
$good"
  private_start || not_ok "collectd starts"
}

with_object /nowhere/x.bpf.o
goes_on 'bad: cannot open the object file /nowhere/x.bpf.o: No such file' "a missing object"
like "$(grep bpf_window "$folder/collectd.log")" 'good: loaded' "and another object counts"
private_stop

with_object "$BUILD_DIR/tests/bpf/no_window.bpf.o"
goes_on 'bad: .*no_window.bpf.o declares no window' "an object without a window"
private_stop

with_object "$BUILD_DIR/tests/bpf/awkward_names_self.bpf.o"
goes_on '<Window "cdn_edge">: derive-self_calls: names in "self_" are the plugin.s own' \
  "a counter with a name that is the plugin's"
private_stop

if compgen -G '/usr/lib/*/libstdc++.so.6' >/dev/null; then
  with_object "$BUILD_DIR/tests/bpf/usdt.bpf.o"
  goes_on 'bad: .*attaching on_catch: cannot keep its link: the kernel has none of that kind' \
    "a program that only libbpf holds"
  private_stop
else
  skip "a program that only libbpf holds" "there is no libstdc++ with a probe"
fi

with_object "$SOURCE_DIR/tests/run.sh"
goes_on 'bad: .*run.sh is no BPF object' "a file that is no object"
private_stop

config "  <Object \"marked\">
    File \"$object\"
    Persist false
    <Window \"marked\">
      <Ratio \"r\">
        Numerator \"calls\" \"cals\"
        Denominator \"calls\"
      </Ratio>
    </Window>
  </Object>"
private_start || not_ok "collectd starts"
goes_on '<Window "marked">: <Ratio "r">: unknown counter "cals" \(there are: calls\)' \
  "an unknown counter in a ratio"
private_stop

config "  <Object \"marked\">
    File \"$object\"
    Persist false
    <Policy>
      Allow \"/etc/\"
    </Policy>
  </Object>"
private_start || not_ok "collectd starts"
goes_on 'marked has no file policy: remove the Policy block' "a policy for an object without one"
private_stop

config "  <Object \"marked\">
    File \"$object\"
    Persist false
  </Object>"
sed -i 's/^Interval 1$/Interval 0.3/' "$folder/collectd.conf"
private_start || not_ok "collectd starts"
goes_on 'an interval of 0.3 s does not fit' "an interval that is no multiple of a bucket"
notified 'an interval of 0.3 s does not fit' "it"
private_stop

# ---- Two windows of one name ----

two_of_one_name() { # INSTANCE-LINE
  config "  <Object \"marked\">
    File \"$object\"
    Persist false
  </Object>
  <Object \"other\">
    File \"$object\"
    Persist false
    <Window \"marked\">
      ${1:-}
    </Window>
  </Object>"
}
two_of_one_name
private_start || not_ok "collectd starts"
like "$(grep '\[error\] bpf_window plugin:' "$folder/collectd.log")" \
  'other: <Window "marked">: .*there is a window marked already; .*with Instance in its <Window> block' \
  "two objects with windows of one name: the remedy is named"
notified 'there is a window marked already' "it"
private_stop
two_of_one_name 'Instance "marked-2"'
private_start || not_ok "collectd starts"
is "$(private_complaints)" "" "with an Instance both are read"
tenths=0
until compgen -G "$folder/csv/$PRIVATE_HOST/bpf_window-marked-2/derive-calls*" >/dev/null || [ $((tenths += 1)) -gt 300 ]; do
  sleep 0.1
done
like "$(ls "$folder/csv/$PRIVATE_HOST/bpf_window-marked-2")" 'derive-calls' "and each dispatched under its own name"
private_stop

# ---- Pins of another layout ----

config "  <Object \"marked\">
    File \"$object\"
  </Object>"
private_start || not_ok "collectd starts"
rm -rf "$folder/csv"
# points COUNTER: lines in its csv file.
points() { cat "$folder/csv/$PRIVATE_HOST/bpf_window-marked/derive-$1"-* 2>/dev/null | grep -vc epoch || true; }
until [ "$(points calls)" -ge 8 ]; do sleep 0.2; done # so far would new maps be behind
private_stop
config "  <Object \"marked\">
    File \"$BUILD_DIR/tests/bpf/marked_calls_other.bpf.o\"
    Persist false
  </Object>"
private_start || not_ok "collectd starts"
like "$(grep bpf_window "$folder/collectd.log")" \
  'marked: loaded; the pinned windows had other counters and were replaced' \
  "pins of another layout are replaced, and it is said"
until [ "$(points others)" -ge 1 ]; do sleep 0.2; done
private_stop
replaced=$(date +%s -d "$(sed -n 's/^\[\([^]]*\)\].*were replaced.*/\1/p' "$folder/collectd.log" | tail -n 1)")
first=$(cat "$folder/csv/$PRIVATE_HOST/bpf_window-marked/derive-others"-* | grep -v epoch | head -n 1 | cut -d . -f 1)
if [ $((first - replaced)) -le 2 ]; then ok "and dispatched from the next edge on"
else not_ok "and dispatched from the next edge on" "the first came $((first - replaced)) s later"; fi

# ---- Without bpffs, and without privileges ----

config "$good"
if unshare -m true 2>/dev/null; then
  unshare -m sh -c "umount -a -t bpf 2>/dev/null; umount /sys/fs/bpf 2>/dev/null
    exec timeout 5 ${PRIVATE_DAEMON[*]}" >"$folder/collectd.out" 2>&1 || true
  like "$(grep '\[warning\] bpf_window plugin:' "$folder/collectd.log")" \
    'is not on a BPF file system \(mount -t bpf bpf /sys/fs/bpf\). Running without pins' \
    "without bpffs it runs unpinned and says so"
  is "$(grep -c 'Running without pins' "$folder/collectd.log")" 1 "once"
  unshare -m sh -c "mount -t tmpfs none /sys/kernel/btf
    exec timeout 5 ${PRIVATE_DAEMON[*]}" >"$folder/collectd.out" 2>&1 || true
  like "$(grep '\[error\] bpf_window plugin:' "$folder/collectd.log")" \
    'good: loading needs /sys/kernel/btf/vmlinux: use a kernel built with CONFIG_DEBUG_INFO_BTF' \
    "without the kernel's BTF it says so"
else
  skip "without bpffs it runs unpinned, without BTF it says so" "mount namespaces cannot be made here"
fi

: >"$folder/collectd.log"
chmod 666 "$folder/collectd.log"
chmod 755 "$folder/plugins"
mkdir -p "$folder/csv" && chmod 777 "$folder/csv"
sed -i "s|^PIDFile.*|PIDFile \"/tmp/nobody.$$.pid\"|" "$folder/collectd.conf"
setpriv --reuid=65534 --regid=65534 --clear-groups \
  timeout 5 "${PRIVATE_DAEMON[@]}" >"$folder/collectd.out" 2>&1 || true
like "$(cat "$folder/collectd.log" "$folder/collectd.out")" \
  '\[error\] bpf_window plugin: .*CAP_BPF and CAP_PERFMON \(run as root' \
  "as nobody: the error says which capabilities are missing"
rm -f "/tmp/nobody.$$.pid"
done_testing
