"""Resolves thirty names one after the other, and prints how long they took as JSON."""

import json
import socket
import time

NAMES = 30

#: From the end of a lookup to the next one, in s.
PAUSE = 0.1


def lookup(name: str) -> float:
    """The time in s that a name's IPv4 address takes."""
    begun = time.monotonic()
    socket.getaddrinfo(name, None, socket.AF_INET)
    return time.monotonic() - begun


times: list[float] = []
for number in range(NAMES):
    times.append(lookup(f"host-{number}.example"))
    time.sleep(PAUSE)
times.sort()
print(json.dumps({"lookups": NAMES, "median_ms": times[NAMES // 2] * 1000, "most_ms": times[-1] * 1000}))
