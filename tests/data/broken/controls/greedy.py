"""Adds eight segments a round trip, and gives up a tenth."""

from sojourn.plugins import CongestionControl, Growth


class Greedy(CongestionControl):
    """Takes what others have."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, 8.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh((0.9 if event.kind == "loss" else 0.5) * event.flight_size)
