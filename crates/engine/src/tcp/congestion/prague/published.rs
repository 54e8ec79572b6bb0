//! Prague as its draft has it, with a window of bytes.

use super::{PragueParameters, PragueState};
use crate::inner::Tell;
use crate::tcp::congestion::dctcp::MarkedShare;
use crate::tcp::congestion::growth::Growth;
use crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Needs};
use crate::tcp::ecn::Codepoint;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

control! {
    Published(PragueParameters as parameters) {
        growth: Growth,
        /// With alpha = 1 the first mark halves the window.
        share: MarkedShare = MarkedShare::new(1.0),
        /// Whether the path has marked a packet. Until then alpha is not updated.
        path_marks: bool,
        /// Round trips since slow start, counted up to the transition.
        rounds: u64,
        /// The latest smoothed round-trip time.
        srtt: Duration,
        alpha_updated: Time,
        /// When marks last reduced the window.
        reduced: Option<Time>,
    }
}

impl Published {
    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.share.alpha
    }

    /// The round-trip time that the flow emulates: its own until the transition.
    fn virtual_rtt(&self) -> Duration {
        if self.rounds < self.parameters.transition { self.srtt } else { self.srtt.max(self.parameters.virtual_rtt) }
    }

    /// The growth per window of data, in segments: one per virtual round-trip time, scaled again by the ratio of the
    /// window to the virtual window.
    fn additive(&self) -> f64 {
        let virtual_rtt = self.virtual_rtt();
        if virtual_rtt == Duration::ZERO {
            return 1.0;
        }
        let ratio = self.srtt.seconds() / virtual_rtt.seconds();
        ratio * ratio
    }

    /// Updates alpha at the end of a window of data or of a virtual round trip.
    fn end_round(&mut self, window: &Window, ack: &Ack) {
        if self.path_marks {
            self.share.update(self.parameters.g, ack);
        } else {
            self.share.start_window(ack);
        }
        self.alpha_updated = ack.now;
        if !window.in_slow_start() && self.rounds < self.parameters.transition {
            self.rounds += 1;
        }
    }

    fn has_passed(&self, since: Time, now: Time) -> bool {
        self.rounds < self.parameters.transition || now.since(since) >= self.virtual_rtt()
    }
}

impl CongestionControl for Published {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.growth.additive(window, self.additive(), ack.credit);
    }

    /// The response to marks is that of DCTCP, but at most once per virtual round trip.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } => window.set_ssthresh(flight_size / 2),
            CongestionEvent::Ecn { .. } => {
                if self.reduced.is_none_or(|reduced| self.has_passed(reduced, now)) {
                    self.reduced = Some(now);
                    window.set_ssthresh(self.share.reduced(window));
                } else {
                    window.set_ssthresh(window.cwnd);
                }
            }
            CongestionEvent::Timeout | CongestionEvent::Spurious => {}
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        self.srtt = ack.srtt;
        self.path_marks |= ack.marked > 0;
        if self.share.count(ack) && self.has_passed(self.alpha_updated, ack.now) {
            self.end_round(window, ack);
        }
    }

    /// One window per round-trip time, twice that in slow start (`prague_update_pacing_rate`).
    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
        if srtt == Duration::ZERO {
            return None;
        }
        let windows = if window.cwnd < window.ssthresh / 2 { 2.0 } else { 1.0 };
        Some(Rate(((windows * window.cwnd as f64 * 8.0 / srtt.seconds()) as u64).max(1)))
    }

    fn needs(&self) -> Needs {
        Needs {
            ecn: Some(Codepoint::Ect1),
            pacing: true,
            growth_beside_marks: true,
            acks_in_recovery: true,
            ..Needs::default()
        }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        PragueState { alpha: Some(self.alpha()), rounds: Some(self.rounds as f64) }.tell(tell);
    }
}
