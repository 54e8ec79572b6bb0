//! BBR in ns-3 tcp-bbr.cc, with what the socket and its rate sample make of it. Amounts are in bytes.

use super::control::{Control, INITIAL_SEGMENTS, Mode, Variant};
use crate::tcp::congestion::model::{HeldBack, WindowedMaximum};
use crate::tcp::congestion::{Delivery, RateSample};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Bytes after which the count of aggregation restarts; of segments in Linux: AckEpochAckedResetThresh.
const EPOCH: u64 = 1 << 12;

/// Segments of the window beyond a multiple of the BDP, and besides them in the phase that probes: InFlight.
const QUANTA: u64 = 3;
const PROBING: u64 = 2;

/// What ns-3 keeps for BBR in its socket.
///
/// The rate sample of tcp-rate-ops.cc, GenerateSample and SkbDelivered, outlives its acknowledgement: one that delivers
/// only what was sent before the sample's segment extends it by its bytes, while its interval stays.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ns3 {
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
struct Shown {
    prior_delivered: u64,
    app_limited: bool,
    rate: f64,
}

impl Ns3 {
    /// Takes in an acknowledgement. None if the sample shows no rate.
    fn take(&mut self, delivery: &Delivery, is_limited: impl FnOnce(&RateSample) -> bool) -> Option<Shown> {
        self.last_rtt = delivery.rtt.or(self.last_rtt);
        let srtt = Some(delivery.srtt).filter(|srtt| *srtt > Duration::ZERO);
        self.min_srtt = [self.min_srtt, srtt].into_iter().flatten().min();
        if let Some(newer) = delivery.rate {
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

    /// Whether fast recovery is under way: state CA_RECOVERY.
    fn is_repairing(&mut self, delivery: &Delivery) -> bool {
        self.is_in_loss &= delivery.in_recovery;
        delivery.in_recovery && !self.is_in_loss
    }

    /// The excess of an acknowledgement over what the bandwidth explains in whole seconds, at most the window.
    fn excess(&mut self, delivery: &Delivery, bandwidth: f64, cwnd: u64) -> u64 {
        let seconds = delivery.now.since(self.epoch).seconds().floor();
        let mut expected = (bandwidth * seconds) as u64;
        if self.epoch_acked <= expected || self.epoch_acked + delivery.delivered >= EPOCH {
            (self.epoch, self.epoch_acked) = (delivery.now, 0);
            expected = 0;
        }
        self.epoch_acked += delivery.delivered;
        (self.epoch_acked - expected).min(cwnd)
    }
}

impl Variant for Ns3 {
    type Bandwidth = WindowedMaximum;

    /// EnterProbeBW takes the whole part of a draw from 0 to 6.
    const FIRST_PHASES: u64 = 6;
    const COMMON_RANDOM: bool = true;
    const SAMPLES_AS_NS3: bool = true;
    const TAKES_HANDSHAKE: bool = true;

    fn quantum(_bbr: &Control<Ns3>, _mss: u64) -> u64 {
        1
    }

    /// InFlight.
    fn inflight(bbr: &Control<Ns3>, gain: f64, mss: u64) -> u64 {
        let Some(min_rtt) = bbr.min_rtt else { return INITIAL_SEGMENTS * mss };
        let bdp = gain * bbr.bandwidth.get() * min_rtt.seconds();
        bdp as u64 + QUANTA * mss + if bbr.mode == (Mode::ProbeBw { phase: 0 }) { PROBING * mss } else { 0 }
    }

    /// UpdateBottleneckBandwidth. A sample that shows no rate leaves the round as it is.
    fn update_bandwidth(bbr: &mut Control<Ns3>, delivery: &Delivery) {
        let held_back = &bbr.held_back;
        let Some(shown) = bbr.variant.take(delivery, |sample| held_back.is_app_limited(sample)) else { return };
        bbr.round_start = bbr.rounds.update(shown.prior_delivered, delivery.total_delivered);
        bbr.conserves &= !bbr.round_start;
        bbr.take_rate(shown.rate, shown.app_limited);
    }

    fn shows_rate(&self, delivery: &Delivery) -> bool {
        delivery.delivered > 0 && self.sample.is_some_and(|sample| sample.interval.is_some())
    }

    fn is_app_limited(&self, _delivery: &Delivery, _held_back: &HeldBack) -> bool {
        self.sample.is_some_and(|sample| sample.app_limited)
    }

    fn excess(bbr: &mut Control<Ns3>, window: &Window, delivery: &Delivery, bandwidth: f64) -> u64 {
        bbr.variant.excess(delivery, bandwidth, window.cwnd)
    }

    /// The change of what is lost and not repaired, whichever way: a repaired segment counts as lost once more
    /// (tcp-socket-base.cc, ReceivedAck).
    fn lost(delivery: &Delivery) -> u64 {
        delivery.unrepaired.abs_diff(delivery.prior_unrepaired)
    }

    /// m_lastRtt.
    fn rtt(&self, _delivery: &Delivery) -> Option<Duration> {
        self.last_rtt
    }

    /// CongestionStateSet, CwndEvent and SetCwnd. What is lost counts in fast recovery only, and its end sets the window to
    /// ssthresh, the data in flight where DRAIN began.
    fn grow(bbr: &mut Control<Ns3>, window: &mut Window, delivery: &Delivery) {
        let mss = window.mss;
        let target = Ns3::inflight(bbr, bbr.cwnd_gain(), mss) + bbr.aggregation_in_bytes();
        let repairs = bbr.variant.is_repairing(delivery);
        if repairs && !bbr.prior.was_in_recovery {
            bbr.conserves = true;
            window.cwnd = delivery.in_flight + delivery.delivered.max(mss);
        } else if !repairs && bbr.prior.was_in_recovery {
            bbr.conserves = false;
            window.cwnd = window.ssthresh.min(u64::from(u32::MAX));
        }
        bbr.prior.was_in_recovery = repairs;
        if repairs {
            window.cwnd = window.cwnd.saturating_sub(Ns3::lost(delivery)).max(mss);
            if bbr.conserves {
                window.cwnd = window.cwnd.max(delivery.in_flight + delivery.delivered);
                return;
            }
        }
        if bbr.is_full {
            // In 32 bits: a window that the end of a recovery before the pipe is full has set to the initial ssthresh begins at
            // zero again.
            window.cwnd = u64::from((window.cwnd as u32).wrapping_add(delivery.delivered as u32)).min(target);
        } else if window.cwnd < target || delivery.total_delivered < INITIAL_SEGMENTS * mss {
            window.cwnd += delivery.delivered;
        }
        window.cwnd = window.cwnd.max(bbr.least_window(mss));
    }

    /// Losses are repaired after a timeout, as state CA_LOSS has it and not CA_RECOVERY.
    fn on_timeout(bbr: &mut Control<Ns3>) {
        bbr.prior.was_in_recovery = false;
        bbr.round_start = true;
        bbr.variant.is_in_loss = true;
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

    /// SkbDelivered and GenerateSample: an acknowledgement of what was sent before the sample's segment makes none. It adds its bytes to
    /// the latest and leaves its interval, so that the rate is too high; one of a later segment replaces it.
    #[test]
    fn sample_outlives_its_acknowledgement() {
        let mut socket = Ns3::default();
        let mut rate = |delivery| socket.take(&delivery, |_| false).map(|shown| shown.rate);
        assert_eq!(rate(delivery(20_000, Some((10_000, 100)))), Some(100_000.0));
        assert_eq!(rate(delivery(30_000, None)), Some(200_000.0));
        assert_eq!(rate(delivery(40_000, None)), Some(300_000.0));
        assert_eq!(rate(delivery(50_000, Some((30_000, 100)))), Some(200_000.0));
    }

    /// ReceivedAck: the repair of a lost segment counts as a loss once more.
    #[test]
    fn repairs_count_as_losses() {
        let of =
            |prior_unrepaired, unrepaired| Ns3::lost(&Delivery { prior_unrepaired, unrepaired, ..Delivery::default() });
        assert_eq!(of(0, MSS), MSS);
        assert_eq!(of(MSS, 0), MSS);
        assert_eq!(of(MSS, MSS), 0);
    }

    /// AckEpochAckedResetThresh is 4096 bytes, and what the bandwidth explains is of whole seconds: the excess is what an
    /// acknowledgement delivers, two segments of 1448 bytes at the most if it delivers one, whatever the bandwidth.
    #[test]
    fn aggregation_is_of_few_segments() {
        let mut socket = Ns3::default();
        let excesses: Vec<u64> = (1..6).map(|_| socket.excess(&delivery(0, None), 1e6, 100 * MSS)).collect();
        assert_eq!(excesses, [MSS, 2 * MSS, MSS, 2 * MSS, MSS]);
    }
}
