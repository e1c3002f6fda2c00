#!/bin/bash
# The expressions of docs/outputs.md and the rules of docs/prometheus, each taken from the page
# and evaluated by the program that it is for, on counts that are known.
set -euo pipefail
# shellcheck source=tests/tap.sh
. "$SOURCE_DIR/tests/tap.sh"
page=$SOURCE_DIR/docs/outputs.md
rules=$SOURCE_DIR/docs/prometheus/bpf_window.rules.yml
folder=$(mktemp -d)
trap 'rm -rf "$folder"' EXIT

# block_with TEXT: the page's block of code that begins with TEXT, on one line.
block_with() {
  awk -v begin="    $1" 'index($0, begin) == 1 { inside = 1 } inside && !/^    / { exit } inside' "$page" |
    tr '\n' ' ' | sed 's/  */ /g; s/^ //; s/ $//'
}

# ---- Prometheus ----

# web1 has 95 hits of 100, web2 50; per 10 s. web3 ends after 20 minutes, and idle counts
# nothing.
series() { # HOST COUNTER VALUES [TYPE]
  printf "      - series: 'collectd_bpf_window_%s_total{bpf_window=\"inode_cache\",type=\"%s\",instance=\"%s\"}'\n        values: '%s'\n" \
    "${4:-cache_result}" "$2" "$1" "$3"
}
ratio() { # LABELS VALUE
  printf "          - labels: '%s'\n            value: %s\n" "$1" "$2"
}
if ! command -v promtool >/dev/null; then
  skip "Prometheus' expressions" "promtool is not installed"
else
  expression=$(block_with 'sum by (bpf_window)')
  cat >"$folder/test.yml" <<END
rule_files: ["$rules"]
evaluation_interval: 10s
tests:
  - interval: 10s
    input_series:
$(series web1 hits_no_policy '0+90x600'; series web1 hits_allow '0+4x600'
  series web1 hits_deny '0+1x600'; series web1 misses_walk '0+5x600'
  series web2 hits_no_policy '0+50x600'; series web2 misses_walk '0+50x600'
  series idle hits_no_policy '7+0x600'; series idle misses_walk '7+0x600'
  series web1 lookups '0+100x600' cache_operation; series web3 lookups '0+100x120' cache_operation)
    promql_expr_test:
      - expr: 'round(100 * instance_window:bpf_window_hit:ratio5m)'
        eval_time: 10m
        exp_samples:
$(ratio '{instance="web1", bpf_window="inode_cache"}' 95; ratio '{instance="web2", bpf_window="inode_cache"}' 50)
      - expr: 'round(1000 * window:bpf_window_hit:ratio5m)'
        eval_time: 10m
        exp_samples:
$(ratio '{bpf_window="inode_cache"}' 725)
      - expr: 'round(1000 * ($expression))'
        eval_time: 10m
        exp_samples:
$(ratio '{bpf_window="inode_cache"}' 725)
    alert_rule_test:
      - {alertname: BpfWindowHitRatioLow, eval_time: 5m}
      - alertname: BpfWindowHitRatioLow
        eval_time: 15m
        exp_alerts:
          - exp_labels: {severity: warning, instance: web2, bpf_window: inode_cache}
            exp_annotations:
              summary: inode_cache on web2 answers only 50% from the cache.
              description: "\`bpf-window show inode_cache\` on that host tells the last five minutes second by second."
      - {alertname: BpfWindowSilent, eval_time: 20m}
      - alertname: BpfWindowSilent
        eval_time: 40m
        exp_alerts:
          - exp_labels: {severity: warning, instance: web3}
            exp_annotations: {summary: No values of bpf_window from web3.}
END
  if output=$(promtool check rules "$rules" 2>&1); then
    ok "promtool takes the rules"
  else
    not_ok "promtool takes the rules" "$output"
  fi
  if [ -z "$expression" ]; then
    not_ok "docs/outputs.md has an expression for Prometheus"
  elif output=$(promtool test rules "$folder/test.yml" 2>&1); then
    ok "Prometheus: the ratios of hosts, of all, of the page; the alerts raise when they should"
  else
    not_ok "Prometheus: the ratios of hosts, of all, of the page; the alerts" "$output"
  fi
fi

# ---- Graphite ----

graphite() { # EXPRESSION
  rm -rf "$folder/graphite" && mkdir "$folder/graphite"
  /usr/bin/python3 -B "$SOURCE_DIR/tests/outputs/graphite_render.py" "$folder/graphite" <<<"$1"
}
if ! /usr/bin/python3 -c 'import graphite, whisper' 2>/dev/null; then
  skip "Graphite's expressions" "graphite-web is not installed"
else
  expression=$(block_with 'asPercent(')
  is "$(graphite "$expression" | awk '{ print $NF }')" "72.5" "Graphite: the hit ratio of all hosts"
  is "$(graphite "${expression//collectd.\*/collectd.web1}" | awk '{ print $NF }')" "95.0" \
    "Graphite: of one host"
  is "$(graphite "$(block_with 'aliasByNode(')" | sort | tr '\n' ' ')" \
    "cache_result-hits_allow 0.4 cache_result-hits_deny 0.5 cache_result-hits_no_policy 9.5 cache_result-misses_walk 10.0 " \
    "Graphite: stacked results"
fi

# ---- rrdtool ----

if ! command -v rrdtool >/dev/null; then
  skip "rrdtool's expression" "rrdtool is not installed"
else
  now=$(($(date +%s) / 10 * 10))
  for counter in hits_no_policy:90 hits_allow:4 hits_deny:1 misses_walk:5; do
    file=$folder/${counter%:*}.rrd
    rrdtool create "$file" --step 10 --start $((now - 310)) DS:value:DERIVE:20:0:U RRA:AVERAGE:0.5:1:100
    for ((i = 30; i >= 0; i--)); do echo "$((now - 10 * i)):$((10000 - ${counter#*:} * i))"; done |
      xargs rrdtool update "$file"
  done
  read -ra words <<<"$(block_with 'DEF:none')"
  is "$(cd "$folder" && rrdtool xport --start $((now - 200)) --end $((now - 100)) "${words[@]}" XPORT:ratio |
    sed -n 's|.*<v>\(.*\)</v>.*|\1|p' | awk '{ printf "%.1f\n", $1 }' | sort -u)" "95.0" \
    "rrdtool: the hit ratio of one host"
fi
done_testing
