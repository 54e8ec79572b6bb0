//! Statistics around a queue, the same for every discipline.

use std::ops::Add;

use super::sojourn::SojournCounts;
use crate::queue::{DropCause, Outcome};
use crate::time::{Duration, Time};

/// Counts of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Came to the queue.
    pub arrivals: u64,
    /// Left it for the wire.
    pub departures: u64,
    /// Dropped because the queue was at its limit.
    pub drops_overflow: u64,
    /// Dropped by the discipline's choice.
    pub drops_early: u64,
    /// Marked.
    pub marks: u64,
    /// Bytes that left for the wire.
    pub bytes_sent: u64,
}

impl Counts {
    /// Dropped for any cause.
    pub fn drops(&self) -> u64 {
        self.drops_overflow + self.drops_early
    }
}

impl Add for Counts {
    type Output = Counts;

    fn add(self, other: Counts) -> Counts {
        Counts {
            arrivals: self.arrivals + other.arrivals,
            departures: self.departures + other.departures,
            drops_overflow: self.drops_overflow + other.drops_overflow,
            drops_early: self.drops_early + other.drops_early,
            marks: self.marks + other.marks,
            bytes_sent: self.bytes_sent + other.bytes_sent,
        }
    }
}

/// What a queue did since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueTotals {
    /// Counts of packets.
    pub counts: Counts,
    /// Sojourn times of the packets sent, in seconds, added up.
    pub sojourn_sum: f64,
}

/// Integrals over time of a queue's length. That of any step function is its last value times the time, less each step
/// times its moment, so that a step takes a sum.
#[derive(Clone, Copy, Debug, Default)]
struct Integrals {
    packets: i128,
    packets_squared: i128,
    bytes: i128,
}

impl Integrals {
    /// A packet joins a queue of this length.
    fn on_join(&mut self, packets: u64, size: u16, now: Time) {
        let now = i128::from(now.0);
        self.packets -= now;
        self.packets_squared -= i128::from(2 * packets + 1) * now;
        self.bytes -= i128::from(size) * now;
    }

    /// A packet leaves a queue of this length.
    fn on_leave(&mut self, packets: u64, size: u16, now: Time) {
        let now = i128::from(now.0);
        self.packets += now;
        self.packets_squared += i128::from(2 * packets - 1) * now;
        self.bytes += i128::from(size) * now;
    }

    /// Integrals that start now, at this length: as if all packets had joined now.
    fn from_now(packets: u64, bytes: u64, now: Time) -> Integrals {
        let (packets, bytes, now) = (i128::from(packets), i128::from(bytes), i128::from(now.0));
        Integrals { packets: -packets * now, packets_squared: -packets * packets * now, bytes: -bytes * now }
    }

    /// The integrals up to now, at this current length.
    fn up_to(&self, packets: u64, bytes: u64, now: Time) -> Integrals {
        let (packets, bytes, now) = (i128::from(packets), i128::from(bytes), i128::from(now.0));
        Integrals {
            packets: self.packets + packets * now,
            packets_squared: self.packets_squared + packets * packets * now,
            bytes: self.bytes + bytes * now,
        }
    }
}

/// Streaming statistics of one queue.
#[derive(Debug, Default)]
pub struct QueueProbe {
    window_opened: Time,
    packets: u64,
    bytes: u64,
    max_packets: u64,
    integrals: Integrals,
    busy: Duration,
    window: Counts,
    before_window: Counts,
    sojourn_sum: u128,
    sojourn_sum_before_window: u128,
    sojourn_max: Duration,
    /// Sojourn times of the packets sent.
    sojourns: SojournCounts,
}

impl QueueProbe {
    /// A packet came to the queue and is in it.
    #[inline(always)]
    pub fn on_arrival(&mut self, size: u16, now: Time) {
        self.join(size, now);
        self.max_packets = self.max_packets.max(self.packets);
    }

    /// A packet came to the queue, and the discipline dropped or marked.
    pub fn on_arrival_with(&mut self, outcome: &Outcome, size: u16, now: Time) {
        self.join(size, now);
        self.on_outcome(outcome, now);
        self.max_packets = self.max_packets.max(self.packets);
    }

    /// The discipline dropped or marked.
    pub fn on_outcome(&mut self, outcome: &Outcome, now: Time) {
        for dropped in &outcome.dropped {
            self.leave(dropped.packet.size, now);
            match dropped.cause {
                DropCause::Overflow => self.window.drops_overflow += 1,
                DropCause::Early => self.window.drops_early += 1,
            }
        }
        self.window.marks += outcome.marks;
    }

    /// A packet leaves the queue and occupies the transmitter for `transmission`.
    #[inline(always)]
    pub fn on_departure(&mut self, size: u16, sojourn: Duration, transmission: Duration, now: Time) {
        self.leave(size, now);
        self.count_departure(size, sojourn, transmission);
    }

    /// A packet passes through the empty queue.
    pub fn on_passage(&mut self, size: u16, transmission: Duration) {
        self.window.arrivals += 1;
        self.max_packets = self.max_packets.max(1);
        self.count_departure(size, Duration::ZERO, transmission);
    }

    #[inline(always)]
    fn count_departure(&mut self, size: u16, sojourn: Duration, transmission: Duration) {
        self.window.departures += 1;
        self.window.bytes_sent += u64::from(size);
        self.busy = self.busy + transmission;
        self.sojourn_sum += u128::from(sojourn.0);
        self.sojourn_max = self.sojourn_max.max(sojourn);
        self.sojourns.record(sojourn);
    }

    /// What the queue did since the start of the run.
    pub fn totals(&self) -> QueueTotals {
        QueueTotals {
            counts: self.before_window + self.window,
            sojourn_sum: (self.sojourn_sum_before_window + self.sojourn_sum) as f64 * 1e-12,
        }
    }

    /// Packets and bytes that came and neither left nor were dropped.
    pub fn length(&self) -> (u64, u64) {
        (self.packets, self.bytes)
    }

    fn join(&mut self, size: u16, now: Time) {
        self.window.arrivals += 1;
        self.integrals.on_join(self.packets, size, now);
        self.packets += 1;
        self.bytes += u64::from(size);
    }

    fn leave(&mut self, size: u16, now: Time) {
        self.integrals.on_leave(self.packets, size, now);
        self.packets -= 1;
        self.bytes -= u64::from(size);
    }

    /// The measuring window opens. `remaining` is the time for which the transmitter will be busy with packets that left.
    pub fn open_window(&mut self, now: Time, remaining: Duration) {
        let counts = self.window;
        let (packets, bytes) = (self.packets, self.bytes);
        *self = QueueProbe {
            window_opened: now,
            integrals: Integrals::from_now(packets, bytes, now),
            packets,
            bytes,
            max_packets: packets,
            before_window: counts,
            sojourn_sum_before_window: self.sojourn_sum,
            busy: remaining,
            ..QueueProbe::default()
        };
    }

    /// The run ends. `remaining` is the time for which the transmitter would still be busy with packets that left.
    pub fn close(self, now: Time, remaining: Duration) -> QueueStatistics {
        let integrals = self.integrals.up_to(self.packets, self.bytes, now);
        let elapsed = now.since(self.window_opened).0;
        let mean = |sum: i128| if elapsed == 0 { 0.0 } else { sum as f64 / elapsed as f64 };
        let mean_packets = mean(integrals.packets);
        let variance = mean(integrals.packets_squared) - mean_packets * mean_packets;
        let busy = self.busy - remaining;
        let longest = self.sojourn_max.seconds();
        let histogram = self.sojourns.histogram();
        let quantile = |quantile: f64| (histogram.value_at_quantile(quantile) as f64 * 1e-9).min(longest);
        let sojourn = (self.window.departures > 0).then(|| SojournTimes {
            mean: self.sojourn_sum as f64 / self.window.departures as f64 * 1e-12,
            p50: quantile(0.5),
            p95: quantile(0.95),
            p99: quantile(0.99),
            max: longest,
        });
        QueueStatistics {
            window: self.window,
            before_window: self.before_window,
            mean_packets,
            sd_packets: variance.max(0.0).sqrt(),
            max_packets: self.max_packets,
            mean_bytes: mean(integrals.bytes),
            busy_share: if elapsed == 0 { 0.0 } else { busy.0 as f64 / elapsed as f64 },
            sojourn,
            queued_at_end: self.packets,
        }
    }
}

/// Sojourn times in seconds of the packets sent; quantiles within 1 %.
#[derive(Clone, Copy, Debug)]
pub struct SojournTimes {
    /// Mean.
    pub mean: f64,
    /// Median.
    pub p50: f64,
    /// 95th percentile.
    pub p95: f64,
    /// 99th percentile.
    pub p99: f64,
    /// The longest.
    pub max: f64,
}

/// What a queue did in the measuring window.
#[derive(Clone, Debug)]
pub struct QueueStatistics {
    /// In the window.
    pub window: Counts,
    /// Before it.
    pub before_window: Counts,
    /// Time-weighted mean length.
    pub mean_packets: f64,
    /// Time-weighted standard deviation of the length.
    pub sd_packets: f64,
    /// Greatest length.
    pub max_packets: u64,
    /// Time-weighted mean length in bytes.
    pub mean_bytes: f64,
    /// Share of the time that the transmitter was busy.
    pub busy_share: f64,
    /// None if no packet was sent.
    pub sojourn: Option<SojournTimes>,
    /// Packets left in the queue.
    pub queued_at_end: u64,
}
