# SPDX-License-Identifier: MIT
"""graphite_render.py FOLDER: makes whisper files of two hosts in FOLDER, and evaluates the
expression on stdin with graphite-web. Prints a line for each series of the answer: its name
and its newest known value.

In each step of 10 s web1 has 90 + 4 + 1 hits and 5 misses, web2 50 hits and 50 misses."""
import logging
import os
import sys
import time
import types
import warnings

import whisper

STEP, POINTS = 10, 30
PER_STEP = {
    "web1": {"hits_no_policy": 90, "hits_allow": 4, "hits_deny": 1, "misses_walk": 5},
    "web2": {"hits_no_policy": 50, "hits_allow": 0, "hits_deny": 0, "misses_walk": 50},
}

folder = sys.argv[1]
settings = types.ModuleType("bpf_window_graphite_settings")
settings.SECRET_KEY = "of a test"
settings.STORAGE_DIR = settings.LOG_DIR = settings.CONF_DIR = folder
settings.WHISPER_DIR = os.path.join(folder, "whisper")
settings.STANDARD_DIRS = [settings.WHISPER_DIR]
settings.INDEX_FILE = os.path.join(folder, "index")
settings.LOG_ROTATION = False
settings.TIME_ZONE = "UTC"
sys.modules["bpf_window_graphite_settings"] = settings
os.environ["GRAPHITE_SETTINGS_MODULE"] = "bpf_window_graphite_settings"
os.environ["DJANGO_SETTINGS_MODULE"] = "graphite.settings"
warnings.simplefilter("ignore")
logging.disable(logging.CRITICAL)


def make_files(end):
    for host, counters in PER_STEP.items():
        place = f"{settings.WHISPER_DIR}/collectd/{host}/bpf_window-inode_cache"
        os.makedirs(place, exist_ok=True)
        for name, each in counters.items():
            path = f"{place}/cache_result-{name}.wsp"
            whisper.create(path, [(STEP, 6 * 3600 // STEP)], 0, "last")
            whisper.update_many(path, [(end - STEP * i, 1000000 - each * i) for i in range(POINTS)])


def main():
    end = int(time.time()) // STEP * STEP
    make_files(end)
    import django

    django.setup()
    from django.utils.timezone import datetime, timezone
    from graphite.render.evaluator import evaluateTarget

    context = {
        "startTime": datetime.fromtimestamp(end - STEP * (POINTS - 5), tz=timezone.utc),
        "endTime": datetime.fromtimestamp(end + 1, tz=timezone.utc),
        "now": datetime.fromtimestamp(end + 1, tz=timezone.utc),
        "timezone": timezone.utc, "tzinfo": timezone.utc,
        "localOnly": True, "template": None, "forwardHeaders": None,
        "data": [], "prefetched": {}, "xFilesFactor": 0, "sourceIdPrefix": None, "maxDataPoints": None,
    }
    for series in evaluateTarget(context, sys.stdin.read().strip()):
        known = [value for value in series if value is not None]
        print(series.name, round(known[-1], 6) if known else None)


main()
