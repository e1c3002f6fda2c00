#!/bin/bash
# bpf-window check and detach.
set -euo pipefail
# shellcheck source=tests/cli/common.sh
. "$SOURCE_DIR/tests/cli/common.sh"

check() { run bpf_window check --pin-dir "$PINS" --config "$SCRATCH/collectd.conf"; }
object=$HERE/counted.bpf.o

# ---- A sound configuration ----

plugins=$SCRATCH/plugins # as in collectd's folder
mkdir "$plugins"
touch "$plugins/bpf_window.so" "$plugins/cpu.so"
sed "s|@OBJECT@|$object|; s|@PLUGINS@|$plugins|; s|@JUDGE@|$BUILD_DIR/bpf/inode_cache.bpf.o|" >"$SCRATCH/collectd.conf" <<'END'
# A comment
Hostname "x" # another
Include "included/*.conf"
PluginDir "@PLUGINS@"
LoadPlugin bpf_window
<Plugin "bpf_window">
  PinDir "/sys/fs/bpf/bpf_window"
  <Object "counted">
    File "@OBJECT@"
    Persist false
    <Window "counted">
      RatioSeconds 60
      DefaultRatio true
      <Ratio "slow">
        Numerator "hits_slow" \
          "misses"
        Denominator "lookups"
      </Ratio>
    </Window>
  </Object>
  <Object "inode_cache">
    File "@JUDGE@"
    <Policy>
      Allow "/srv/a file/"
      Deny "/etc/shadow"
    </Policy>
  </Object>
</Plugin>
END
check
like "$out" "^ok +config +$SCRATCH/collectd.conf" "a sound configuration is ok"
for subject in kernel BTF bpffs privileges lockdown hook; do
  like "$out" "^(ok|note|PROBLEM) +$subject +" "a line on $subject"
done
if grep -qE '^PROBLEM +front' <<<"$out"; then
  skip "the front is one of inode_cache's" "no hook for file opens works here"
else
  front=$(sed -n 's/^ok  *front  *inode_cache would count at its front \([a-z]*\) (.*/\1/p' <<<"$out")
  like "$(grep -ohE 'FRONT\([a-z]+\)' "$SOURCE_DIR"/bpf/*.[ch] | sort -u | tr '\n' ' ')" "FRONT\\($front\\)" \
    "the front is one of inode_cache's: $front"
fi
is "$status" "$(grep -q ^PROBLEM <<<"$out" && echo 1 || echo 0)" "the status tells whether there is a problem"

# ---- What is not mounted ----

without() { # FILE-SYSTEM-TYPE COMMAND...
  # shellcheck disable=SC2016 # for the other shell
  run unshare -m sh -c 'umount -a -t "$1" 2>/dev/null; shift; exec "$@"' sh "$@"
}
if unshare -m true 2>/dev/null; then
  without securityfs "$BUILD_DIR/bpf-window" check --pin-dir "$PINS" --config /dev/null
  like "$out" '^note +hook +lsm/file_open: .*mount -t securityfs securityfs /sys/kernel/security\)' \
    "without securityfs: how to mount it"
  without tracefs,debugfs "$BUILD_DIR/tests/faults/start_object" "$PINS/start" tests/bpf/at_tracepoint 0
  like "$status $err" '^1 attaching .*: a program at a tracepoint needs tracefs: mount -t tracefs tracefs /sys/kernel/tracing$' \
    "without tracefs a program at a tracepoint is refused with the remedy"
  rm -rf "$PINS/start"
else
  skip "what is not mounted" "mount namespaces cannot be made here"
fi
run bpf_window check --pin-dir "$SCRATCH/no-bpffs" --config /dev/null
like "$out" "^PROBLEM +bpffs +$SCRATCH/no-bpffs is not on a BPF file system \(choose a PinDir below /sys/fs/bpf\)" \
  "a folder elsewhere, while there is a BPF file system"
run bpf_window check --pin-dir /sys/fs/bpf --config /dev/null
like "$out" '^PROBLEM +bpffs +.*must be a folder of its own' "one that others have, too"

# ---- The sample ----

sed "1i PluginDir \"$plugins\"
s|^\(.*<Object \"inode_cache\">.*\)|\1\n    File \"$BUILD_DIR/bpf/inode_cache.bpf.o\"|" \
  "$SOURCE_DIR/collectd.conf.d/bpf_window.conf" >"$SCRATCH/collectd.conf"
check
is "$(grep -E '^PROBLEM +config' <<<"$out" || true)" "" "so is the sample that is installed"
# Every option that it explains in a comment is one that check knows.
sed -E "s|^( *)# ?(<?/?[A-Z][A-Za-z]+( .*)?)\$|\1\2|; s|^( *File ).*|\1\"$BUILD_DIR/bpf/inode_cache.bpf.o\"|" \
  "$SOURCE_DIR/collectd.conf.d/bpf_window.conf" >"$SCRATCH/collectd.conf"
check
is "$(grep 'unknown option' <<<"$out" || true)" "" "with all the options that it shows"

# ---- Mistakes: each a line with its place ----

mistake() { # LINE PATTERN DESCRIPTION: stands inside the Object
  printf '%s\n' 'LoadPlugin bpf_window' '<Plugin bpf_window>' '<Object "counted">' \
    "File \"$object\"" "$1" '</Object>' '</Plugin>' >"$SCRATCH/collectd.conf"
  check
  is "$status" 1 "status 1: $3"
  like "$out" "^PROBLEM +config +.*$2" "$3"
}
mistake 'Frobnicate true' 'collectd.conf:5: Frobnicate: unknown option' "an unknown option"
mistake 'Persist maybe' 'collectd.conf:5: Persist: needs true or false' "a value of the wrong kind"
mistake 'Front "lsm"' 'collectd.conf:5: Front: the object has no front lsm' "a front that the object has not"
mistake '<Window "other">
</Window>' 'collectd.conf:5: Window: the object has no window other; its first is counted' "an unknown window"
mistake '<Window "counted">
<Ratio "x">
Numerator "hits_nope"
Denominator "lookups"
</Ratio>
</Window>' 'collectd.conf:7: Numerator: window counted has no counter hits_nope \(there are: lookups, hits_fast,' "an unknown counter in a ratio"
mistake '<Window "counted">
<Ratio "x">
Numerator "hits_fast"
Denominator "lookups"
</Ratio>
<Ratio "x">
Numerator "hits_slow"
Denominator "lookups"
</Ratio>
</Window>' 'collectd.conf:10: Ratio: there is a ratio x already, in line 6' "two ratios of one name"
mistake '<Window "counted">
<Ratio "hit">
Numerator "hits_fast"
Denominator "lookups"
</Ratio>
</Window>' 'collectd.conf:6: Ratio: the window has a ratio hit of its own \(DefaultRatio false' "a ratio named like the window's own"
mistake '<Window "counted">
Percentile 50 99 50.0
</Window>' 'collectd.conf:6: Percentile: has a number twice' "a percentile twice"
mistake '<Window "counted">
RatioSeconds 301
</Window>' 'collectd.conf:6: RatioSeconds: needs a number of seconds from 1 to 300' "a number out of range"
mistake '<Policy>
Deny "relative"
</Policy>' 'collectd.conf:6.*not absolute' "a rule for a relative path"
mistake '<Policy>
PolicyFile "/nowhere/rules"
</Policy>' 'collectd.conf:6: PolicyFile: cannot open the policy file /nowhere/rules: No such' "a missing file of rules"
mistake '<Policy>
Scope "container"
</Policy>' 'collectd.conf:6: Scope: needs "host" or "all"$' "a scope that there is not"
mistake '<Window "counted">' 'collectd.conf:6: the block to be closed here is <Window> of line 5' "a block that is not closed"
mistake 'File "unclosed' 'a string without a closing quote' "a quote that is not closed"
mistake "File $object" "collectd.conf:5: $object needs quotes around it" "a path without quotes"
mistake 'Persist TRUE' 'collectd.conf:5: Persist: needs true or false' "true in capitals, which collectd takes for a string"
mistake 'Persist' 'collectd.conf:5: Persist has no value' "an option without a value"

# ---- The same syntax as collectd's ----

if command -v collectd >/dev/null; then
  agrees=""
  for line in 'x 1 -5 .5 1e3 0x1f TRUE a_b 1.2.3.4:80 ::1 [::1]:25826' 'x "a\"b" \
c' 'x /a' 'x a/b' 'x' '1 x' 'true x' 'x b>' \
    '<X y>' '</X>' '</Y>' '</y>' '</Y> z' '<X y>
</X> z' '<X y> z' '< X y >
< /X >'; do
    printf '<Plugin none>\n<Y>\n%s\n</Y>\n</Plugin>\n' "$line" >"$SCRATCH/collectd.conf"
    ours=taken theirs=taken
    check
    if grep -q '^PROBLEM  *config ' <<<"$out"; then ours=refused; fi
    collectd -T -C "$SCRATCH/collectd.conf" >"$SCRATCH/out" 2>&1 || theirs=refused
    [ $ours = $theirs ] || agrees+="$line: $ours, by collectd $theirs; "
  done
  is "$agrees" "" "check refuses what collectd's parser refuses, and takes what it takes"
else
  skip "check refuses what collectd's parser refuses" "there is no collectd"
fi
sample=/usr/share/doc/collectd-core/examples/collectd.conf
if [ -e $sample ]; then
  run bpf_window check --pin-dir "$PINS" --config $sample
  is "$(grep '^PROBLEM  *config ' <<<"$out" || true)" "" "it takes Debian's sample of all plugins"
else
  skip "it takes Debian's sample of all plugins" "collectd-core is not installed"
fi

printf 'LoadPlugin bpf_window\n<Plugin bpf_window>\n<Object "x">\n File "/nowhere"\n</Object>\n</Plugin>\n' \
  >"$SCRATCH/collectd.conf"
check
like "$out" 'collectd.conf:4: File: cannot open the object file /nowhere: No such file' "a missing object file"
printf 'LoadPlugin cpu\n' >"$SCRATCH/collectd.conf"
check
like "$out" '^note +config +.*does not load the plugin' "a configuration without the plugin is a note"
printf '<Plugin bpf_window>\n<Object "counted">\n File "%s"\n</Object>\n</Plugin>\n' "$object" >"$SCRATCH/collectd.conf"
check
like "$out" '^PROBLEM +config +.*add LoadPlugin bpf_window' "one that configures but does not load it a problem"
debian=/etc/collectd/collectd.conf.d
if [ -d $debian ] && unshare -m true 2>/dev/null; then
  mkdir "$SCRATCH/enable"
  cp "$SOURCE_DIR/debian/enable.conf" "$SCRATCH/enable/bpf_window.conf"
  # shellcheck disable=SC2016 # for the other shell
  run unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$SCRATCH/enable" $debian \
    "$BUILD_DIR/bpf-window" check --pin-dir "$PINS" --config "$SCRATCH/collectd.conf"
  like "$out" "^PROBLEM +config +.*remove the # in $debian/bpf_window.conf" "of Debian's package, its one line"
else
  skip "of Debian's package, its one line" "there is no $debian, or no mount namespace can be made"
fi

mistake '<Window "counted">
</Window>
<Window "counted">
</Window>' 'collectd.conf:7: Window: window counted has a block already in line 5' "a window's block twice"
mistake '<Policy>
Deny "/srv/"
</Policy>' 'collectd.conf:5: Policy: counted has no file policy: remove the Policy block' "a policy of an object without one"

# ---- What the plugin could not do ----

configured() { # TEXT: checks the inside of a file that loads the plugin
  printf '%s\n' "PluginDir \"$plugins\"" "LoadPlugin bpf_window" "<Plugin bpf_window>" "$1" "</Plugin>" >"$SCRATCH/collectd.conf"
  check
}
two_objects() { # [LINE]: in the second one's block of its window
  configured "<Object \"one\">
File \"$object\"
</Object>
<Object \"two\">
File \"$object\"
<Window \"counted\">
${1:-}
</Window>
</Object>"
}
two_objects
like "$out" "^PROBLEM +config .*collectd.conf:9: Window: there is a window counted already, of .*collectd.conf:4; .*Instance" \
  "two objects with windows of one name: both lines, and the remedy"
two_objects 'Instance "counted-2"'
like "$out" "^ok +config" "which helps"
configured "<Object \"one\">
File \"$object\"
</Object>
<Window \"/sys/fs/bpf/elsewhere/counted\">
</Window>"
like "$out" "^PROBLEM +config .*collectd.conf:7: Window: there is a window counted already, of .*collectd.conf:4;" \
  "a window of others that has an object's window's name"

# Names of series, as collectd would have them.
series() { # OBJECT LINES PATTERN DESCRIPTION: the lines stand in the object's block
  configured "<Object \"x\">
File \"$BUILD_DIR/tests/bpf/$1.bpf.o\"
$2
</Object>"
  like "$out" "$3" "$4"
}
series array_named_twice '' '^PROBLEM +config .*collectd.conf:4: Object: window parts: two of its values would be derive-part_3:' \
  "an array beside a counter named like one of its values"
series array '' '^ok +config' "which without that counter is none"
series awkward_names_self '' '^PROBLEM +config .*collectd.conf:4: .*window cdn_edge: derive-self_calls: names in "self_" are' \
  "a counter named like the plugin's own"
series array '<Window "parts">
<Ratio "self_x">
Numerator "calls"
Denominator "calls"
</Ratio>
</Window>' '^PROBLEM +config .*collectd.conf:6: Window: window parts: cache_ratio-self_x: names in "self_" are' "or a ratio"
series array '<Window "parts">
<Ratio "a_name_of_forty_characters_is_one_too_lon">
Numerator "calls"
Denominator "calls"
</Ratio>
</Window>' '^PROBLEM +config .*collectd.conf:7: Ratio: the ratio.s name has over 39 characters' "or one with a name that is too long"
# What is refused of windows when the object starts.
series awkward_names_colliding '' '^PROBLEM +config .*collectd.conf:5: .*window cdn_edge would be pinned where cdn has another' \
  "windows of which two pins would have one name"
series over_the_limits_name '' '^PROBLEM +config .*collectd.conf:5: .*has over 56 characters' "a window's name that is too long"
series over_the_limits_windows '' '^PROBLEM +config .*collectd.conf:5: .*has over 16 windows' "too many windows"
series torn_window '' '^PROBLEM +config .*collectd.conf:5: .*lacks the map torn_epoch' "a window without its epoch"
series no_window '' '^PROBLEM +config .*collectd.conf:5: .*declares no window' "no window at all"
series histogram '<Window "numbers">
Percentile 50 50.0000001
</Window>' '^PROBLEM +config .*collectd.conf:7: Percentile: has a number twice' "two percentiles of one name"
series histogram '<Window "numbers">
Percentile 50 99.99
</Window>' '^ok +config' "two of two"

interval() { # LINES: in front of the plugin's block
  printf '%s\n' "$1" '<Plugin bpf_window>' '<Object "counted">' "File \"$object\"" '</Object>' '</Plugin>' >"$SCRATCH/collectd.conf"
  check
}
interval 'Interval 200
LoadPlugin bpf_window'
like "$out" "^PROBLEM +config .*collectd.conf:1: Interval: window counted: an interval of 200 s does not fit.*at most 149 s" \
  "an interval that is too long"
interval 'Interval 20
<LoadPlugin bpf_window>
Interval 2.5
</LoadPlugin>'
like "$out" "^PROBLEM +config .*collectd.conf:3: Interval: window counted: an interval of 2.5 s" "one that is not whole, of the plugin's own"
interval 'LoadPlugin bpf_window
Interval 200'
is "$(grep 'does not fit' <<<"$out" || true)" "" "collectd's interval counts where it stands in front of LoadPlugin"
interval 'AutoLoadPlugin true'
is "$(grep 'does not load' <<<"$out" || true)" "" "AutoLoadPlugin loads it"

judging() { # LINES: in the object inode_cache
  configured "<Object \"inode_cache\">
File \"$BUILD_DIR/bpf/inode_cache.bpf.o\"
$1
</Object>"
}
judging 'Front "lsm"'
if grep -q '^ok  *hook  *lsm/file_open' <<<"$out"; then
  like "$out" "^ok +config" "the front lsm works here"
else
  like "$out" "^PROBLEM +config .*collectd.conf:6: Front: lsm needs lsm/file_open, which does not work here" \
    "a front that the lines above say does not work"
fi
enforcing_rules() { # FRONT-LINE RULE
  judging "$1
Persist true
<Policy>
$2
Enforce true
</Policy>"
}
enforcing_rules 'Front "syscall"' 'Deny "/srv/"'
like "$out" "^PROBLEM +config .*collectd.conf:10: Enforce: nothing would be denied: .*Front in line 6 says syscall" \
  "enforcing at a front that cannot deny"
enforcing_rules '' 'Deny "/srv/"'
if grep -q '^ok  *hook  *lsm/file_open' <<<"$out"; then
  like "$out" "^ok +config" "enforcing at the front lsm"
else
  like "$out" "^PROBLEM +config .*collectd.conf:10: Enforce: nothing would be denied: the front lsm needs lsm/file_open" \
    "enforcing where the front lsm does not work"
fi
for path in / "$SCRATCH/" "$BUILD_DIR/"; do
  enforcing_rules '' "Deny \"$path\""
  like "$out" "^PROBLEM +config .*collectd.conf:9: the rule would deny .*write Force true" "enforcing, the rule for $path would lock collectd out"
done
enforcing_rules '' 'Deny "/"
Force true'
is "$(grep 'would deny' <<<"$out" || true)" "" "which Force takes"

# ---- The plugin's file ----

printf 'PluginDir "%s"\nLoadPlugin bpf_window\n' "$SCRATCH" >"$SCRATCH/collectd.conf"
check
like "$out" "^PROBLEM +config .*collectd.conf:1: PluginDir: there is no bpf_window.so in $SCRATCH: .*--with-collectd-plugindir=$SCRATCH" \
  "a folder of plugins without it"
usual=/usr/lib/collectd
if [ -d $usual ] && unshare -m true 2>/dev/null; then
  in_usual() { # checks with the folder in that place
    # shellcheck disable=SC2016 # for the other shell
    run unshare -m sh -c 'mount --bind "$1" "$2" && shift 2 && exec "$@"' sh "$plugins" $usual \
      "$BUILD_DIR/bpf-window" check --pin-dir "$PINS" --config "$SCRATCH/collectd.conf"
  }
  printf 'LoadPlugin bpf_window\n' >"$SCRATCH/collectd.conf"
  in_usual
  is "$(grep '^PROBLEM  *plugin' <<<"$out" || true)" "" "where collectd's plugins are it is found"
  rm "$plugins/bpf_window.so"
  in_usual
  like "$out" "^PROBLEM +plugin +collectd's plugins are in $usual, .*--with-collectd-plugindir=$usual" "and missed"
  touch "$plugins/bpf_window.so"
else
  skip "where collectd's plugins are it is looked for" "there is no $usual, or no mount namespace can be made"
fi

# ---- Windows of others ----

watched() { # LINE PATTERN DESCRIPTION
  configured "$1"
  like "$out" "$2" "$3"
}
"$HERE/make_window" "$object" "$PINS/agent" </dev/null >/dev/null
watched "<Window \"$PINS/agent/counted\">
 Instance \"mine\"
 Percentile 50 99.9
</Window>" "^ok +config" "a window of another agent is fine"
watched "<Window \"$PINS/agent/counted\">
 <Ratio \"x\">
  Numerator \"hits_nope\"
  Denominator \"lookups\"
 </Ratio>
</Window>" "^PROBLEM +config .*collectd.conf:6: Numerator: window $PINS/agent/counted has no counter hits_nope" \
  "its counters are known, too"
watched "<Window \"$PINS/agent/counted\">
 <Ratio \"self_x\">
  Numerator \"hits_fast\"
  Denominator \"lookups\"
 </Ratio>
</Window>" "^PROBLEM +config .*collectd.conf:4: Window: window $PINS/agent/counted: cache_ratio-self_x: names in" \
  "and the names of its series"
watched "<Window \"$PINS/agent/later\">
</Window>" "^note +config .*collectd.conf:4: Window: nothing is pinned at $PINS/agent/later now" \
  "one that is not there yet is a note"
watched "<Window \"$PINS/agent/counted_epoch\">
</Window>" "^PROBLEM +config .*counted_epoch is no window: pin the map of its buckets" "another map a problem"
watched "<Window \"my_stats\">
</Window>" "^PROBLEM +config .*needs the path of a pin" "so is a name without a path"
watched "<Window \"/sys/fs/bpf/a/x\">
</Window>
<Window \"/sys/fs/bpf/b/x\">
</Window>" "^PROBLEM +config .*collectd.conf:6: .*there is a window x already, of .*collectd.conf:4;" "and two of one name"
watched "<Window \"/sys/fs/bpf/a/x\">
 Percentile 50 101
</Window>" "^PROBLEM +config .*collectd.conf:5: Percentile: needs up to 16 numbers" "or a percentile over 100"
rm -rf "$PINS/agent"

# ---- Pins ----

seq 5 20 | sed 's/$/ 0 10 8 1 1 0/' | make_counted
: >"$SCRATCH/collectd.conf"
check
like "$out" "^PROBLEM +pins +counted: .*\`bpf-window detach --pin-dir $PINS counted\`" "pins without a record are a problem with a remedy"
printf 'LoadPlugin bpf_window\n<Plugin bpf_window>\n PinDir "%s"\n <Object "x">\n  File "%s"\n </Object>\n</Plugin>\n' \
  "$PINS" "$object" >"$SCRATCH/collectd.conf"
run bpf_window check --config "$SCRATCH/collectd.conf"
like "$out" "^note +pins +counted is pinned but not configured; .bpf-window detach --pin-dir $PINS counted. removes it" \
  "what is pinned below the configured PinDir but not configured is a note"
run bpf_window detach nothing_of_that_name --pin-dir "$PINS"
is "$status" 1 "detach of an object that is not there: status 1"
run bpf_window detach --pin-dir "$PINS"
is "$status" 2 "detach without a name or --all: wrong usage"
run bpf_window detach counted --all --pin-dir "$PINS"
is "$status" 2 "with both, too"
run bpf_window detach --all --pin-dir "$PINS"
like "$status $out" "^0 left $PINS/counted as it is: it has no record" "--all leaves what may be another agent's"
is "$(ls "$PINS")" counted "which stays"
chmod 0711 "$SCRATCH"
cp "$(readlink -f "$BUILD_DIR/bpf-window")" "$SCRATCH/bpf-window"
run setpriv --reuid nobody --regid nogroup --clear-groups --inh-caps=-all "$SCRATCH/bpf-window" detach counted --pin-dir "$PINS"
is "$status $err" "1 bpf-window: detach: cannot look into $PINS: Permission denied (run as root)" "as nobody: the remedy"
# The folder is that of the configuration, as with check.
run bpf_window detach counted --config "$SCRATCH/collectd.conf"
is "$status $out" "0 detached counted" "detach removes what is named, below the configured PinDir"
is "$(ls "$PINS" 2>/dev/null || true)" "" "nothing is pinned any more"
run bpf_window detach --all --pin-dir "$PINS"
is "$status $out" "0 No object of the plugin is pinned below $PINS." "a second time there is nothing to do"
printf '<Plugin bpf_window>\n' >"$SCRATCH/wrong.conf"
run bpf_window detach --all --config "$SCRATCH/wrong.conf"
like "$status $err" '^1 .*wrong.conf:2: .*--pin-dir does without' "a wrong configuration does not say where the pins are"

# ---- Others' pins are not ours ----

mkdir "$SCRATCH/bpffs"
mount -t bpf bpf "$SCRATCH/bpffs"
at_end+=("umount $SCRATCH/bpffs")
mkdir "$SCRATCH/bpffs/other_agent"
bpftool map create "$SCRATCH/bpffs/other_agent/map" type array key 4 value 8 entries 1 name other
run bpf_window detach --all --pin-dir "$SCRATCH/bpffs"
is "$status" 1 "a whole BPF file system is no folder of pins"
like "$err" 'must be a folder of its own' "which is said"
is "$(ls "$SCRATCH/bpffs/other_agent")" map "and what others pinned there stays"

# ---- An enforced policy is not taken away without a word ----

enforcing() { # as the plugin pins it: struct file_policy_state with enforce = 1
  mkdir -p "$PINS/guard"
  bpftool map create "$PINS/guard/file_policy_state" type array key 4 value 32 entries 1 name state
  bpftool map update pinned "$PINS/guard/file_policy_state" key 0 0 0 0 \
    value 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0 1 0 0 0 0 0 0 0 0 0 0 0 0 0 0 0
  bpftool map create "$PINS/guard/record" type array key 4 value 8 entries 1 name record
}
enforcing
run bpf_window detach --all --pin-dir "$PINS"
is "$status $(wc -l <<<"$err")" "1 1" "an enforced policy stays where nobody can be asked"
like "$err" 'guard enforces a policy.*say --yes' "and one line says how to end it"
is "$(ls "$PINS")" guard "its pins are there"
if command -v script >/dev/null; then
  answer() { echo "$1" | script -qec "$BUILD_DIR/bpf-window detach --all --pin-dir $PINS" /dev/null; }
  run_answer() { status=0; out=$(answer "$1") || status=$?; }
  run_answer n
  is "$status $(ls "$PINS")" "1 guard" "asked on a terminal, no leaves it"
  run_answer y
  is "$status $(ls "$PINS" 2>/dev/null || true)" "0 " "yes detaches it"
else
  skip "asked on a terminal" "script is not installed"
fi
[ -d "$PINS" ] || mkdir -m 0700 "$PINS"
enforcing
run bpf_window detach guard --yes --pin-dir "$PINS"
is "$status $out" "0 detached guard" "--yes does not ask"

done_testing
