//! Hybrid slow start: Ha and Rhee, "Taming the elephants: New TCP slow start", Computer Networks 55 (2011). Slow start
//! ends when an acknowledgement train lasts half a round trip, or when the round-trip time increases.

use crate::about::About;
use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// The window, in segments, below which slow start does not end: Linux tcp_cubic.c, hystart_low_window.
const LOW_WINDOW: u64 = 16;
/// The maximum spacing of acknowledgements in a train: Linux tcp_cubic.c, hystart_ack_delta_us.
const TRAIN_SPACING: Duration = Duration::from_milliseconds(2);
/// The number of samples of a round before its round-trip time counts: Linux tcp_cubic.c, HYSTART_MIN_SAMPLES.
const SAMPLES: u32 = 8;
/// What a train may be longer than the minimum RTT, before it is halved, for segments that the network card of the other
/// end joins: Linux tcp_cubic.c, hystart_ack_delay, below 262 Mbyte/s.
const TRAIN_CUSHION: Duration = Duration::from_milliseconds(1);
/// Bounds of the RTT increase that ends slow start: Linux tcp_cubic.c, HYSTART_DELAY_MIN and HYSTART_DELAY_MAX.
const LEAST_RISE: Duration = Duration::from_milliseconds(4);
const GREATEST_RISE: Duration = Duration::from_milliseconds(16);

/// The HyStart slow start algorithm.
#[derive(Clone, Debug, Default)]
pub struct HyStart {
    min_rtt: Option<Duration>,
    round: Option<Round>,
}

impl HyStart {
    /// Name, aliases, source and deviations.
    pub const ABOUT: About = About {
        name: "hystart",
        aliases: &[],
        title: "HyStart",
        class: "hybrid",
        year: 2011,
        source: "Ha and Rhee, Computer Networks 55 (2011); constants of Linux tcp_cubic.c",
        deviations: "as in Linux: an ACK train may be half a millisecond longer than half the minimum RTT, the RTT may \
                     rise by an eighth of it, and what happens below 16 segments is not seen; Linux halves the length \
                     only without pacing",
    };
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
    samples: u32,
}

impl HyStart {
    /// Whether this acknowledgement, which has not yet increased the window, shows that slow start should end: Linux
    /// tcp_cubic.c, cubictcp_acked and hystart_update.
    pub fn pipe_is_full(&mut self, window: &Window, ack: &Ack) -> bool {
        let Some(rtt) = ack.rtt else { return false };
        let min_rtt = self.min_rtt.map_or(rtt, |min_rtt| min_rtt.min(rtt));
        self.min_rtt = Some(min_rtt);
        let new_round = Round { end: ack.nxt, start: ack.now, train: ack.now, rtt: Duration(u64::MAX), samples: 0 };
        // A round starts with the acknowledgement after its predecessor's last one. With that last one, the train would
        // start before a pause.
        let round = match &mut self.round {
            Some(round) if ack.una <= round.end => round,
            ended => ended.insert(new_round),
        };
        if window.cwnd < LOW_WINDOW * window.mss {
            return false;
        }
        let mut train_is_long = false;
        if ack.now.since(round.train) <= TRAIN_SPACING {
            round.train = ack.now;
            train_is_long = ack.now.since(round.start) > Duration((min_rtt + TRAIN_CUSHION).0 / 2);
        }
        round.rtt = round.rtt.min(rtt);
        let is_measured = round.samples == SAMPLES;
        round.samples = (round.samples + 1).min(SAMPLES);
        let rise = Duration(min_rtt.0 / 8).clamp(LEAST_RISE, GREATEST_RISE);
        train_is_long || is_measured && round.rtt > min_rtt + rise
    }
}
