"""Keeps its window when packets are lost."""

from sojourn.plugins import CongestionControl, Growth


class NeverBacksOff(CongestionControl):
    """Grows for ever."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, 1.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind == "loss":
            window.set_ssthresh(max(window.cwnd, 100 * window.mss))
        elif event.kind == "ecn":
            window.set_ssthresh(0.5 * event.flight_size)
