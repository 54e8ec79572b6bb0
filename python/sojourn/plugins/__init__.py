"""Your own congestion control or queue discipline in one file, without a fork of the engine.

A file in Python has a class that extends ``CongestionControl`` or ``Queue`` and defines some of its hooks:

    from sojourn.plugins import CongestionControl, Growth, number

    class Mine(CongestionControl):
        \"\"\"Additive increase and multiplicative decrease.\"\"\"

        beta = number(0.5, least=0, most=1, doc="Window after a loss, as a share of the flight size")

        def __init__(self):
            self.growth = Growth()

        def increase(self, window, ack):
            self.growth.additive(window, 1.0, ack.credit)

        def on_congestion(self, window, event):
            if event.flight_size is not None:
                window.set_ssthresh(self.beta * event.flight_size)

A scenario names it: ``tcp = { file = "mine.py", beta = 0.7 }``. docs/your-own-algorithm.md has the whole of it.
"""

from sojourn._engine import Ack, Delivery, Event, Growth, LostSegment, Packet, QueueView, Random, RateSample, Window
from sojourn.plugins.declaring import boolean, choice, duration, integer, number, rate, size
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
]
