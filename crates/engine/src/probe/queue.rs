//! Statistics of a queue, the same for every discipline.

use std::ops::Add;

use super::drop_runs::DropRuns;
use super::loss_epochs::{LossEpochs, Synchronisation};
use super::sojourn::SojournCounts;
use crate::packet::flags;
use crate::queue::{DropCause, Outcome};
use crate::time::{Duration, Time};

/// Counters of packets.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Arrivals at the queue.
    pub arrivals: u64,
    /// Departures to the wire.
    pub departures: u64,
    /// Drops because the queue was at its limit.
    pub drops_overflow: u64,
    /// Early drops by the discipline.
    pub drops_early: u64,
    /// Marks.
    pub marks: u64,
    /// Bytes sent to the wire.
    pub bytes_sent: u64,
}

impl Counts {
    /// Drops of any cause.
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

/// Totals of a queue since the start of the run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct QueueTotals {
    /// Counters of packets.
    pub counts: Counts,
    /// Sum of the sojourn times of the packets sent, in seconds.
    pub sojourn_sum: f64,
}

/// Time integrals of the queue length. The integral of a step function is its last value times the time, less each step
/// times its instant, so an update is an addition.
#[derive(Clone, Copy, Debug, Default)]
struct Integrals {
    packets: i128,
    packets_squared: i128,
    bytes: i128,
}

impl Integrals {
    /// Updates the integrals when a packet joins a queue of this length.
    fn on_join(&mut self, packets: u64, size: u16, now: Time) {
        let now = i128::from(now.0);
        self.packets -= now;
        self.packets_squared -= i128::from(2 * packets + 1) * now;
        self.bytes -= i128::from(size) * now;
    }

    /// Updates the integrals when a packet leaves a queue of this length.
    fn on_leave(&mut self, packets: u64, size: u16, now: Time) {
        let now = i128::from(now.0);
        self.packets += now;
        self.packets_squared += i128::from(2 * packets - 1) * now;
        self.bytes += i128::from(size) * now;
    }

    /// Integrals that start now at this length, as if all packets had joined now.
    fn from_now(packets: u64, bytes: u64, now: Time) -> Integrals {
        let (packets, bytes, now) = (i128::from(packets), i128::from(bytes), i128::from(now.0));
        Integrals { packets: -packets * now, packets_squared: -packets * packets * now, bytes: -bytes * now }
    }

    /// The integrals up to now at this length.
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
    /// The distribution of the sojourn times of the packets sent.
    sojourns: SojournCounts,
    drop_runs: DropRuns,
    /// None if no long-lived flow crosses the link.
    loss_epochs: Option<Box<LossEpochs>>,
}

impl QueueProbe {
    /// A probe that also finds congestion epochs.
    pub fn new(loss_epochs: Option<LossEpochs>) -> QueueProbe {
        QueueProbe { loss_epochs: loss_epochs.map(Box::new), ..QueueProbe::default() }
    }

    /// Records an arrival that is queued.
    #[inline(always)]
    pub fn on_arrival(&mut self, size: u16, now: Time) {
        self.join(size, now);
        self.max_packets = self.max_packets.max(self.packets);
    }

    /// Records an arrival on which the discipline dropped or marked.
    pub fn on_arrival_with(&mut self, outcome: &Outcome, size: u16, now: Time) {
        self.join(size, now);
        self.on_outcome(outcome, now);
        self.max_packets = self.max_packets.max(self.packets);
    }

    /// Records drops and marks.
    pub fn on_outcome(&mut self, outcome: &Outcome, now: Time) {
        for dropped in &outcome.dropped {
            self.leave(dropped.packet.size, now);
            let is_arriving = dropped.queued_since.is_none();
            self.drop_runs.on_drop(is_arriving, self.window.arrivals, self.window.departures);
            if let Some(epochs) = &mut self.loss_epochs
                && dropped.packet.has(flags::DATA)
            {
                epochs.on_loss(dropped.packet.flow, self.bytes, now);
            }
            match dropped.cause {
                DropCause::Overflow => self.window.drops_overflow += 1,
                DropCause::Early => self.window.drops_early += 1,
            }
        }
        self.window.marks += outcome.marks;
    }

    /// Records a departure that occupies the transmitter for `transmission`.
    #[inline(always)]
    pub fn on_departure(&mut self, size: u16, sojourn: Duration, transmission: Duration, now: Time) {
        self.leave(size, now);
        self.count_departure(size, sojourn, transmission);
    }

    /// Records that the transmitter was busy with something else than packets.
    pub fn on_overhead(&mut self, time: Duration) {
        self.busy = self.busy + time;
    }

    /// Records a packet that bypasses the empty queue.
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

    /// The totals since the start of the run.
    pub fn totals(&self) -> QueueTotals {
        QueueTotals {
            counts: self.before_window + self.window,
            sojourn_sum: (self.sojourn_sum_before_window + self.sojourn_sum) as f64 * 1e-12,
        }
    }

    /// The distribution of the sojourn times: times in seconds, and packets up to there.
    pub fn sojourns(&self) -> Vec<(f64, u64)> {
        let histogram = self.sojourns.histogram();
        let buckets = histogram.iter_recorded();
        buckets.map(|bucket| (bucket.value_iterated_to() as f64 * 1e-9, bucket.count_at_value())).collect()
    }

    /// The current queue length, in packets and bytes.
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

    /// Starts the measuring window. `remaining` is the time for which the transmitter is still busy with departed
    /// packets.
    pub fn open_window(&mut self, now: Time, remaining: Duration) {
        let counts = self.window;
        let (packets, bytes) = (self.packets, self.bytes);
        let mut loss_epochs = self.loss_epochs.take();
        if let Some(epochs) = &mut loss_epochs {
            epochs.open_window();
        }
        *self = QueueProbe {
            window_opened: now,
            integrals: Integrals::from_now(packets, bytes, now),
            packets,
            bytes,
            max_packets: packets,
            before_window: counts,
            sojourn_sum_before_window: self.sojourn_sum,
            busy: remaining,
            loss_epochs,
            ..QueueProbe::default()
        };
    }

    /// Ends the measurement. `remaining` is the time for which the transmitter would still be busy with departed
    /// packets.
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
            drop_runs: self.drop_runs.runs,
            longest_drop_run: self.drop_runs.longest,
            synchronisation: self.loss_epochs.and_then(|epochs| epochs.synchronisation()),
        }
    }
}

/// Sojourn times of the packets sent, in seconds. Quantiles are accurate to 1 %.
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
    /// Maximum.
    pub max: f64,
}

/// Statistics of a queue in the measuring window.
#[derive(Clone, Debug)]
pub struct QueueStatistics {
    /// Counters in the window.
    pub window: Counts,
    /// Counters before the window.
    pub before_window: Counts,
    /// Time-weighted mean length in packets.
    pub mean_packets: f64,
    /// Time-weighted standard deviation of the length in packets.
    pub sd_packets: f64,
    /// Maximum length in packets.
    pub max_packets: u64,
    /// Time-weighted mean length in bytes.
    pub mean_bytes: f64,
    /// Share of the time in which the transmitter was busy; of a link whose rate changes, what it carried over what it could have.
    pub busy_share: f64,
    /// Sojourn times, `None` if no packet was sent.
    pub sojourn: Option<SojournTimes>,
    /// Packets in the queue at the end.
    pub queued_at_end: u64,
    /// Runs of drops.
    pub drop_runs: u64,
    /// Packets of the longest run.
    pub longest_drop_run: u64,
    /// How far flows lose packets together; `None` if no long-lived flow lost any.
    pub synchronisation: Option<Synchronisation>,
}
