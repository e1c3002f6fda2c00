# shellcheck shell=bash
# Sourced by quickstart.sh and the tests: a collectd of one's own, with its own folder,
# plugins, pins and configuration, which touches nothing of the system's.
#
#   private_new FOLDER PLUGIN...    makes the folder; the plugins come from $BUILD_DIR
#                                   (bpf_window) and from collectd's own folder
#   private_config INTERVAL         writes the configuration; what it reads from stdin
#                                   is put at the end (the blocks of the plugins)
#   private_csv                     prints the block of csv: files in the folder's csv/
#   private_writers                 prints the blocks of csv and rrdtool: files of an hour in
#                                   the folder's csv/ and rrd/
#   private_start                   starts collectd and waits until it is initialised
#   private_stop                    ends it, and waits
#   private_kill                    the same with SIGKILL
#   private_remove                  removes pins and folder
#   private_complaints              prints the log's errors and warnings
#
# PRIVATE is the folder, PRIVATE_PINS the folder of its pins, PRIVATE_PID the daemon's,
# PRIVATE_DAEMON the command that private_start runs.

PRIVATE_HOST=private

# Where collectd's own plugins are: Debian's place, or beside the daemon's libraries.
collectd_plugins() {
  local folder
  for folder in /usr/lib/collectd /usr/lib64/collectd /usr/lib/*/collectd; do
    if [ -f "$folder/csv.so" ]; then
      echo "$folder"
      return
    fi
  done
  echo "collectd's plugins are not installed (package collectd-core)" >&2
  return 1
}

private_new() {
  PRIVATE=$1
  shift
  PRIVATE_PINS=/sys/fs/bpf/bpf_window_private_$$
  PRIVATE_PID=
  PRIVATE_PLUGINS=("$@")
  mkdir -p "$PRIVATE/plugins"
  # Copies: collectd refuses plugins behind symbolic links.
  cp "$BUILD_DIR/.libs/bpf_window.so" "$PRIVATE/plugins/"
  local folder plugin
  folder=$(collectd_plugins)
  for plugin in logfile "$@"; do
    cp "$folder/$plugin.so" "$PRIVATE/plugins/"
  done
  # A plugin built with --enable-sanitizers wants their library to be there first. (A
  # machine without ldd builds none.)
  PRIVATE_DAEMON=(env "LD_PRELOAD=$({ ldd "$PRIVATE/plugins/bpf_window.so" 2>/dev/null || true; } |
    awk '$1 ~ /^libasan/ { print $3 }')" collectd -f -C "$PRIVATE/collectd.conf")
}

private_config() {
  local interval=$1 plugin
  {
    cat <<END
BaseDir "$PRIVATE"
PIDFile "$PRIVATE/collectd.pid"
PluginDir "$PRIVATE/plugins"
Hostname "$PRIVATE_HOST"
FQDNLookup false
Interval $interval
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "$PRIVATE/collectd.log"
  PrintSeverity true
</Plugin>
END
    for plugin in "${PRIVATE_PLUGINS[@]}"; do
      echo "LoadPlugin $plugin"
    done
    echo "LoadPlugin bpf_window"
    cat
  } >"$PRIVATE/collectd.conf"
}

private_csv() {
  cat <<END
<Plugin csv>
  DataDir "$PRIVATE/csv"
</Plugin>
END
}

private_writers() {
  private_csv
  cat <<END
<Plugin rrdtool>
  DataDir "$PRIVATE/rrd"
  RRATimespan 3600
</Plugin>
END
}

private_mount_bpffs() {
  if [ "$(stat -f -c %T /sys/fs/bpf 2>/dev/null)" != bpf_fs ]; then
    mount -t bpf bpf /sys/fs/bpf && PRIVATE_MOUNTED=yes
  fi
}

private_start() {
  : >"$PRIVATE/collectd.log"
  private_mount_bpffs || echo "no bpffs: counting ends with collectd" >&2
  "${PRIVATE_DAEMON[@]}" >"$PRIVATE/collectd.out" 2>&1 &
  PRIVATE_PID=$!
  local tenths=0
  while ! grep -q 'Initialization complete' "$PRIVATE/collectd.log" 2>/dev/null; do
    if ! kill -0 "$PRIVATE_PID" 2>/dev/null; then
      PRIVATE_PID=
      return 1
    fi
    tenths=$((tenths + 1))
    if [ "$tenths" -gt 600 ]; then
      echo "collectd did not start within a minute; see $PRIVATE/collectd.log" >&2
      return 1
    fi
    sleep 0.1
  done
}

private_end() {
  [ -n "${PRIVATE_PID:-}" ] || return 0
  kill "$1" "$PRIVATE_PID" 2>/dev/null || true
  wait "$PRIVATE_PID" 2>/dev/null || true
  PRIVATE_PID=
}

private_stop() { private_end -TERM; }
private_kill() { private_end -KILL; }

private_remove() {
  private_stop
  rm -rf "$PRIVATE_PINS" "$PRIVATE"
  if [ "${PRIVATE_MOUNTED:-no}" = yes ]; then
    umount /sys/fs/bpf
    PRIVATE_MOUNTED=no
  fi
}

# The log's errors and warnings, but those that an overloaded machine brings: a reading
# that came late or took long, and two write threads that begin the file of one new
# series (rrdtool leaves out the second's value).
private_complaints() {
  grep -E '\[(error|warning)\]' "$PRIVATE/collectd.log" |
    grep -vE 'Not sleeping because|above its read interval|cu_rrd_create_file' || true
}

# csv_last TYPE-INSTANCE [WINDOW]: the newest value that the csv plugin wrote.
csv_last() {
  cat "$PRIVATE/csv/$PRIVATE_HOST/bpf_window-${2:-inode_cache}/$1"-????-??-?? |
    grep -v epoch | sort -n | tail -n 1 | cut -d, -f2
}

# rrd_increments TYPE-INSTANCE [WINDOW]: the sum of all known slots, rate times step.
rrd_increments() {
  local file="$PRIVATE/rrd/$PRIVATE_HOST/bpf_window-${2:-inode_cache}/$1.rrd" step
  step=$(rrdtool info "$file" | sed -n 's/^step = //p')
  rrdtool fetch "$file" AVERAGE --resolution "$step" --start -1h --end now |
    awk -v step="$step" '/^[0-9]+:/ && $2 !~ /nan/ { sum += $2 * step }
      END { printf "%.0f\n", sum }'
}
