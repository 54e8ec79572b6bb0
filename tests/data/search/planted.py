"""New Reno with a defect: it stops to grow where a round trip takes between 60 and 75 ms."""

from sojourn.plugins import CongestionControl, Growth


class Planted(CongestionControl):
    """Additive increase and multiplicative decrease, but for the defect."""

    def __init__(self):
        self.growth = Growth()

    def increase(self, window, ack):
        if ack.srtt is None or not 0.060 < ack.srtt < 0.075:
            self.growth.additive(window, 1.0, ack.credit)

    def on_congestion(self, window, event):
        if event.kind in ("loss", "ecn"):
            window.set_ssthresh(0.5 * event.flight_size)
