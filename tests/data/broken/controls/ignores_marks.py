"""Heeds losses alone."""

from sojourn.plugins import CongestionControl, Growth


class IgnoresMarks(CongestionControl):
    """New Reno that takes no notice of ECN."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, 1.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind == "loss":
            window.set_ssthresh(0.5 * event.flight_size)
        elif event.kind == "ecn":
            window.set_ssthresh(window.cwnd)
