//! Compound in the module for ns-3 of NITK Surathkal, 2017 (github.com/aneesh297/CTCP-Implementation-in-ns3,
//! tcp-compound.cc). The window grows once a round trip and not with each acknowledgement: by alpha W^k bytes, with W in
//! bytes, of which the loss window gets MSS²/W bytes. That is less than a segment below 181 segments of 1448 bytes, so
//! that the backlog of each flow stays near gamma, with a DropTail queue too.
//!
//! The loss window begins at the greatest 32-bit integer, and only a connection that returns to the open state without
//! fast recovery sets it to the window. Otherwise it is halved with the window, and the two windows add up modulo 2^32:
//! until the first timeout the window can fall by its whole backlog.

use super::{CompoundParameters, CompoundState};
use crate::inner::Tell;
use crate::tcp::congestion::newreno::AdditiveIncrease;
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Samples from which on a round trip counts as measured: IncreaseWindow.
const LEAST_SAMPLES: u64 = 3;

/// m_lwnd before the first loss.
const UNSET: u32 = i32::MAX as u32;

/// Weight of a sample in the module's own average of RTTs, which begins at zero: PktsAcked.
const WEIGHT: f64 = 0.125;

/// Where a connection is since the last loss: CongestionStateSet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum State {
    Open,
    /// Until the next acknowledgement that grows the window.
    FastRecovery,
    /// After a timeout, at first until an unknown sequence number.
    Loss(Option<u64>),
}

control! {
    Ns3(CompoundParameters as parameters) {
        state: State = State::Open,
        additive: AdditiveIncrease,
        /// In bytes; their sum is the window, modulo 2^32.
        loss_window: u32 = UNSET,
        delay_window: u32,
        base_rtt: Option<Duration>,
        /// In seconds.
        average_rtt: f64,
        round: Round,
    }
}

/// One window of data.
#[derive(Clone, Copy, Debug, Default)]
struct Round {
    /// The first sequence number after it.
    end: u64,
    samples: u64,
    min_rtt: Option<Duration>,
}

impl Ns3 {
    fn grow(&mut self, window: &mut Window) {
        window.cwnd += (self.parameters.alpha * libm::pow(window.cwnd as f64, self.parameters.k)) as u64;
        self.loss_window = self.loss_window.wrapping_add(reno(window));
        self.delay_window = (window.cwnd as u32).wrapping_sub(self.loss_window);
    }

    fn shrink(&mut self, window: &mut Window, segments: f64) {
        let mss = window.mss as u32;
        self.loss_window = self.loss_window.wrapping_add(reno(window));
        self.delay_window = (f64::from(self.delay_window / mss) - segments).max(0.0) as u32 * mss;
        // The sum can be less than a segment.
        window.cwnd = u64::from(self.loss_window.wrapping_add(self.delay_window)).max(window.mss);
    }

    fn follow_newreno(&mut self, window: &mut Window, ack: &Ack) {
        if !window.in_slow_start() {
            self.additive.increase(window, ack.credit);
        } else if ack.credit > 0 {
            window.cwnd += window.mss;
        }
    }
}

impl CongestionControl for Ns3 {
    /// IncreaseWindow, which is for slow start too.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        if matches!(self.state, State::Loss(_)) {
            return self.follow_newreno(window, ack);
        }
        if ack.una < self.round.end {
            if window.in_slow_start() {
                self.follow_newreno(window, ack);
            }
            return;
        }
        let round = self.round;
        self.round = Round { end: ack.nxt, ..Round::default() };
        match (self.base_rtt, round.min_rtt) {
            (Some(base_rtt), Some(min_rtt)) if round.samples >= LEAST_SAMPLES => {
                let segments = window.cwnd / window.mss;
                let backlog = segments - (segments as f64 * (base_rtt.seconds() / min_rtt.seconds())) as u64;
                if backlog as f64 >= self.parameters.gamma {
                    self.shrink(window, backlog as f64 * self.parameters.zeta);
                } else if window.in_slow_start() {
                    self.follow_newreno(window, ack);
                } else {
                    self.grow(window);
                }
            }
            _ => self.follow_newreno(window, ack),
        }
    }

    /// CongestionStateSet, then GetSsThresh.
    fn reduce(&mut self, window: &mut Window, _flight_size: u64, _now: Time) {
        self.additive.restart();
        self.state = State::FastRecovery;
        let cwnd = window.cwnd as u32;
        if u64::from(cwnd) > u64::from(self.loss_window.wrapping_add(self.delay_window)) {
            self.loss_window = cwnd.wrapping_sub(self.delay_window);
        }
        let left = (f64::from(cwnd) * (1.0 - self.parameters.beta)) as u32;
        self.loss_window /= 2;
        self.delay_window = left.wrapping_sub(self.loss_window);
        window.set_ssthresh(u64::from(left));
    }

    /// After a timeout the loss window is the whole window, and the base RTT the average.
    fn on_timeout(&mut self, window: &mut Window, _now: Time) {
        self.state = State::Loss(None);
        (self.loss_window, self.delay_window) = (window.mss as u32, 0);
        self.base_rtt = self.base_rtt.map(|_| Duration::from_seconds_f64(self.average_rtt));
    }

    /// Takes an RTT and notices the end of a recovery: PktsAcked, EnableCompound.
    fn on_ack(&mut self, window: &Window, ack: &Ack) {
        if let State::Loss(end @ None) = &mut self.state {
            *end = Some(ack.nxt);
        }
        let opens = match self.state {
            State::Open => false,
            State::FastRecovery => true,
            State::Loss(end) => end.is_some_and(|end| ack.una >= end),
        };
        if opens {
            self.state = State::Open;
            self.round = Round { end: ack.nxt, ..Round::default() };
            if self.loss_window == UNSET {
                (self.loss_window, self.delay_window) = (window.cwnd as u32, 0);
            }
        }
        if let Some(rtt) = ack.rtt.filter(|rtt| *rtt > Duration::ZERO) {
            self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
            self.average_rtt += WEIGHT * (rtt.seconds() - self.average_rtt);
            self.round.min_rtt = Some(self.round.min_rtt.map_or(rtt, |least| least.min(rtt)));
            self.round.samples += 1;
        }
    }

    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
        self.increase(window, ack);
        Some(0)
    }

    fn tell_state(&self, _window: &Window, _now: Time, tell: &mut Tell<'_>) {
        let state = CompoundState {
            dwnd: Some(f64::from(self.delay_window)),
            gamma: Some(self.parameters.gamma),
            diff_reno: None,
            base_rtt: self.base_rtt.map(Duration::seconds),
        };
        state.tell(tell);
    }
}

/// Bytes by which the loss window grows each round trip.
fn reno(window: &Window) -> u32 {
    (window.mss * window.mss / window.cwnd).max(1) as u32
}
