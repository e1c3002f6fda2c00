# SPDX-License-Identifier: MIT
"""make_day.py FOLDER: RRD files as collectd's rrdtool plugin makes them, with a day of
made-up traffic in them that ends now: an agent's cache that works by day and is flushed at
noon, with an hour during which nothing was recorded."""
import math
import os
import subprocess
import sys
import time

STEP = 10
folder = sys.argv[1]
end = int(time.time()) // STEP * STEP
begin = end - 86400

# Each file with its rate per second of a day like any other, or its value ("=").
SERIES = {
    "inode_cache/cache_operation-lookups": "lookups",
    "inode_cache/cache_operation-fills": "misses",
    "inode_cache/cache_result-hits_no_policy": "none",
    "inode_cache/cache_result-hits_allow": "allow",
    "inode_cache/cache_result-hits_deny": "deny",
    "inode_cache/cache_result-misses_walk": "misses",
    "inode_cache/cache_ratio-hit": "=ratio",
    "inode_cache/memory-self_maps": "=67890",
    "inode_cache/count-self_programs": "=4",
    "inode_cache/derive-self_runs": "lookups",
    "inode_cache/duration-self_read": "=0.0004",
    "inode_cache/gauge-self_front_syscall": "=1",
    "inode_uncached/derive-hardlinked": "misses / 50",
    "inode_uncached/derive-raced": "t % 600 == 0",
    "page_cache/cache_result-hits": "lookups * 9",
    "page_cache/cache_result-misses": "misses / 4",
    "page_cache/cache_operation-lookups": "lookups * 9 + misses / 4",
    "page_cache/cache_operation-added": "misses / 3",
    "page_cache/cache_operation-faults": "lookups / 8",
    "page_cache/cache_operation-fault_misses": "misses / 8",
    "page_cache/cache_ratio-hit": "=100 - (100 - ratio) / 36",
    "tcp/derive-active_opens": "lookups / 100",
    "tcp/derive-passive_opens": "lookups / 70",
    "tcp/derive-failed_connects": "misses / 500",
    "tcp/derive-resets_received": "misses / 300",
    "tcp/derive-resets_sent": "misses / 400",
    "tcp/derive-retransmitted_segments": "misses / 40",
    "block_io/derive-reads": "misses / 5",
    "block_io/derive-writes": "lookups / 50",
    "block_io/derive-read_bytes": "misses / 5 * 16384",
    "block_io/derive-written_bytes": "lookups / 50 * 8192",
    "block_io/derive-errors": "t % 7200 == 0",
    "block_io/derive-latency_us-08_ge_256": "lookups / 60",
    "block_io/derive-latency_us-12_ge_4096": "misses / 6",
    "block_io/gauge-latency_us-p50": "=300 + misses / 10",
    "block_io/gauge-latency_us-p99": "=5000 + misses * 4",
}


def one_step(t):
    """what the expressions above may use, of one second"""
    day = 0.55 + 0.45 * math.sin((t - begin) / 86400 * 2 * math.pi)
    wobble = 1 + 0.2 * math.sin(t / 310) + 0.1 * math.sin(t / 47)
    lookups = 4000 * day * wobble
    cold = math.exp(-abs(t - begin - 43200) / 1800) if t >= begin + 43200 else 0
    misses = lookups * (0.03 + 0.6 * cold)
    allow, deny = lookups * 0.25, lookups * 0.01
    return {
        "t": t, "lookups": lookups, "misses": misses, "allow": allow, "deny": deny,
        "none": lookups - misses - allow - deny, "ratio": 100 * (lookups - misses) / lookups,
    }


expressions = {name: compile(what.lstrip("="), name, "eval") for name, what in SERIES.items()}
totals = dict.fromkeys(SERIES, 0.0)
updates = {name: [] for name in SERIES}
for t in range(begin, end + 1, STEP):
    now = one_step(t)
    known = not begin + 64800 < t < begin + 68400
    for name, what in SERIES.items():
        value = eval(expressions[name], now)  # pylint: disable=eval-used
        if what[0] != "=":
            totals[name] += value * STEP
            value = int(totals[name])
        if known:
            updates[name].append(f"{t}:{value}")

for name, lines in updates.items():
    path = f"{folder}/bpf_window-{name}.rrd"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    source = f"DS:value:{'GAUGE' if SERIES[name][0] == '=' else 'DERIVE'}:{2 * STEP}:0:U"
    archives = [
        f"RRA:{function}:0.1:{steps}:{rows}"
        for function in ("AVERAGE", "MIN", "MAX")
        for steps, rows in ((1, 8640), (6, 1440), (30, 8784))
    ]
    subprocess.run(
        ["rrdtool", "create", path, "-s", str(STEP), "-b", str(begin - 1), source, *archives], check=True
    )
    for i in range(0, len(lines), 1000):
        subprocess.run(["rrdtool", "update", path, *lines[i : i + 1000]], check=True)
