//! Hybrid slow start: Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55 (2011). Slow start
//! ends when an acknowledgement train lasts half a round trip, or when the round-trip time increases.

use std::sync::Arc;

use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

parameters! {
    pub struct HyStartParameters {
        low_window: u64 = 16, in 0 .. 1000000, "Window, in segments, below which slow start does not end", "Linux tcp_cubic.c, hystart_low_window";
        train_spacing: Duration = Duration::from_milliseconds(2), in 0 .. 1e15, "Longest time between acknowledgements of a train", "Linux tcp_cubic.c, hystart_ack_delta_us";
        train_cushion: Duration = Duration::from_milliseconds(1), in 0 .. 1e15, "Added to the minimum RTT before the length of a train is compared with it", "Linux tcp_cubic.c, hystart_ack_delay, below 262 Mbyte/s: for segments that the network card of the other end joins";
        train_divisor: u64 = 2, in 1 .. 1000, "Slow start ends when a train lasts the minimum RTT over this", "Ha and Rhee 2011 section 3.1: half the RTT; Linux tcp_cubic.c, hystart_update";
        delay_samples: u64 = 8, in 1 .. 1000, "RTT samples of a round before its RTT counts", "Linux tcp_cubic.c, HYSTART_MIN_SAMPLES";
        delay_divisor: u64 = 8, in 1 .. 1000, "Slow start ends when a round's RTT rises by the minimum RTT over this", "Linux tcp_cubic.c, HYSTART_DELAY_THRESH";
        delay_minimum: Duration = Duration::from_milliseconds(4), in 0 .. 1e15, "Least rise of the RTT that ends slow start", "Linux tcp_cubic.c, HYSTART_DELAY_MIN";
        delay_maximum: Duration = Duration::from_milliseconds(16), in 0 .. 1e15, "Greatest rise of the RTT that is needed to end slow start", "Linux tcp_cubic.c, HYSTART_DELAY_MAX";
    }
}

#[derive(Clone, Debug, Default)]
pub struct HyStart {
    parameters: Arc<HyStartParameters>,
    min_rtt: Option<Duration>,
    round: Option<Round>,
}

about! { HyStart:
    name: "hystart",
    title: "HyStart",
    class: "hybrid",
    year: 2011,
    source: "Ha and Rhee, Computer Networks 55 (2011); constants of Linux tcp_cubic.c",
    deviations: "as in Linux: an ACK train may be half a millisecond longer than half the minimum RTT, the RTT may \
                 rise by an eighth of it, and what happens below 16 segments is not seen; Linux halves the length only \
                 without pacing",
}

/// One window of data.
#[derive(Clone, Copy, Debug)]
struct Round {
    /// The first sequence number after the round.
    end: u64,
    start: Time,
    /// Time of the last acknowledgement of the train that began with the round.
    train: Time,
    /// The minimum of the samples.
    rtt: Duration,
    samples: u64,
}

impl HyStart {
    pub(super) fn new(parameters: Arc<HyStartParameters>) -> HyStart {
        HyStart { parameters, min_rtt: None, round: None }
    }

    /// Forgets what was measured: slow start begins again.
    pub fn restart(&mut self) {
        self.min_rtt = None;
        self.round = None;
    }

    /// Whether this acknowledgement, which has not yet increased the window, shows that slow start should end: Linux
    /// tcp_cubic.c, cubictcp_acked and hystart_update.
    pub fn pipe_is_full(&mut self, window: &Window, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let parameters = &*self.parameters;
        let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
        self.min_rtt = Some(min_rtt);
        let new_round = Round { end: ack.nxt, start: ack.now, train: ack.now, rtt: Duration(u64::MAX), samples: 0 };
        // A round starts with the acknowledgement after its predecessor's last one. With that last one, the train would
        // start before a pause.
        let round = match &mut self.round {
            Some(round) if ack.una <= round.end => round,
            ended => ended.insert(new_round),
        };
        if window.cwnd < parameters.low_window * window.mss {
            return false;
        }
        let mut train_is_long = false;
        if ack.now.since(round.train) <= parameters.train_spacing {
            round.train = ack.now;
            let longest = Duration((min_rtt + parameters.train_cushion).0 / parameters.train_divisor);
            train_is_long = ack.now.since(round.start) > longest;
        }
        round.rtt = round.rtt.min(rtt);
        let is_measured = round.samples == parameters.delay_samples;
        round.samples = (round.samples + 1).min(parameters.delay_samples);
        let rise =
            Duration(min_rtt.0 / parameters.delay_divisor).max(parameters.delay_minimum).min(parameters.delay_maximum);
        train_is_long || is_measured && round.rtt > min_rtt + rise
    }
}
