//! What an agent's hooks saw since its last question.

use sojourn_engine::tcp::congestion::{CongestionEvent, Delivery};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

/// What a flow does, by RFC 5681.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    #[default]
    SlowStart,
    Avoidance,
    /// Losses are repaired, or marks reduce the window.
    Recovery,
}

/// Counts what happens to a flow, from one question to the next.
///
/// What was sent is known from what is in flight: that before an acknowledgement is that after the one before and what was sent in
/// between. All is as of the latest acknowledgement, so that what was sent and what arrived are of the same time.
#[derive(Clone, Debug)]
pub struct Observer {
    /// When the interval began.
    pub since: Time,
    /// Bytes of payload: sent, sent again among them, newly delivered, acknowledged in order, found lost, and delivered marked.
    pub sent: u64,
    pub sent_again: u64,
    pub delivered: u64,
    pub acknowledged: u64,
    pub lost: u64,
    pub marked: u64,
    /// Acknowledgements, those whose rate sample is limited by the application, and timeouts.
    pub acknowledgements: u64,
    pub app_limited: u64,
    pub timeouts: u64,
    /// Round-trip times and when they were sampled.
    pub samples: Vec<(Time, Duration)>,
    /// As of the latest acknowledgement.
    pub window: Window,
    pub in_flight: u64,
    next: u64,
    pub srtt: Duration,
    pub last_rtt: Option<Duration>,
    /// The latest rate sample, in bytes a second.
    pub rate_sample: f64,
    pub in_recovery: bool,
    phase: Phase,
    /// When the phase began.
    pub phase_since: Option<Time>,
    /// Over the connection: the least round-trip time, the least mean of an interval in seconds, the greatest delivery rate of an
    /// interval in bits a second, and when something was lost.
    pub base_rtt: Option<Duration>,
    pub least_mean: Option<f64>,
    pub greatest_rate: f64,
    pub lost_at: Option<Time>,
    pub opened: Option<Time>,
}

impl Default for Observer {
    fn default() -> Observer {
        Observer {
            since: Time::ZERO,
            sent: 0,
            sent_again: 0,
            delivered: 0,
            acknowledged: 0,
            lost: 0,
            marked: 0,
            acknowledgements: 0,
            app_limited: 0,
            timeouts: 0,
            samples: Vec::new(),
            window: Window { cwnd: 0, ssthresh: u64::MAX, mss: 1 },
            in_flight: 0,
            next: 0,
            srtt: Duration::ZERO,
            last_rtt: None,
            rate_sample: 0.0,
            in_recovery: false,
            phase: Phase::default(),
            phase_since: None,
            base_rtt: None,
            least_mean: None,
            greatest_rate: 0.0,
            lost_at: None,
            opened: None,
        }
    }
}

impl Observer {
    /// The connection is open.
    pub fn open(&mut self, srtt: Duration, now: Time) {
        (self.opened, self.since, self.phase_since) = (Some(now), now, Some(now));
        if srtt > Duration::ZERO {
            self.sample(srtt, now);
            self.srtt = srtt;
        }
    }

    fn sample(&mut self, rtt: Duration, now: Time) {
        self.samples.push((now, rtt));
        self.last_rtt = Some(rtt);
        self.base_rtt = Some(self.base_rtt.map_or(rtt, |base| base.min(rtt)));
    }

    /// An acknowledgement arrived.
    pub fn deliver(&mut self, delivery: &Delivery) {
        let sent = delivery.prior_in_flight.saturating_sub(self.in_flight);
        let new = if self.next == 0 { sent } else { delivery.nxt.saturating_sub(self.next) };
        self.sent += sent;
        self.sent_again += sent.saturating_sub(new);
        self.delivered += delivery.delivered;
        self.acknowledged += delivery.acked;
        self.marked += delivery.marked;
        self.acknowledgements += 1;
        (self.in_flight, self.next, self.in_recovery) = (delivery.in_flight, delivery.nxt, delivery.in_recovery);
        if let Some(rtt) = delivery.rtt {
            self.sample(rtt, delivery.now);
        }
        if delivery.srtt > Duration::ZERO {
            self.srtt = delivery.srtt;
        }
        if let Some(rate) = delivery.rate {
            self.app_limited += u64::from(rate.app_limited);
            self.rate_sample = rate.rate().unwrap_or(self.rate_sample);
        }
    }

    /// The window as a hook leaves it, and the phase that the flow is in with it.
    pub fn see(&mut self, window: &Window, now: Time) {
        self.window = *window;
        let phase = if self.in_recovery {
            Phase::Recovery
        } else if window.cwnd < window.ssthresh {
            Phase::SlowStart
        } else {
            Phase::Avoidance
        };
        if phase != self.phase {
            (self.phase, self.phase_since) = (phase, Some(now));
        }
    }

    /// A segment was found lost.
    pub fn lose(&mut self, now: Time) {
        self.lost += self.window.mss;
        self.lost_at = Some(now);
    }

    /// Congestion was answered. After a timeout nothing counts as in flight.
    pub fn congest(&mut self, event: CongestionEvent) {
        if event == CongestionEvent::Timeout {
            self.timeouts += 1;
            self.in_flight = 0;
        }
    }

    /// What the interval that ends now was like.
    pub fn measure(&self, now: Time) -> Measured {
        let seconds = now.since(self.since).seconds();
        let per_second = |bytes: u64| if seconds > 0.0 { 8.0 * bytes as f64 / seconds } else { 0.0 };
        let rtts = || self.samples.iter().map(|(_, rtt)| rtt.seconds());
        let count = self.samples.len();
        let mean = if count > 0 { rtts().sum::<f64>() / count as f64 } else { 0.0 };
        let throughput = per_second(self.delivered);
        Measured {
            seconds,
            send_rate: per_second(self.sent),
            throughput,
            rtt: mean,
            least_rtt: if count > 0 { rtts().fold(f64::INFINITY, f64::min) } else { 0.0 },
            greatest_rtt: rtts().fold(0.0, f64::max),
            least_mean: if count > 0 {
                self.least_mean.map_or(mean, |least| least.min(mean))
            } else {
                self.least_mean.unwrap_or(0.0)
            },
            greatest_rate: self.greatest_rate.max(throughput),
            loss: share(self.lost, self.lost + self.delivered),
            marks: share(self.marked, self.delivered),
            gradient: self.gradient(),
            inflation: if seconds > 0.0 { self.increase() / seconds } else { 0.0 },
            base_rtt: self.base_rtt.map_or(0.0, Duration::seconds),
            link_rate: 0.0,
        }
    }

    /// The slope of the line of least squares through the round-trip times, in seconds a second; zero of less than two.
    fn gradient(&self) -> f64 {
        let count = self.samples.len() as f64;
        let Some(&(first, _)) = self.samples.first() else { return 0.0 };
        let at = |time: Time| time.since(first).seconds();
        let mean_time = self.samples.iter().map(|&(time, _)| at(time)).sum::<f64>() / count;
        let mean_rtt = self.samples.iter().map(|(_, rtt)| rtt.seconds()).sum::<f64>() / count;
        let (mut both, mut square) = (0.0, 0.0);
        for &(time, rtt) in &self.samples {
            let off = at(time) - mean_time;
            both += off * (rtt.seconds() - mean_rtt);
            square += off * off;
        }
        if square > 0.0 { both / square } else { 0.0 }
    }

    /// By how much the mean of the second half of the round-trip times is above that of the first, in seconds.
    fn increase(&self) -> f64 {
        let half = self.samples.len() / 2;
        if half == 0 {
            return 0.0;
        }
        let mean =
            |part: &[(Time, Duration)]| part.iter().map(|(_, rtt)| rtt.seconds()).sum::<f64>() / part.len() as f64;
        mean(&self.samples[half..]) - mean(&self.samples[..half])
    }

    /// The next interval begins.
    pub fn begin(&mut self, now: Time, measured: &Measured) {
        if !self.samples.is_empty() {
            self.least_mean = Some(measured.least_mean);
        }
        self.greatest_rate = measured.greatest_rate;
        self.samples.clear();
        (self.since, self.sent, self.sent_again, self.delivered, self.acknowledged) = (now, 0, 0, 0, 0);
        (self.lost, self.marked, self.acknowledgements, self.app_limited, self.timeouts) = (0, 0, 0, 0, 0);
    }
}

/// A part of a whole; zero of nothing.
pub fn share(part: u64, whole: u64) -> f64 {
    if whole > 0 { part as f64 / whole as f64 } else { 0.0 }
}

/// What an interval was like: the raw terms of rewards.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Measured {
    /// How long it was.
    pub seconds: f64,
    /// Bits of payload a second: sent, and delivered.
    pub send_rate: f64,
    pub throughput: f64,
    /// Round-trip times in seconds: their mean, the least, and the greatest; zero without a sample.
    pub rtt: f64,
    pub least_rtt: f64,
    pub greatest_rtt: f64,
    /// The least mean of an interval so far, and the greatest throughput.
    pub least_mean: f64,
    pub greatest_rate: f64,
    /// Bytes found lost among those lost or delivered, and bytes marked among those delivered.
    pub loss: f64,
    pub marks: f64,
    /// Seconds a second.
    pub gradient: f64,
    pub inflation: f64,
    /// The least round-trip time of the connection so far, in seconds.
    pub base_rtt: f64,
    /// Of a queue, the rate of its link in bits a second; zero of a flow.
    pub link_rate: f64,
}

/// The names of the terms, in the order of [`Measured::terms`], their units and meanings.
pub const TERMS: [(&str, &str, &str); 9] = [
    ("seconds", "s", "length of the interval"),
    ("throughput", "bit/s", "payload newly delivered"),
    ("send_rate", "bit/s", "payload sent, repetitions included"),
    ("rtt", "s", "mean of the round-trip times; 0 without a sample"),
    ("base_rtt", "s", "least round-trip time of the connection so far"),
    ("loss", "", "bytes found lost, of those lost or delivered"),
    ("marks", "", "bytes that arrived marked, of those delivered"),
    ("rtt_gradient", "s/s", "slope of the round-trip times"),
    ("greatest_throughput", "bit/s", "greatest throughput of an interval so far"),
];

impl Measured {
    /// The raw terms of rewards.
    pub fn terms(&self) -> [f64; TERMS.len()] {
        [
            self.seconds,
            self.throughput,
            self.send_rate,
            self.rtt,
            self.base_rtt,
            self.loss,
            self.marks,
            self.gradient,
            self.greatest_rate,
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A phase begins when the window reaches its threshold, when losses are found and when they are repaired, and at nothing else.
    #[test]
    fn phases() {
        let at = |seconds: u64| Time::ZERO + Duration::from_seconds(seconds);
        let window = |cwnd, ssthresh| Window { cwnd, ssthresh, mss: 1000 };
        let mut observer = Observer::default();
        observer.open(Duration::ZERO, at(1));
        for (now, cwnd, ssthresh, in_recovery, since) in [
            (2, 10_000, u64::MAX, false, 1),
            (3, 20_000, u64::MAX, false, 1),
            (4, 20_000, 10_000, true, 4),
            (5, 10_000, 10_000, true, 4),
            (6, 10_000, 10_000, false, 6),
            (7, 11_000, 10_000, false, 6),
            (8, 1_000, 5_000, false, 8),
        ] {
            observer.in_recovery = in_recovery;
            observer.see(&window(cwnd, ssthresh), at(now));
            assert_eq!((observer.window.cwnd, observer.phase_since), (cwnd, Some(at(since))), "at {now} s");
        }
    }
}
