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
series = {
    "bpf_window-inode_cache/cache_operation-lookups": 0,
    "bpf_window-inode_cache/cache_operation-fills": 0,
    "bpf_window-inode_cache/cache_result-hits_no_policy": 0,
    "bpf_window-inode_cache/cache_result-hits_allow": 0,
    "bpf_window-inode_cache/cache_result-hits_deny": 0,
    "bpf_window-inode_cache/cache_result-misses_walk": 0,
    "bpf_window-inode_cache/cache_ratio-hit": 0,
    "bpf_window-inode_uncached/derive-hardlinked": 0,
    "bpf_window-inode_uncached/derive-raced": 0,
    "bpf_window-inode_cache/memory-self_maps": 0,
    "bpf_window-inode_cache/count-self_programs": 0,
    "bpf_window-inode_cache/derive-self_runs": 0,
}


def one_step(t):
    """increments of one step"""
    day = 0.55 + 0.45 * math.sin((t - begin) / 86400 * 2 * math.pi)
    wobble = 1 + 0.2 * math.sin(t / 310) + 0.1 * math.sin(t / 47)
    lookups = int(4000 * STEP * day * wobble)
    cold = math.exp(-abs(t - begin - 43200) / 1800) if t >= begin + 43200 else 0
    misses = int(lookups * (0.03 + 0.6 * cold))
    allow, deny = int(lookups * 0.25), int(lookups * 0.01)
    none = lookups - misses - allow - deny
    return [lookups, misses, none, allow, deny, misses], 100.0 * (lookups - misses) / max(lookups, 1)


updates = {name: [] for name in series}
for t in range(begin, end + 1, STEP):
    counts, ratio = one_step(t)
    for name, increment in zip(list(series)[:6], counts):
        series[name] += increment
    series["bpf_window-inode_uncached/derive-hardlinked"] += counts[1] // 50
    series["bpf_window-inode_uncached/derive-raced"] += int(t % 600 == 0)
    series["bpf_window-inode_cache/derive-self_runs"] += counts[0]
    series["bpf_window-inode_cache/cache_ratio-hit"] = ratio
    series["bpf_window-inode_cache/memory-self_maps"] = 67890
    series["bpf_window-inode_cache/count-self_programs"] = 4
    if begin + 64800 < t < begin + 68400:
        continue
    for name, value in series.items():
        updates[name].append(f"{t}:{value}")

for name, lines in updates.items():
    path = f"{folder}/{name}.rrd"
    os.makedirs(os.path.dirname(path), exist_ok=True)
    gauge = any(kind in name for kind in ("cache_ratio", "memory", "count"))
    source = f"DS:value:{'GAUGE' if gauge else 'DERIVE'}:{2 * STEP}:0:U"
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
