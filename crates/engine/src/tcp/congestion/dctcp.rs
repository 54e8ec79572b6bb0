//! DCTCP (Data Center TCP): RFC 8257. Alizadeh et al., "Data Center TCP (DCTCP)", SIGCOMM 2010. The window reduction is
//! proportional to the share of marked bytes.

use super::kernel::segments;
use super::newreno::AdditiveIncrease;
use super::{Ack, CongestionControl, CongestionEvent, Needs};
use crate::inner::Tell;
use crate::tcp::ecn::Codepoint;
use crate::tcp::window::Window;
use crate::time::Time;

choice! {
    /// Whose arithmetic.
    pub enum Rules {
        Published = "published",
        /// Whole numbers: a reduction is of whole segments, of which less than one is none, and alpha has steps.
        Linux = "linux",
    }
}

parameters! {
    pub struct DctcpParameters {
        g: f64 = 0.0625, in 0 .. 1, "Estimation gain: the weight of the latest window in alpha", "RFC 8257 section 4.1: 1/16; Linux tcp_dctcp.c, dctcp_shift_g";
        initial_alpha: f64 = 1.0, in 0 .. 1, "Initial value of alpha", "RFC 8257 section 3.3; Linux tcp_dctcp.c, dctcp_alpha_on_init";
        rules: Rules = Rules::Published, "Whose arithmetic: with linux a reduction is of whole segments, of which less than one is none, and alpha a whole number of 1/1024", "RFC 8257 section 3.3; Linux tcp_dctcp.c, dctcp_ssthresh and dctcp_update_alpha";
        loss_as_marks: bool = false, "Whether a loss reduces the window by the share of marked bytes, as marks do, and so hardly without marks", "RFC 8257 section 3.5 halves it; ns-3 tcp-dctcp.cc, GetSsThresh does not";
    }
}

inner_state! {
    DctcpState {
        alpha: "", "estimated share of marked bytes, 0 to 1 (DCTCP.Alpha)";
    }
}

/// Steps of alpha in Linux: tcp_dctcp.c, DCTCP_MAX_ALPHA.
const STEPS: f64 = 1024.0;

/// The estimate of the share of marked bytes, updated once per window of data (RFC 8257 section 3.3).
#[derive(Clone, Debug)]
pub(in crate::tcp::congestion) struct MarkedShare {
    /// DCTCP.Alpha.
    pub alpha: f64,
    /// DCTCP.BytesAcked.
    acked: u64,
    /// DCTCP.BytesMarked.
    marked: u64,
    /// DCTCP.WindowEnd.
    window_end: u64,
}

impl MarkedShare {
    pub(in crate::tcp::congestion) fn new(alpha: f64) -> MarkedShare {
        MarkedShare { alpha, acked: 0, marked: 0, window_end: 0 }
    }

    /// Counts acknowledged and marked bytes. Returns whether a window of data is complete.
    pub(in crate::tcp::congestion) fn count(&mut self, ack: &Ack) -> bool {
        self.acked += ack.acked;
        self.marked += ack.marked;
        ack.una > self.window_end
    }

    /// Updates alpha at the end of a window of data and starts the next window.
    pub(in crate::tcp::congestion) fn update(&mut self, g: f64, ack: &Ack) {
        // Marks may be reported later than the bytes that carried them, so their number may exceed that of the bytes.
        let share = (self.marked as f64 / self.acked.max(1) as f64).min(1.0);
        self.alpha += g * (share - self.alpha);
        self.start_window(ack);
    }

    /// The same in whole numbers: Linux tcp_dctcp.c, dctcp_update_alpha. What is less than a step is forgotten at once, and one mark in more
    /// than 64 segments adds none.
    fn update_by_steps(&mut self, g: f64, window: &Window, ack: &Ack) {
        let steps = self.alpha * STEPS;
        let less = (steps * g).floor();
        let kept = if less == 0.0 { 0.0 } else { steps - less };
        let [acked, marked] = [self.acked, self.marked].map(|bytes| (bytes / window.mss) as f64);
        let more = (marked * STEPS * g / acked.max(1.0)).floor();
        self.alpha = (kept + more).min(STEPS) / STEPS;
        self.start_window(ack);
    }

    /// Starts the next window of data.
    pub(in crate::tcp::congestion) fn start_window(&mut self, ack: &Ack) {
        self.acked = 0;
        self.marked = 0;
        self.window_end = ack.nxt;
    }

    /// The window reduced because of marks: cwnd * (1 - alpha / 2).
    pub(in crate::tcp::congestion) fn reduced(&self, window: &Window) -> u64 {
        (window.cwnd as f64 * (1.0 - self.alpha / 2.0)) as u64
    }

    /// The same by whole segments: Linux tcp_dctcp.c, dctcp_ssthresh.
    fn reduced_by_segments(&self, window: &Window) -> u64 {
        let cwnd = segments(window);
        (cwnd - (cwnd as f64 * self.alpha / 2.0) as u64) * window.mss
    }
}

control! {
    Dctcp(DctcpParameters as parameters) {
        additive: AdditiveIncrease,
        share: MarkedShare = MarkedShare::new(parameters.initial_alpha),
    }
}

about! { Dctcp:
    name: "dctcp",
    aliases: ["data_center_tcp"],
    state: DctcpState,
    title: "DCTCP",
    class: "marks",
    year: 2017,
    source: "RFC 8257",
    deviations: "the receiver counts marks as Accurate ECN does, where the RFC echoes the mark of each segment; an \
                 acknowledgement that both ends a window of data and reports marks reduces by the previous alpha; that which ends \
                 a loss recovery is not counted, except by Linux's stacks",
}

impl Dctcp {
    /// The estimate of the share of marked bytes.
    pub fn alpha(&self) -> f64 {
        self.share.alpha
    }
}

impl CongestionControl for Dctcp {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.additive.increase(window, ack.credit);
    }

    /// Section 3.5: the response to losses is that of a conventional TCP. The response to marks is that of section 3.3,
    /// equation of step 9.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } if !self.parameters.loss_as_marks => {
                self.additive.restart();
                window.set_ssthresh(flight_size / 2);
            }
            CongestionEvent::Loss { .. } | CongestionEvent::Ecn { .. } => {
                self.additive.restart();
                window.set_ssthresh(match self.parameters.rules {
                    Rules::Published => self.share.reduced(window),
                    Rules::Linux => self.share.reduced_by_segments(window),
                });
            }
            CongestionEvent::Timeout | CongestionEvent::Spurious => {}
        }
    }

    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if self.share.count(ack) {
            match self.parameters.rules {
                Rules::Published => self.share.update(self.parameters.g, ack),
                Rules::Linux => self.share.update_by_steps(self.parameters.g, window, ack),
            }
        }
    }

    /// Section 3.6 also recommends ECN-capable SYNs and acknowledgements. The codepoint is ECT(0) in Linux.
    fn needs(&self) -> Needs {
        Needs { ecn: Some(Codepoint::Ect0), acks_in_recovery: true, ..Needs::default() }
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        DctcpState { alpha: Some(self.alpha()) }.tell(tell);
    }
}
