# SPDX-License-Identifier: MIT
"""edges.py FOLDER HOST INTERVAL PROMETHEUS_URL: holds what each server has against the
csv files beside it, edge by edge. For each server and kind of comparison one line:
`ok TEXT` or `not_ok TEXT`."""
import glob
import json
import os
import subprocess
import sys
import time as clock
import urllib.parse
import urllib.request

import whisper

folder, host, interval, prometheus = sys.argv[1], sys.argv[2], int(sys.argv[3]), sys.argv[4]


def say(good, text):
    print("ok" if good else "not_ok", text)


def read_csv(base):
    """{(window, type-instance): {time: total}}"""
    found = {}
    for path in glob.glob(f"{base}/{host}/bpf_window-inode_*/*"):
        window = os.path.basename(os.path.dirname(path)).removeprefix("bpf_window-")
        name = os.path.basename(path)[: -len("-2000-01-01")]
        # Gauges, and what the plugin tells about itself, at any time, come at no edges.
        if not name.startswith(("cache_operation", "cache_result", "derive")) or "-self_" in name:
            continue
        points = found.setdefault((window, name), {})
        with open(path, encoding="ascii") as lines:
            for line in lines:
                if not line.startswith("epoch"):
                    time, value = line.split(",")
                    points[int(float(time))] = int(value)
    return found


def differences(name, wanted, got_of, least):
    """got_of(window, counter) -> {time: total} or, for rates, {time: increment}"""
    compared, wrong = 0, []
    for series in wanted:
        got = got_of(*series)
        points = 0
        for time, value in got.items():
            if time not in wanted[series]:
                wrong.append((*series, time, value, None))
            elif wanted[series][time] is not None:
                points += 1
                if value != wanted[series][time]:
                    wrong.append((*series, time, value, wanted[series][time]))
        compared += points
        if points < least:
            lacking = sorted(set(wanted[series]) - set(got))
            wrong.append((*series, f"{points} points, wanted {least} or more; not", *lacking))
    say(not wrong, f"{name}: {len(wanted)} series, {compared} points, {len(wrong)} differ")
    for line in wrong[:5]:
        print("#", *line)


totals = read_csv(f"{folder}/csv")
edges = {series: sorted(points) for series, points in totals.items()}
count = min(len(e) for e in edges.values())
gaps = [b - a for e in edges.values() for a, b in zip(e, e[1:])]
say(
    count > 20 and set(gaps) == {interval},
    f"csv: {len(totals)} series, {count} edges each, {interval} s apart, over the outage too",
)
say(
    all(points[t] >= points[u] for series, points in totals.items() for u, t in zip(edges[series], edges[series][1:])),
    "csv: no total ever falls",
)
common = sorted(set.intersection(*(set(e) for e in edges.values())))
grown = {s: points[common[-1]] - points[common[0]] for s, points in totals.items()}
lookups = grown[("inode_cache", "cache_operation-lookups")]
results = sum(v for (w, c), v in grown.items() if w == "inode_cache" and c.startswith("cache_result"))
say(lookups == results > 1000, f"hits and misses are the lookups: {results} of {lookups}")

# ---- Servers that keep totals ----

received = read_csv(f"{folder}/received/csv")
differences("a second collectd, csv", totals, lambda *s: received.get(s, {}), count)


# It writes when it likes.
carbon_deadline = clock.monotonic() + 60


def from_whisper(window, counter):
    path = f"{folder}/carbon/whisper/collectd/{host}/bpf_window-{window}/{counter}.wsp"
    first, last = edges[(window, counter)][0], edges[(window, counter)][-1]
    got = {}
    while last not in got and clock.monotonic() < carbon_deadline:
        if os.path.exists(path):
            (start, end, step), values = whisper.fetch(path, first - interval, last)
            got = {t: int(v) for t, v in zip(range(start, end, step), values) if v is not None}
        clock.sleep(0 if last in got else 0.2)
    return got


differences("carbon", totals, from_whisper, count)


def from_prometheus(window, counter):
    kind, instance = counter.split("-", 1)
    query = f'collectd_bpf_window_{kind}_total{{instance="{host}",bpf_window="{window}",type="{instance}"}}[1h]'
    url = f"{prometheus}/api/v1/query?" + urllib.parse.urlencode({"query": query})
    with urllib.request.urlopen(url) as answer:
        result = json.load(answer)["data"]["result"]
    if len(result) != 1:
        return {}
    return {int(t): int(float(v)) for t, v in result[0]["values"]}


# It keeps the newest only: neither what was made up for nor what came between two scrapes.
differences("Prometheus", totals, from_prometheus, count // 3)

# ---- Servers that keep rates: rate times interval is the increment ----

increments = {
    series: dict(
        [(edges[series][0], None)]
        + [(t, points[t] - points[u]) for u, t in zip(edges[series], edges[series][1:])]
    )
    for series, points in totals.items()
}


def from_rrd(base):
    def fetch(window, counter):
        path = f"{base}/{host}/bpf_window-{window}/{counter}.rrd"
        if not os.path.exists(path):
            return {}
        first, last = edges[(window, counter)][0], edges[(window, counter)][-1]
        text = subprocess.run(
            ["rrdtool", "fetch", path, "AVERAGE", "-r", str(interval), "-s", str(first), "-e", str(last)],
            check=True, capture_output=True, text=True,
        ).stdout
        got = {}
        for line in text.splitlines():
            time, _, rate = line.partition(": ")
            if time.isdigit() and "nan" not in rate and int(time) <= last:
                got[int(time)] = round(float(rate) * interval, 3)
        return got

    return fetch


differences("rrdtool", increments, from_rrd(f"{folder}/rrd"), count - 1)
differences("rrdcached", increments, from_rrd(f"{folder}/rrdcached"), count - 1)
differences("a second collectd, rrdtool", increments, from_rrd(f"{folder}/received/rrd"), count - 1)
