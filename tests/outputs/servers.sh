# shellcheck shell=bash
# Sourced by the tests of this folder: servers behind collectd, each in a folder of its own,
# on ports of its own of the loopback interface. SERVERS are their process ids; ASKED those
# of them that are asked at the end, while the others have ended and written what they held.
SERVERS=() ASKED=()

snippet() { # SUFFIX SED-EXPRESSION...: a shipped snippet with the test's places and ports
  local file=$SOURCE_DIR/collectd.conf.d/bpf_window$1.conf expressions=(-e '') expression
  shift
  for expression in "$@"; do expressions+=(-e "$expression"); done
  sed "${expressions[@]}" "$file"
}

free_ports() { # COUNT
  python3 - "$1" <<'END'
import socket, sys
sockets = []
for _ in range(int(sys.argv[1])):
    s = socket.socket()
    s.bind(("127.0.0.1", 0))
    sockets.append(s)
print(*(s.getsockname()[1] for s in sockets))
END
}

# until_true SECONDS COMMAND...
until_true() {
  local deadline=$((SECONDS + $1))
  shift
  until "$@" >/dev/null 2>&1; do
    [ $SECONDS -lt "$deadline" ] || {
      echo "# gave up waiting for: $*" >&2
      return 1
    }
    sleep 0.2
  done
}

is_listening() { (: <"/dev/tcp/127.0.0.1/$1"); }

start_rrdcached() { # SOCKET FOLDER
  mkdir -p "$2"
  rrdcached -g -l "unix:$1" -p "$1.pid" -b "$2" -B -F -w 3600 >"$1.log" 2>&1 &
  SERVERS+=($!)
  until_true 30 test -S "$1"
}

# carbon_section FILE: the lines of a section that bpf_window-graphite.conf asks for
carbon_section() {
  sed -n "/$1/,/^\(    [^#]\|    # and\)/s/^    #   //p" \
    "$SOURCE_DIR/collectd.conf.d/bpf_window-graphite.conf"
}

start_carbon() { # FOLDER PORT INTERVAL
  mkdir -p "$1/whisper" "$1/log"
  read -r pickle query <<<"$(free_ports 2)"
  cat >"$1/carbon.conf" <<END
[cache]
STORAGE_DIR = $1
LOCAL_DATA_DIR = $1/whisper/
CONF_DIR = $1
LOG_DIR = $1/log/
PID_DIR = $1
USER = $(id -un)
LINE_RECEIVER_INTERFACE = 127.0.0.1
LINE_RECEIVER_PORT = $2
PICKLE_RECEIVER_INTERFACE = 127.0.0.1
PICKLE_RECEIVER_PORT = $pickle
CACHE_QUERY_INTERFACE = 127.0.0.1
CACHE_QUERY_PORT = $query
MAX_CREATES_PER_MINUTE = inf
CARBON_METRIC_INTERVAL = 0
END
  carbon_section storage-schemas.conf | sed "s/10s:/$3s:/" >"$1/storage-schemas.conf"
  carbon_section storage-aggregation.conf >"$1/storage-aggregation.conf"
  carbon-cache --config="$1/carbon.conf" --nodaemon start >"$1/carbon.log" 2>&1 &
  ASKED+=($!)
  until_true 60 is_listening "$2"
}

start_prometheus() { # FOLDER PORT PORT-TO-SCRAPE
  mkdir -p "$1"
  cat >"$1/prometheus.yml" <<END
global:
  scrape_interval: 1s
  evaluation_interval: 1s
rule_files:
  - $SOURCE_DIR/docs/prometheus/bpf_window.rules.yml
scrape_configs:
  - job_name: collectd
    honor_labels: true
    static_configs:
      - targets: ["127.0.0.1:$3"]
END
  prometheus --config.file="$1/prometheus.yml" --storage.tsdb.path="$1/data" \
    --web.listen-address="127.0.0.1:$2" >"$1/prometheus.log" 2>&1 &
  ASKED+=($!)
  until_true 60 curl -sf "http://127.0.0.1:$2/-/ready"
}

# A second collectd, which takes what comes over the network: csv and rrdtool.
start_receiver() { # FOLDER PORT
  mkdir -p "$1"
  (umask 077 && echo "bpf_window: change me" >"$1/passwd")
  cat >"$1/collectd.conf" <<END
BaseDir "$1"
PIDFile "$1/collectd.pid"
PluginDir "$(collectd_plugins)"
Hostname "receiver"
FQDNLookup false
LoadPlugin logfile
<Plugin logfile>
  LogLevel "info"
  File "$1/collectd.log"
  PrintSeverity true
</Plugin>
LoadPlugin csv
<Plugin csv>
  DataDir "$1/csv"
</Plugin>
$(snippet -network-server "s|\"::\" \"25826\"|\"127.0.0.1\" \"$2\"|" \
    "s|/etc/collectd/network.passwd|$1/passwd|")
$(snippet -rrdtool "s|/var/lib/collectd/rrd|$1/rrd|")
END
  collectd -f -C "$1/collectd.conf" >"$1/collectd.out" 2>&1 &
  SERVERS+=($!)
  until_true 60 grep -q 'Initialization complete' "$1/collectd.log"
}

# Sets RELAY_PORT.
start_relay() { # TO_PORT FILE
  python3 "$SOURCE_DIR/tests/outputs/relay.py" "$1" "$2" >"$2.port" &
  SERVERS+=($!)
  until_true 30 test -s "$2.port"
  # shellcheck disable=SC2034 # for the test
  RELAY_PORT=$(cat "$2.port")
}

csv_newest_time() { # FOLDER TYPE-INSTANCE
  cat "$1/$PRIVATE_HOST/bpf_window-inode_cache/$2"-????-??-?? 2>/dev/null |
    grep -v epoch | sort -n | tail -n 1 | cut -d. -f1 | grep . || echo 0
}

end_all() { # PID...
  local pid
  for pid in "$@"; do kill "$pid" 2>/dev/null || true; done
  for pid in "$@"; do wait "$pid" 2>/dev/null || true; done
}

servers_settle() {
  end_all "${SERVERS[@]}"
  SERVERS=()
}

servers_stop() {
  end_all "${SERVERS[@]}" "${ASKED[@]}"
  SERVERS=() ASKED=()
}
