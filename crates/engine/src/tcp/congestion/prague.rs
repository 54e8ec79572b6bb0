//! Prague: De Schepper, Tilmans, Briscoe and Goel, draft-briscoe-iccrg-prague-congestion-control-04, the congestion
//! control of L4S (RFC 9330). DCTCP for the Internet: below a virtual round-trip time its rate is the same whatever
//! the round-trip time, it grows for what is not marked even in a round trip with marks, and it is paced.
//!
//! Constants and what the draft leaves to the reference implementation are those of L4STeam/linux,
//! net/ipv4/tcp_prague.c.

use std::sync::Arc;

use super::dctcp::MarkedShare;
use super::growth::Growth;
use super::{Ack, CongestionControl, CongestionEvent, Needs};
use crate::about::About;
use crate::parameters;
use crate::tcp::ecn::Codepoint;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

parameters! {
    /// Parameters of Prague.
    pub struct PragueParameters {
        g: f64 = 0.0625, in 0 .. 1, "Gain of alpha: the weight of the latest window", "tcp_prague.c, PRAGUE_SHIFT_G: 1/16";
        virtual_rtt: Duration = Duration::from_milliseconds(25), "RTT that a flow with a shorter RTT emulates; zero disables this", "draft section 2.4.4; tcp_prague.c, prague_rtt_target";
        transition: u64 = 500, in 0 .. 1000000000, "Round trips after slow start before it emulates virtual_rtt", "draft section 2.4.4; tcp_prague.c, prague_rtt_transition";
    }
}

/// The TCP Prague congestion control.
#[derive(Clone, Debug)]
pub struct Prague {
    parameters: Arc<PragueParameters>,
    growth: Growth,
    share: MarkedShare,
    /// Whether the path was seen to mark; before that alpha stays.
    path_marks: bool,
    /// Round trips since slow start, up to the transition.
    rounds: u64,
    /// Smoothed round-trip time, as last told.
    srtt: Duration,
    alpha_updated: Time,
    /// The latest reduction because of marks.
    reduced: Option<Time>,
}

impl Prague {
    /// Name, aliases, source and deviations.
    pub const ABOUT: About = About {
        name: "prague",
        aliases: &["tcp_prague"],
        title: "TCP Prague",
        class: "marks",
        year: 2024,
        source: "draft-briscoe-iccrg-prague-congestion-control-04 and L4STeam/linux, net/ipv4/tcp_prague.c",
        deviations: "the draft was not available: its rules are those that its implementations cite; an acknowledgement \
                     that reports marks does not grow the window, even if it is for more than was marked; losses halve \
                     the window even if marks have just reduced it; left out are the reference implementation's \
                     fall-back for queues that mark by RFC 3168, its limit on bursts, its windows below two segments and \
                     the later variation of its pacing rate",
    };

    /// Creates the state of a new connection.
    pub fn new(parameters: Arc<PragueParameters>) -> Prague {
        Prague {
            parameters,
            growth: Growth::default(),
            // The first mark halves the window.
            share: MarkedShare::new(1.0),
            path_marks: false,
            rounds: 0,
            srtt: Duration::ZERO,
            alpha_updated: Time::ZERO,
            reduced: None,
        }
    }

    /// The estimate of the share of bytes that are marked.
    pub fn alpha(&self) -> f64 {
        self.share.alpha
    }

    /// The round-trip time as if of which it behaves: its own until the transition is over.
    fn virtual_rtt(&self) -> Duration {
        if self.rounds < self.parameters.transition { self.srtt } else { self.srtt.max(self.parameters.virtual_rtt) }
    }

    /// Growth for a window of data, in segments: one for each virtual round-trip time, scaled once more since the
    /// window is by so much smaller than the virtual one.
    fn additive(&self) -> f64 {
        let virtual_rtt = self.virtual_rtt();
        if virtual_rtt == Duration::ZERO {
            return 1.0;
        }
        let ratio = self.srtt.seconds() / virtual_rtt.seconds();
        ratio * ratio
    }

    /// A window of data, or several that make a virtual round trip, is complete.
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

    /// Marks are answered as by DCTCP, but once in a virtual round trip.
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

    /// The window in a round-trip time, in slow start twice that (`prague_update_pacing_rate`).
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
