//! TCP-LP in ns-3 tcp-lp.cc: an indication leaves ssthresh, so that slow start follows; only losses lower that.

use super::LpParameters;
use super::clock::Clock;
use crate::inner::Tell;
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Delivery, Needs};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Ns3(LpParameters) {
        additive: AdditiveIncrease,
        clock: Clock = Clock::of_ns3(),
    }
}

impl CongestionControl for Ns3 {
    /// PktsAcked before IncreaseWindow, which grows from what is left: as slow start below ssthresh.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.clock.reduce(window);
        if window.in_slow_start() {
            window.cwnd += ack.credit.min(window.mss);
        } else if !self.clock.is_within_inference() {
            self.additive.increase(window, ack.credit);
        }
    }

    /// Reduces the window to half the flight size (RFC 5681 equation 4).
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        self.clock.reduce(window);
        if let Some(flight_size) = event.flight_size() {
            self.additive.restart();
            window.set_ssthresh(flight_size / 2);
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.clock.on_ack(window, ack);
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, _ack: &Ack) -> Option<u64> {
        self.clock.reduce(window);
        None
    }

    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
        self.clock.on_delivery(window, delivery);
    }

    fn needs(&self) -> Needs {
        Needs { one_way_delay: true, deliveries: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        self.clock.state().tell(tell);
    }
}
