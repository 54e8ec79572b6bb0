//! Statistics around a queue, the same for every discipline.

use hdrhistogram::Histogram;

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

/// Sums over time of a queue's length.
#[derive(Clone, Copy, Debug, Default)]
struct Integrals {
    packets: u128,
    packets_squared: u128,
    bytes: u128,
}

/// Streaming statistics of one queue.
#[derive(Debug)]
pub struct QueueProbe {
    window_opened: Time,
    last_change: Time,
    packets: u64,
    bytes: u64,
    max_packets: u64,
    integrals: Integrals,
    busy: Duration,
    window: Counts,
    before_window: Counts,
    sojourn_sum: u128,
    sojourn_max: Duration,
    /// Sojourn times of the packets sent, in nanoseconds.
    sojourns: Histogram<u32>,
}

/// Two significant digits: quantiles are within 1 %.
const SIGNIFICANT_DIGITS: u8 = 2;

/// In nanoseconds: quarter of an hour. Longer sojourns count as this long.
const LONGEST_SOJOURN: u64 = 900_000_000_000;

impl Default for QueueProbe {
    fn default() -> Self {
        QueueProbe {
            window_opened: Time::ZERO,
            last_change: Time::ZERO,
            packets: 0,
            bytes: 0,
            max_packets: 0,
            integrals: Integrals::default(),
            busy: Duration::ZERO,
            window: Counts::default(),
            before_window: Counts::default(),
            sojourn_sum: 0,
            sojourn_max: Duration::ZERO,
            sojourns: Histogram::new_with_bounds(1, LONGEST_SOJOURN, SIGNIFICANT_DIGITS)
                .expect("the bounds and two significant digits are allowed"),
        }
    }
}

impl QueueProbe {
    /// The queue's length has changed.
    pub fn on_length(&mut self, packets: u64, bytes: u64, now: Time) {
        self.integrate(now);
        self.packets = packets;
        self.bytes = bytes;
        self.max_packets = self.max_packets.max(packets);
    }

    fn integrate(&mut self, now: Time) {
        let elapsed = u128::from(now.since(self.last_change).0);
        self.integrals.packets += u128::from(self.packets) * elapsed;
        self.integrals.packets_squared += u128::from(self.packets * self.packets) * elapsed;
        self.integrals.bytes += u128::from(self.bytes) * elapsed;
        self.last_change = now;
    }

    /// Packets that came and neither left nor were dropped, by the counts of the whole run.
    pub fn balance(&self) -> u64 {
        let stayed = |counts: &Counts| {
            i128::from(counts.arrivals) - i128::from(counts.departures + counts.drops_overflow + counts.drops_early)
        };
        (stayed(&self.before_window) + stayed(&self.window)) as u64
    }

    /// A packet came to the queue.
    pub fn on_arrival(&mut self) {
        self.window.arrivals += 1;
    }

    /// A packet leaves the queue and occupies the transmitter for `transmission`.
    pub fn on_departure(&mut self, size: u16, sojourn: Duration, transmission: Duration) {
        self.window.departures += 1;
        self.window.bytes_sent += u64::from(size);
        self.busy = self.busy + transmission;
        self.sojourn_sum += u128::from(sojourn.0);
        self.sojourn_max = self.sojourn_max.max(sojourn);
        self.sojourns.saturating_record(sojourn.0 / 1000);
    }

    /// The discipline dropped or marked.
    pub fn on_outcome(&mut self, outcome: &Outcome) {
        for dropped in &outcome.dropped {
            match dropped.cause {
                DropCause::Overflow => self.window.drops_overflow += 1,
                DropCause::Early => self.window.drops_early += 1,
            }
        }
        self.window.marks += outcome.marks;
    }

    /// The measuring window opens, while the transmitter is busy until `busy_until`.
    pub fn open_window(&mut self, now: Time, busy_until: Time) {
        let counts = self.window;
        let (packets, bytes) = (self.packets, self.bytes);
        *self = QueueProbe {
            window_opened: now,
            last_change: now,
            packets,
            bytes,
            max_packets: packets,
            before_window: counts,
            busy: busy_until.since(now),
            ..QueueProbe::default()
        };
    }

    /// The run ends, while the transmitter is busy until `busy_until`.
    pub fn close(mut self, now: Time, busy_until: Time) -> QueueStatistics {
        self.integrate(now);
        let elapsed = now.since(self.window_opened).0;
        let mean = |sum: u128| if elapsed == 0 { 0.0 } else { sum as f64 / elapsed as f64 };
        let mean_packets = mean(self.integrals.packets);
        let variance = mean(self.integrals.packets_squared) - mean_packets * mean_packets;
        let busy = self.busy - busy_until.since(now);
        let longest = self.sojourn_max.seconds();
        let quantile = |quantile: f64| (self.sojourns.value_at_quantile(quantile) as f64 * 1e-9).min(longest);
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
            mean_bytes: mean(self.integrals.bytes),
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
