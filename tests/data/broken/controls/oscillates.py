"""Stops every two seconds."""

from sojourn.plugins import CongestionControl, Growth


class Oscillates(CongestionControl):
    """A window of one segment in every other second."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        if int(ack.now) % 4 < 2:
            self.growth.additive(window, 1.0 - window.segments, ack.credit * 8)
        else:
            self.growth.additive(window, 10.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(0.5 * event.flight_size)
