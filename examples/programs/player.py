"""Plays a video as a DASH player does: player.py URL SEGMENTS. What it played is printed as JSON.

It fetches one segment after the other over one connection of HTTP/1.1, each at the highest rate that is less than what the last
segments came at. It begins to play when two segments are there, and stalls when none is.
"""

import http.client
import json
import sys
import time
from itertools import pairwise
from statistics import harmonic_mean
from urllib.parse import urlsplit

#: The rates of Pensieve's video, in kbit/s (Mao et al., SIGCOMM 2017, section 5.1), and the length of its segments, in s.
RATES = (300, 750, 1200, 1850, 2850, 4300)
SEGMENT = 4.0

#: What it holds at most, in s, and what it has when it begins to play.
MOST, FIRST = 20.0, 2 * SEGMENT

#: The throughput is the harmonic mean over so many segments (FESTIVE: Jiang et al., CoNEXT 2012, section 4.3).
SEEN = 5


def fetched(connection: http.client.HTTPConnection, size: int) -> float:
    """Fetches a segment, and returns the throughput in kbit/s."""
    begun = time.monotonic()
    connection.request("GET", f"/{size}")
    received = len(connection.getresponse().read())
    return received * 8 / 1000 / (time.monotonic() - begun)


def play(address: str, segments: int) -> dict[str, object]:
    """Plays so many segments."""
    connection = http.client.HTTPConnection(address, timeout=60)
    throughputs: list[float] = []
    rates: list[int] = []
    stalls: list[float] = []
    begun = last = time.monotonic()
    buffer, startup = 0.0, None
    while len(rates) < segments:
        known = harmonic_mean(throughputs[-SEEN:]) if throughputs else 0.0
        rate = max((rate for rate in RATES if rate <= known), default=RATES[0])
        throughputs.append(fetched(connection, int(rate * 1000 / 8 * SEGMENT)))
        rates.append(rate)
        now = time.monotonic()
        if startup is not None:
            if now - last > buffer:
                stalls.append(now - last - buffer)
            buffer = max(0.0, buffer - (now - last))
        last = now
        buffer += SEGMENT
        if startup is None and buffer >= FIRST:
            startup = now - begun
        if startup is not None and buffer + SEGMENT > MOST:
            time.sleep(buffer + SEGMENT - MOST)
    return {
        "startup_s": startup,
        "stalls": len(stalls),
        "stalled_s": sum(stalls),
        "mean_kbit_s": sum(rates) / len(rates),
        "switches": sum(one != other for one, other in pairwise(rates)),
        "rates_kbit_s": rates,
    }


print(json.dumps(play(urlsplit(sys.argv[1]).netloc, int(sys.argv[2]))))
