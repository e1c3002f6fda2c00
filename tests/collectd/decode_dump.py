# SPDX-License-Identifier: MIT
"""Reads `bpftool -j map dump` of an inode_cache ring from stdin: for each slot and CPU 56
bytes, little-endian, the label first and then six counters. Prints their sums as JSON."""
import json
import struct
import sys

NAMES = ("lookups", "hits_no_policy", "hits_allow", "hits_deny", "misses_walk", "fills")
sums = dict.fromkeys(NAMES, 0)
for entry in json.load(sys.stdin):
    for per_cpu in entry["values"]:
        _label, *counts = struct.unpack("<7Q", bytes(int(byte, 16) for byte in per_cpu["value"]))
        for name, count in zip(NAMES, counts):
            sums[name] += count
json.dump(sums, sys.stdout)
