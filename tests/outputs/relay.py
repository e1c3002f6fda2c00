# SPDX-License-Identifier: MIT
"""relay.py TO_PORT FILE: takes datagrams on a free port, which it prints, and passes them
on to TO_PORT. At SIGTERM writes JSON into FILE: how many, their bytes, and in how many of
them a name of ours could be read."""
import json
import signal
import socket
import sys

to_port, path = int(sys.argv[1]), sys.argv[2]
seen = {"datagrams": 0, "bytes": 0, "readable": 0}


def end(_signal, _frame):
    with open(path, "w", encoding="ascii") as file:
        json.dump(seen, file)
    sys.exit(0)


signal.signal(signal.SIGTERM, end)
taking = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
taking.bind(("127.0.0.1", 0))
print(taking.getsockname()[1], flush=True)
while True:
    datagram = taking.recv(65536)
    seen["datagrams"] += 1
    seen["bytes"] += len(datagram)
    seen["readable"] += b"inode_" in datagram
    taking.sendto(datagram, ("127.0.0.1", to_port))
