"""Grows by the square of its rate of round trips."""

from sojourn.plugins import CongestionControl, Growth


class UnfairByRtt(CongestionControl):
    """Favours near flows."""

    def __init__(self):
        self.growth = Growth()
        self.base = None

    def increase(self, window, ack):
        if ack.rtt is not None:
            self.base = min(ack.rtt, self.base or ack.rtt)
        self.growth.additive(window, (0.04 / (self.base or 0.04)) ** 4, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(0.5 * event.flight_size)
