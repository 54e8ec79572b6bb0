//! BBR in ns-3 tcp-bbr.cc: what the socket and its rate sample make of it. Amounts are in bytes.

use crate::tcp::congestion::{Delivery, RateSample};
use crate::time::{Duration, Time};

/// The whole number that a phase of PROBE_BW is drawn below: EnterProbeBW takes the whole part of a draw from 0 to 6.
pub const FIRST_PHASES: u64 = 6;

/// Bytes after which the count of aggregation restarts; of segments in Linux: AckEpochAckedResetThresh.
const EPOCH: u64 = 1 << 12;

/// Segments of the window beyond a multiple of the BDP, and besides them in the phase that probes: InFlight.
const QUANTA: u64 = 3;
const PROBING: u64 = 2;

/// A multiple of the BDP with the room that ns-3 adds.
pub fn inflight(bdp: f64, is_probing: bool, mss: u64) -> u64 {
    bdp as u64 + QUANTA * mss + if is_probing { PROBING * mss } else { 0 }
}

/// The change of what is lost and not repaired, whichever way: a repaired segment counts as lost once more
/// (tcp-socket-base.cc, ReceivedAck).
pub fn lost(delivery: &Delivery) -> u64 {
    delivery.unrepaired.abs_diff(delivery.prior_unrepaired)
}

/// The window grown by what is delivered, in 32 bits: one that the end of a recovery before the pipe is full has set to
/// the initial ssthresh begins at zero again.
pub fn grown(cwnd: u64, delivered: u64) -> u64 {
    u64::from((cwnd as u32).wrapping_add(delivered as u32))
}

/// What ns-3 keeps for BBR in its socket.
///
/// The rate sample of tcp-rate-ops.cc, GenerateSample and SkbDelivered, outlives its acknowledgement: one that delivers
/// only what was sent before the sample's segment extends it by its bytes, while its interval stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Socket {
    sample: Option<Sample>,
    /// The latest rate that was not limited by the application, or was above the latest: m_deliveryRate.
    rate: f64,
    min_srtt: Option<Duration>,
    last_rtt: Option<Duration>,
    /// Of aggregation: m_ackEpochTime and m_ackEpochAcked.
    epoch: Time,
    epoch_acked: u64,
    /// State CA_LOSS, after a timeout.
    is_in_loss: bool,
}

#[derive(Clone, Copy, Debug)]
struct Sample {
    prior_delivered: u64,
    /// None if it was shorter than the minimum RTT.
    interval: Option<Duration>,
    app_limited: bool,
}

/// What the sample shows after an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Shown {
    pub prior_delivered: u64,
    pub app_limited: bool,
    pub rate: f64,
}

impl Socket {
    /// Takes in an acknowledgement. None if the sample shows no rate.
    pub fn take(&mut self, delivery: &Delivery, is_limited: impl FnOnce(&RateSample) -> bool) -> Option<Shown> {
        self.last_rtt = delivery.rtt.or(self.last_rtt);
        let srtt = Some(delivery.srtt).filter(|srtt| *srtt > Duration::ZERO);
        self.min_srtt = [self.min_srtt, srtt].into_iter().flatten().min();
        if let Some(newer) = delivery.rate
            && self.sample.is_none_or(|sample| newer.prior_delivered > sample.prior_delivered)
        {
            // The minimum RTT is that of smoothed ones.
            let interval = newer.interval.filter(|interval| self.min_srtt.is_none_or(|least| *interval >= least));
            self.sample =
                Some(Sample { prior_delivered: newer.prior_delivered, interval, app_limited: is_limited(&newer) });
        }
        let Sample { prior_delivered, interval, app_limited } = self.sample?;
        let rate = (delivery.total_delivered - prior_delivered) as f64 / interval?.seconds();
        if !app_limited || rate >= self.rate {
            self.rate = rate;
        }
        Some(Shown { prior_delivered, app_limited, rate: self.rate })
    }

    /// Whether the sample shows a rate.
    pub fn shows(&self) -> bool {
        self.sample.is_some_and(|sample| sample.interval.is_some())
    }

    /// Whether the sample tells of the sender rather than of the path.
    pub fn is_app_limited(&self) -> bool {
        self.sample.is_some_and(|sample| sample.app_limited)
    }

    /// m_lastRtt.
    pub fn last_rtt(&self) -> Option<Duration> {
        self.last_rtt
    }

    /// The excess of an acknowledgement over what the bandwidth explains in whole seconds, at most the window.
    pub fn excess(&mut self, delivery: &Delivery, bandwidth: f64, cwnd: u64) -> u64 {
        let seconds = delivery.now.since(self.epoch).seconds().floor();
        let mut expected = (bandwidth * seconds) as u64;
        if self.epoch_acked <= expected || self.epoch_acked + delivery.delivered >= EPOCH {
            (self.epoch, self.epoch_acked) = (delivery.now, 0);
            expected = 0;
        }
        self.epoch_acked += delivery.delivered;
        (self.epoch_acked - expected).min(cwnd)
    }

    /// Losses are repaired after a timeout, as state CA_LOSS has it and not CA_RECOVERY.
    pub fn on_timeout(&mut self) {
        self.is_in_loss = true;
    }

    /// Whether fast recovery is under way: state CA_RECOVERY.
    pub fn is_repairing(&mut self, delivery: &Delivery) -> bool {
        self.is_in_loss &= delivery.in_recovery;
        delivery.in_recovery && !self.is_in_loss
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1448;

    fn delivery(total_delivered: u64, rate: Option<(u64, u64)>) -> Delivery {
        let sample = |(prior_delivered, milliseconds)| RateSample {
            prior_delivered,
            interval: Some(Duration::from_milliseconds(milliseconds)),
            ..RateSample::default()
        };
        Delivery { total_delivered, delivered: MSS, rate: rate.map(sample), ..Delivery::default() }
    }

    /// SkbDelivered and GenerateSample: an acknowledgement of what was sent before the sample's segment adds its bytes to
    /// the sample and leaves its interval, so that the rate is too high; one of a later segment replaces it.
    #[test]
    fn sample_outlives_its_acknowledgement() {
        let mut socket = Socket::default();
        let mut rate = |delivery| socket.take(&delivery, |_| false).map(|shown| shown.rate);
        assert_eq!(rate(delivery(20_000, Some((10_000, 100)))), Some(100_000.0));
        assert_eq!(rate(delivery(30_000, Some((5_000, 100)))), Some(200_000.0));
        assert_eq!(rate(delivery(40_000, None)), Some(300_000.0));
        assert_eq!(rate(delivery(50_000, Some((30_000, 100)))), Some(200_000.0));
    }

    /// ReceivedAck: the repair of a lost segment counts as a loss once more.
    #[test]
    fn repairs_count_as_losses() {
        let of = |prior_unrepaired, unrepaired| lost(&Delivery { prior_unrepaired, unrepaired, ..Delivery::default() });
        assert_eq!(of(0, MSS), MSS);
        assert_eq!(of(MSS, 0), MSS);
        assert_eq!(of(MSS, MSS), 0);
    }

    /// AckEpochAckedResetThresh is 4096 bytes, and what the bandwidth explains is of whole seconds: the excess is what an
    /// acknowledgement delivers, two segments of 1448 bytes at the most if it delivers one, whatever the bandwidth.
    #[test]
    fn aggregation_is_of_few_segments() {
        let mut socket = Socket::default();
        let excesses: Vec<u64> = (1..6).map(|_| socket.excess(&delivery(0, None), 1e6, 100 * MSS)).collect();
        assert_eq!(excesses, [MSS, 2 * MSS, MSS, 2 * MSS, MSS]);
    }
}
