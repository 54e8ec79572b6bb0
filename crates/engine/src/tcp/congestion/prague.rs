//! Prague: De Schepper, Tilmans, Briscoe and Goel, draft-briscoe-iccrg-prague-congestion-control-04, the congestion
//! control of L4S (RFC 9330). A DCTCP for the Internet: below a virtual round-trip time its rate does not depend on the
//! RTT, it also grows in round trips with marks in proportion to the unmarked bytes, and it is paced.
//!
//! Constants and details that the draft leaves open are those of L4STeam/linux, net/ipv4/tcp_prague.c.

use super::dctcp::MarkedShare;
use super::growth::Growth;
use super::{Ack, CongestionControl, CongestionEvent, Needs};
use crate::tcp::ecn::Codepoint;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    pub struct PragueParameters {
        g: f64 = 0.0625, in 0 .. 1, "Gain of alpha: the weight of the latest window", "tcp_prague.c, PRAGUE_SHIFT_G: 1/16";
        virtual_rtt: Duration = Duration::from_milliseconds(25), "RTT that a flow with a shorter RTT emulates; zero disables this", "draft section 2.4.4; tcp_prague.c, prague_rtt_target";
        transition: u64 = 500, in 0 .. 1000000000, "Round trips after slow start before it emulates virtual_rtt", "draft section 2.4.4; tcp_prague.c, prague_rtt_transition";
    }
}

control! {
    Prague(PragueParameters as parameters) {
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

about! { Prague:
    name: "prague",
    aliases: ["tcp_prague"],
    title: "TCP Prague",
    class: "marks",
    year: 2024,
    source: "draft-briscoe-iccrg-prague-congestion-control-04 and L4STeam/linux, net/ipv4/tcp_prague.c",
    deviations: "the draft was not available: its rules are those that its implementations cite; an acknowledgement \
                 that reports marks does not grow the window, even if it is for more than was marked; losses halve the \
                 window even if marks have just reduced it; left out are the reference implementation's fall-back for \
                 queues that mark by RFC 3168, its limit on bursts, its windows below two segments and the later \
                 variation of its pacing rate",
}

impl Prague {
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

impl CongestionControl for Prague {
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
        Needs { ecn: Some(Codepoint::Ect1), pacing: true, ..Needs::default() }
    }
}
