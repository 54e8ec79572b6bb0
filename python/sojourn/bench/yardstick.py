"""The speed of a bare event loop on this machine now, which makes speeds of different machines and minutes comparable.

A virtual machine's speed changes with its neighbours, by half and more within minutes. So each speed is also given as a share of
that of a bare event loop, timed right after it.
"""

import statistics
import time

from sojourn import _engine

FLOWS, WINDOW, PACKETS = 9, 10, 200_000

#: Packets that such a loop, 4.5 events a packet in a binary heap, delivers for each CPU second where the speed targets were set.
KNOWN = 9.3e6


def bare_loop(repeat: int) -> float:
    """Delivered packets for each CPU second, the median of several timings: ``FLOWS`` flows of ``WINDOW`` packets, no TCP."""
    return PACKETS / statistics.median(_seconds() for _ in range(repeat))


def _seconds() -> float:
    start = time.process_time()
    _engine.bare_loop(FLOWS, WINDOW, PACKETS)
    return time.process_time() - start
