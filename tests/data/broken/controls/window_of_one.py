"""Sends a segment a round trip."""

from sojourn.plugins import CongestionControl


class WindowOfOne(CongestionControl):
    """Never more than one segment under way."""

    governs = True

    def increase(self, window, ack):
        pass

    def on_delivery(self, window, delivery):
        window.cwnd = window.mss

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(window.mss)
