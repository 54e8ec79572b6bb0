"""Your own congestion control or queue discipline in one file, without a fork of the engine.

A file in Python has a class that extends ``CongestionControl`` or ``Queue`` and defines some of its hooks;
``sojourn new tcp mine`` writes one to begin with. A scenario names it: ``tcp = { file = "mine.py", beta = 0.7 }``.
docs/your-own-algorithm.md has the rest.
"""

from sojourn._engine import Ack, Delivery, Event, Growth, LostSegment, Packet, QueueView, Random, RateSample, Window
from sojourn.plugins.declaring import boolean, choice, duration, integer, number, rate, size, state
from sojourn.plugins.hooks import DROP, MARK, PASS, CongestionControl, Queue

__all__ = [
    "DROP",
    "MARK",
    "PASS",
    "Ack",
    "CongestionControl",
    "Delivery",
    "Event",
    "Growth",
    "LostSegment",
    "Packet",
    "Queue",
    "QueueView",
    "Random",
    "RateSample",
    "Window",
    "boolean",
    "choice",
    "duration",
    "integer",
    "number",
    "rate",
    "size",
    "state",
]
