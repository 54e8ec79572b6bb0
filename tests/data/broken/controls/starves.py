"""Waits for a second at a window of one segment whenever its window is small."""

from sojourn.plugins import CongestionControl


class Starves(CongestionControl):
    """New Reno above eight segments; below, one segment."""

    governs = True

    def __init__(self):
        self.threshold = None

    def increase(self, window, ack):
        pass

    def on_delivery(self, window, delivery):
        if window.segments < 8 and delivery.now > 2:
            window.cwnd = window.mss
        elif delivery.acked:
            window.cwnd = window.cwnd + window.mss * delivery.acked // window.cwnd

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.cwnd = max(window.mss, int(0.5 * event.flight_size))
            window.set_ssthresh(0.5 * event.flight_size)
