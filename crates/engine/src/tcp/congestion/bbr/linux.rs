//! BBR in Linux 6.1: with a long-term bandwidth, which a path with a policer gets (tcp_bbr.c, bbr_lt_bw_sampling and
//! bbr_lt_bw_interval_done), whole gains, and an approximate filter of bandwidths (lib/win_minmax.c).

use super::control::{Control, Filter, Mode, Variant};
use crate::tcp::congestion::{Delivery, model};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// Rounds of a sampling interval, at least and at most: bbr_lt_intvl_min_rtts, and four times that.
const LEAST_ROUNDS: u64 = 4;
const MOST_ROUNDS: u64 = 4 * LEAST_ROUNDS;
/// The share of lost packets, of those delivered, from which an interval counts: bbr_lt_loss_thresh, 50/256.
const LOSS_THRESHOLD: (u64, u64) = (50, 256);
/// How much two intervals may differ: bbr_lt_bw_ratio, an eighth, or bbr_lt_bw_diff, 4 kbit/s.
const RATIO: f64 = 1.0 / 8.0;
const DIFFERENCE: f64 = 4000.0 / 8.0;
/// Rounds after which the path is probed again: bbr_lt_bw_max_rtts.
const ROUNDS_OF_USE: u64 = 48;
const MILLISECOND: u64 = Duration::from_milliseconds(1).0;

/// Bandwidths are in bytes of payload a second.
#[derive(Clone, Copy, Debug, Default)]
struct LongTerm {
    is_sampling: bool,
    /// The bandwidth of the latest interval, or that in use.
    bandwidth: Option<f64>,
    is_used: bool,
    rounds: u64,
    /// The start of the interval, and the bytes delivered and lost until then.
    start: Time,
    delivered: u64,
    lost: u64,
    /// Bytes lost in all.
    total_lost: u64,
}

impl LongTerm {
    /// The bandwidth to use instead of the maximum delivery rate, if the path is thought to have a policer.
    fn bandwidth(&self) -> Option<f64> {
        self.bandwidth.filter(|_| self.is_used)
    }

    fn start_interval(&mut self, delivery: &Delivery) {
        self.start = Time(delivery.now.0 - delivery.now.0 % MILLISECOND);
        self.delivered = delivery.total_delivered;
        self.lost = self.total_lost;
        self.rounds = 0;
    }

    /// Forgets all.
    fn reset(&mut self, delivery: &Delivery) {
        *self = LongTerm { total_lost: self.total_lost, ..LongTerm::default() };
        self.start_interval(delivery);
    }

    /// Takes an acknowledgement with a valid rate sample. Returns whether the bandwidth is no longer used, so that gains cycle
    /// again.
    fn take(
        &mut self,
        delivery: &Delivery,
        round_start: bool,
        is_app_limited: bool,
        is_probing_bandwidth: bool,
    ) -> bool {
        self.total_lost += delivery.lost;
        if self.is_used {
            self.rounds += u64::from(is_probing_bandwidth && round_start);
            let is_over = self.rounds >= ROUNDS_OF_USE;
            if is_over {
                self.reset(delivery);
            }
            return is_over;
        }
        if !self.is_sampling {
            if delivery.lost == 0 {
                return false;
            }
            self.start_interval(delivery);
            self.is_sampling = true;
        }
        if is_app_limited {
            self.reset(delivery);
            return false;
        }
        self.rounds += u64::from(round_start);
        if self.rounds > MOST_ROUNDS {
            self.reset(delivery);
        } else if self.rounds >= LEAST_ROUNDS && delivery.lost > 0 {
            self.end_interval(delivery);
        }
        false
    }

    /// Ends the interval if enough was lost in it. Two in a row with the same bandwidth show a policer.
    fn end_interval(&mut self, delivery: &Delivery) {
        let (lost, delivered) = (self.total_lost - self.lost, delivery.total_delivered - self.delivered);
        let time = delivery.now.0 / MILLISECOND - self.start.0 / MILLISECOND;
        if delivered == 0 || lost * LOSS_THRESHOLD.1 < LOSS_THRESHOLD.0 * delivered || time == 0 {
            return;
        }
        let bandwidth = delivered as f64 * 1000.0 / time as f64;
        if let Some(before) = self.bandwidth {
            let difference = (bandwidth - before).abs();
            if difference <= RATIO * before || difference <= DIFFERENCE {
                self.bandwidth = Some((bandwidth + before) / 2.0);
                self.is_used = true;
                self.rounds = 0;
                return;
            }
        }
        self.bandwidth = Some(bandwidth);
        self.start_interval(delivery);
    }
}

/// Gains are in 1/256: tcp_bbr.c, BBR_UNIT.
const UNIT: f64 = 256.0;

/// Approximates the maximum of recent values by three of them: lib/win_minmax.c, minmax_running_max.
#[derive(Clone, Copy, Debug, Default)]
pub struct RunningMaximum {
    /// The best, the best after it, and the best after that, each with its time.
    best: [(f64, u64); 3],
}

impl RunningMaximum {
    /// Replaces values that are too old, and those that repeat one before them after a quarter or half of the time:
    /// minmax_subwin_update.
    fn renew(&mut self, new: (f64, u64), age: u64) {
        let elapsed = new.1 - self.best[0].1;
        if elapsed > age {
            self.best = [self.best[1], self.best[2], new];
            if new.1 - self.best[0].1 > age {
                self.best = [self.best[1], self.best[2], new];
            }
        } else if self.best[1].1 == self.best[0].1 && elapsed > age / 4 {
            self.best[1] = new;
            self.best[2] = new;
        } else if self.best[2].1 == self.best[1].1 && elapsed > age / 2 {
            self.best[2] = new;
        }
    }
}

impl Filter for RunningMaximum {
    fn update(&mut self, value: f64, time: u64, age: u64) {
        let new = (value, time);
        if value >= self.best[0].0 || time - self.best[2].1 > age {
            self.best = [new; 3];
            return;
        }
        if value >= self.best[1].0 {
            self.best[1] = new;
            self.best[2] = new;
        } else if value >= self.best[2].0 {
            self.best[2] = new;
        }
        self.renew(new, age);
    }

    fn get(&self) -> f64 {
        self.best[0].0
    }
}

#[derive(Clone, Debug, Default)]
pub struct Linux {
    long_term: LongTerm,
}

impl Variant for Linux {
    type Bandwidth = RunningMaximum;

    /// bbr_init.
    const TAKES_HANDSHAKE: bool = true;

    /// bbr_high_gain.
    fn high_gain(gain: f64) -> f64 {
        ((gain * UNIT).floor() + 1.0) / UNIT
    }

    /// bbr_drain_gain.
    fn drain_gain(gain: f64) -> f64 {
        (UNIT / gain).floor() / UNIT
    }

    fn long_term_bandwidth(&self) -> Option<f64> {
        self.long_term.bandwidth()
    }

    /// Those at the departure of the next segment, and while probing a quantum with it: bbr_packets_in_net_at_edt.
    fn in_network(bbr: &Control<Linux>, in_flight: u64, delivery: &Delivery, mss: u64) -> u64 {
        let departing = if bbr.pacing_gain() > 1.0 { bbr.quantum(mss) * mss } else { 0 };
        let delivered = bbr.bandwidth() * delivery.held_back.seconds() / mss as f64;
        (in_flight + departing).saturating_sub(delivered as u64 * mss)
    }

    fn update_bandwidth(bbr: &mut Control<Linux>, delivery: &Delivery) {
        bbr.update_bandwidth(delivery);
        let Some((sample, _)) = model::rate_of(delivery) else { return };
        let is_probing = matches!(bbr.mode, Mode::ProbeBw { .. });
        let is_limited = bbr.held_back.is_app_limited(&sample);
        if bbr.variant.long_term.take(delivery, bbr.round_start, is_limited, is_probing) {
            bbr.enter_probe_bw(delivery.now);
        }
    }

    /// What was expected is in whole segments, rounded down: bbr_update_ack_aggregation.
    fn excess(bbr: &mut Control<Linux>, window: &Window, delivery: &Delivery, bandwidth: f64) -> u64 {
        bbr.excess(window, delivery, bandwidth).next_multiple_of(window.mss)
    }

    /// An equal one did until 5.9.
    fn renews(rtt: Duration, min_rtt: Duration) -> bool {
        rtt < min_rtt
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    /// minmax_running_max by hand, over ten rounds. It notes nothing in the first quarter of its window, so that in round 11 the
    /// maximum is the 90 of round 3, not the 95 of rounds 1 and 2; after that it is the 80 of round 6.
    #[test]
    fn running_maximum() {
        let values = [100, 95, 95, 90, 80, 80, 80, 70, 70, 70, 70, 70, 70, 70, 70];
        let mut maximum = RunningMaximum::default();
        let seen: Vec<f64> = (0..)
            .zip(values)
            .map(|(round, value)| {
                maximum.update(f64::from(value), round, 10);
                maximum.get()
            })
            .collect();
        assert_eq!(seen[..11], [100.0; 11]);
        assert_eq!(seen[11..14], [90.0; 3]);
        assert_eq!(seen[14], 80.0);
    }

    /// tcp_bbr.c: BBR_UNIT * 2885 / 1000 + 1 is 739, and BBR_UNIT * 1000 / 2885 is 88.
    #[test]
    fn whole_gains() {
        assert_eq!((Linux::high_gain(2.885) * UNIT, Linux::drain_gain(2.885) * UNIT), (739.0, 88.0));
    }

    /// A path that delivers 100 segments each 100 ms, a round, and loses so many at the end of the round.
    struct Policer {
        long_term: LongTerm,
        now: Time,
        delivered: u64,
    }

    impl Policer {
        fn round(&mut self, lost: u64) -> bool {
            self.now += Duration::from_milliseconds(100);
            self.delivered += 100 * MSS;
            let delivery =
                Delivery { now: self.now, total_delivered: self.delivered, lost: lost * MSS, ..Delivery::default() };
            self.long_term.take(&delivery, true, false, true)
        }
    }

    /// bbr_lt_bw_sampling by hand. Sampling begins with a loss, in its first round. In its fourth, with 300 segments delivered
    /// and 80 lost since (27 %, and the threshold is 19.5 %), an interval ends; after four more, so does the next, with the
    /// same 1,000,000 bytes a second. They are used for 48 rounds. With 40 lost, 13 %, no interval ends.
    #[test]
    fn policer() {
        for (lost, expected) in [(20, Some(1e6)), (10, None)] {
            let mut path = Policer { long_term: LongTerm::default(), now: Time::ZERO, delivered: 0 };
            let rounds = (1..100).find(|_| {
                path.round(lost);
                path.long_term.bandwidth().is_some()
            });
            assert_eq!(path.long_term.bandwidth(), expected);
            if expected.is_some() {
                assert_eq!(rounds, Some(8));
                let used = (1..100).find(|_| path.round(lost));
                assert_eq!(used, Some(ROUNDS_OF_USE));
                assert_eq!(path.long_term.bandwidth(), None);
            }
        }
    }
}
