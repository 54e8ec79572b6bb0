"""New Reno in the fewest lines (RFC 5681): what the others break."""

from sojourn.plugins import CongestionControl, Growth


class Sound(CongestionControl):
    """Adds a segment a round trip, and halves."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        self.growth.additive(window, 1.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(0.5 * event.flight_size)
