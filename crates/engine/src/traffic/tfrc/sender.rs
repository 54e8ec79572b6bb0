//! The sender: RFC 5348 section 4. Its rate is that of the throughput equation, at most twice the receive rate. Before
//! the first loss it doubles every round-trip time.
//!
//! The application always has data, so no interval is data-limited (section 8.2.1) and the sender is never idle.

use std::sync::Arc;

use super::equation;
use super::parameters::TfrcParameters;
use crate::packet::Report;
use crate::tcp::sender::SenderStatistics;
use crate::time::{Duration, Time};

/// t_mbi of section 4.3, in seconds: the maximum time between two segments.
const MAXIMUM_BACKOFF_INTERVAL: f64 = 64.0;

/// Section 4.2: the nofeedback timer before the first round-trip time sample.
const FIRST_TIMEOUT: Duration = Duration::from_seconds(2);

/// Section 4.2, from RFC 3390: the initial window in bytes, at least two and at most four segments.
const INITIAL_WINDOW: f64 = 4380.0;

/// Section 8.2.2: the number of values of X_recv that are kept.
const MOST_RECEIVE_RATES: usize = 3;

/// Estimates of the round-trip time, in seconds.
#[derive(Clone, Copy, Debug)]
struct RoundTripTime {
    /// R.
    mean: f64,
    /// R_sqmean of section 4.5.
    root_mean: f64,
    /// R_sample.
    latest: f64,
}

/// X_recv_set of section 4.3: the recently reported receive rates, in bytes per second, and their times.
#[derive(Debug)]
struct ReceiveRates(Vec<(Time, f64)>);

impl ReceiveRates {
    /// Replaces the set by one value.
    fn set(&mut self, rate: f64, now: Time) {
        self.0.clear();
        self.0.push((now, rate));
    }

    /// Update X_recv_set, as in section 8.2.2.
    fn update(&mut self, rate: f64, rtt: f64, now: Time) {
        let oldest = Duration::from_seconds_f64(2.0 * rtt);
        self.0.retain(|(time, _)| now.since(*time) <= oldest);
        if self.0.len() == MOST_RECEIVE_RATES {
            self.0.remove(0);
        }
        self.0.push((now, rate));
    }

    fn greatest(&self) -> f64 {
        self.0.iter().map(|(_, rate)| *rate).fold(0.0, f64::max)
    }
}

state! {
    /// The sender of a flow, with segments of this size, that has not started. Rates are in bytes of payload per second.
    pub Sender(segment: u64, parameters: Arc<TfrcParameters>) {
        parameters: Arc<TfrcParameters> = parameters,
        /// The segment size s, in bytes.
        segment: f64 = segment as f64,
        /// The allowed rate X, at first one segment per second (section 4.2).
        allowed_rate: f64 = segment,
        rtt: Option<RoundTripTime>,
        /// tld: when slow start last doubled the rate.
        last_doubled: Time,
        /// The loss event rate p.
        loss_event_rate: f64,
        /// X_Bps, defined once p > 0.
        calculated_rate: f64 = f64::INFINITY,
        receive_rates: ReceiveRates = ReceiveRates(Vec::with_capacity(MOST_RECEIVE_RATES)),
        /// When the last packet was sent. A new rate applies from then.
        last_sent: Time,
        /// When the next packet is due, `NEVER` when all is sent.
        pub pacing_deadline: Time = Time::NEVER,
        /// When the nofeedback timer expires, `NEVER` when all is sent.
        pub deadline: Time = Time::NEVER,
        /// Counters since the start of the measuring window.
        pub statistics: SenderStatistics,
    }
}

impl Sender {
    /// Starts sending (section 4.2).
    pub fn start(&mut self, now: Time) {
        self.receive_rates.set(f64::INFINITY, now);
        self.deadline = now + FIRST_TIMEOUT;
        self.pacing_deadline = now;
    }

    pub fn allowed_rate(&self) -> f64 {
        self.allowed_rate
    }

    /// The round-trip time R, which data packets carry to the receiver.
    pub fn rtt(&self) -> Option<Duration> {
        self.rtt.map(|rtt| Duration::from_seconds_f64(rtt.mean))
    }

    /// The latest round-trip time sample, R_sample.
    pub fn latest_rtt(&self) -> Option<Duration> {
        self.rtt.map(|rtt| Duration::from_seconds_f64(rtt.latest))
    }

    /// Records that a packet was sent, and whether it was the last.
    pub fn on_sent(&mut self, now: Time, is_last: bool) {
        self.statistics.segments_sent += 1;
        self.last_sent = now;
        if is_last {
            self.stop();
        } else {
            self.schedule(now);
        }
    }

    /// Stops sending. Returns false if all data was sent before.
    pub fn stop(&mut self) -> bool {
        let was_sending = !self.is_done();
        self.pacing_deadline = Time::NEVER;
        self.deadline = Time::NEVER;
        was_sending
    }

    fn is_done(&self) -> bool {
        self.pacing_deadline == Time::NEVER
    }

    /// Processes feedback (section 4.3).
    pub fn on_feedback(&mut self, report: &Report, stamp: Time, now: Time) {
        let is_first = self.rtt.is_none();
        let rtt = self.take_rtt(now.since(stamp) - report.delay);
        if self.is_done() {
            return;
        }
        self.loss_event_rate = report.loss_event_rate;
        if self.loss_event_rate > 0.0 {
            self.calculated_rate = equation::throughput(self.segment, rtt, self.loss_event_rate);
        }
        if is_first {
            self.allowed_rate = self.initial_rate(rtt);
            self.last_doubled = now;
        } else {
            self.receive_rates.update(report.receive_rate, rtt, now);
            self.update_allowed_rate(rtt, now);
        }
        self.restart_timer(now);
        self.schedule(now);
    }

    /// Steps 1 and 2 of section 4.3, and R_sqmean of section 4.5. Returns R.
    fn take_rtt(&mut self, sample: Duration) -> f64 {
        self.statistics.on_rtt(sample);
        let latest = sample.max(Duration(1)).seconds();
        let (q, q2) = (self.parameters.rtt_weight, self.parameters.root_rtt_weight);
        let rtt = match self.rtt {
            None => RoundTripTime { mean: latest, root_mean: f64::sqrt(latest), latest },
            Some(past) => RoundTripTime {
                mean: q * past.mean + (1.0 - q) * latest,
                root_mean: q2 * past.root_mean + (1.0 - q2) * f64::sqrt(latest),
                latest,
            },
        };
        self.rtt = Some(rtt);
        rtt.mean
    }

    /// The initial rate W_init / R of section 4.2.
    fn initial_rate(&self, rtt: f64) -> f64 {
        INITIAL_WINDOW.clamp(2.0 * self.segment, 4.0 * self.segment) / rtt
    }

    fn least_rate(&self) -> f64 {
        self.segment / MAXIMUM_BACKOFF_INTERVAL
    }

    /// Updates the allowed rate: step 4 of section 4.3.
    fn update_allowed_rate(&mut self, rtt: f64, now: Time) {
        let limit = 2.0 * self.receive_rates.greatest();
        if self.loss_event_rate > 0.0 {
            self.allowed_rate = self.calculated_rate.min(limit).max(self.least_rate());
        } else if now.since(self.last_doubled).seconds() >= rtt {
            self.allowed_rate = (2.0 * self.allowed_rate).min(limit).max(self.initial_rate(rtt));
            self.last_doubled = now;
        }
    }

    /// Handles the expiry of the nofeedback timer (section 4.4).
    pub fn on_deadline(&mut self, now: Time) {
        self.statistics.timeouts += 1;
        match self.rtt {
            Some(rtt) if self.loss_event_rate > 0.0 => {
                let twice = 2.0 * self.receive_rates.greatest();
                // The lower of the two, which limited the rate, is halved.
                let limit = self.calculated_rate.min(twice) / 2.0;
                self.receive_rates.set(limit.max(self.least_rate()) / 2.0, now);
                self.update_allowed_rate(rtt.mean, now);
            }
            _ => self.allowed_rate = (self.allowed_rate / 2.0).max(self.least_rate()),
        }
        self.restart_timer(now);
        self.schedule(now);
    }

    /// Restarts the nofeedback timer with max(4 R, 2 s / X): step 3 of section 4.3 and step 2 of section 4.4.
    fn restart_timer(&mut self, now: Time) {
        let round_trips = self.rtt.map_or(0.0, |rtt| 4.0 * rtt.mean);
        self.deadline = now + Duration::from_seconds_f64(round_trips.max(2.0 * self.segment / self.allowed_rate));
    }

    /// Schedules the next packet t_ipi = s / X_inst after the last one (section 4.6).
    fn schedule(&mut self, now: Time) {
        let interval = Duration::from_seconds_f64(self.segment / self.transmit_rate()).max(Duration(1));
        self.pacing_deadline = (self.last_sent + interval).max(now);
    }

    /// The transmit rate X_inst of section 4.5.
    fn transmit_rate(&self) -> f64 {
        match self.rtt {
            Some(rtt) if self.parameters.oscillation_prevention => {
                (self.allowed_rate * rtt.root_mean / f64::sqrt(rtt.latest)).max(self.least_rate())
            }
            _ => self.allowed_rate,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const SEGMENT: f64 = 1000.0;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// A sender that has sent its first packet at 0 s.
    fn started(parameters: TfrcParameters) -> Sender {
        let mut sender = Sender::new(SEGMENT as u64, Arc::new(parameters));
        sender.start(Time::ZERO);
        sender.on_sent(Time::ZERO, false);
        sender
    }

    /// Processes feedback after a round-trip time in milliseconds.
    fn feedback(sender: &mut Sender, now: u64, rtt: u64, loss_event_rate: f64, receive_rate: f64) {
        let report = Report { delay: Duration::ZERO, receive_rate, loss_event_rate };
        sender.on_feedback(&report, at(now - rtt), at(now));
    }

    fn close(measured: f64, expected: f64) {
        assert!((measured / expected - 1.0).abs() < 1e-9, "{measured}, expected {expected}");
    }

    /// Section 4.2: one segment per second, then min(4 s, max(2 s, 4380)) bytes per round-trip time.
    #[test]
    fn initial_rate() {
        for (segment, window) in [(500, 2000.0), (1000.0 as u64, 4000.0), (1460, 4380.0), (3000, 6000.0)] {
            let mut sender = Sender::new(segment, Arc::new(TfrcParameters::default()));
            sender.start(Time::ZERO);
            sender.on_sent(Time::ZERO, false);
            assert_eq!((sender.pacing_deadline, sender.deadline), (at(1000), at(2000)));
            feedback(&mut sender, 100, 100, 0.0, 0.0);
            close(sender.allowed_rate(), window / 0.1);
        }
    }

    /// Section 4.3, step 4, with p = 0: the rate doubles once per round-trip time, up to twice the greater of the last
    /// two receive rates.
    #[test]
    fn slow_start_doubling() {
        let mut sender = started(TfrcParameters::default());
        feedback(&mut sender, 100, 100, 0.0, 0.0);
        for (now, receive_rate, expected) in [
            (200, 1e6, 80_000.0),
            (250, 1e6, 80_000.0),
            (300, 1e6, 160_000.0),
            (400, 1e6, 320_000.0),
            // Reports of 1e6 still count for two round-trip times: from 200 and 300 ms until 500 ms.
            (500, 200_000.0, 640_000.0),
            (600, 200_000.0, 1_280_000.0),
            (700, 200_000.0, 400_000.0),
            (800, 200_000.0, 400_000.0),
        ] {
            feedback(&mut sender, now, 100, 0.0, receive_rate);
            close(sender.allowed_rate(), expected);
        }
    }

    /// Section 4.3: the rate is unlimited for two round-trip times, while X_recv_set contains Infinity, and never below
    /// W_init / R.
    #[test]
    fn slow_start_minimum() {
        let mut sender = started(TfrcParameters::default());
        feedback(&mut sender, 100, 100, 0.0, 0.0);
        feedback(&mut sender, 200, 100, 0.0, 10_000.0);
        close(sender.allowed_rate(), 80_000.0);
        feedback(&mut sender, 300, 100, 0.0, 10_000.0);
        close(sender.allowed_rate(), 40_000.0);
    }

    /// A sender with p = 1 % and a round-trip time of 100 ms, at 300 ms.
    fn after_losses(receive_rate: f64) -> Sender {
        let mut sender = started(TfrcParameters::default());
        feedback(&mut sender, 100, 100, 0.0, 0.0);
        feedback(&mut sender, 290, 100, 0.01, receive_rate);
        feedback(&mut sender, 300, 100, 0.01, receive_rate);
        sender
    }

    /// The rate of the equation: Linux tabulates f(0.01) = 0.089021.
    const EQUATION: f64 = 1000.0 / (0.1 * 0.089_021);

    /// Section 4.3, step 4, with p > 0: the lesser of the equation's rate and twice the receive rate, and at least one
    /// segment in 64 s.
    #[test]
    fn rate_after_loss() {
        assert!((after_losses(1e6).allowed_rate() / EQUATION - 1.0).abs() < 1e-4);
        close(after_losses(20_000.0).allowed_rate(), 40_000.0);
        close(after_losses(0.0).allowed_rate(), 1000.0 / 64.0);
    }

    /// Section 4.4 without a round-trip time: each expiry halves the rate and doubles the timer of 2 s / X, down to one
    /// segment in 64 s.
    #[test]
    fn no_feedback_at_start() {
        let mut sender = started(TfrcParameters::default());
        let mut rate = 1000.0;
        for _ in 0..6 {
            let now = sender.deadline;
            sender.on_deadline(now);
            rate /= 2.0;
            close(sender.allowed_rate(), rate);
            close(sender.deadline.since(now).seconds(), 2.0 * 1000.0 / rate);
        }
        for _ in 0..3 {
            sender.on_deadline(sender.deadline);
            close(sender.allowed_rate(), 1000.0 / 64.0);
        }
        assert_eq!(sender.statistics.timeouts, 9);
    }

    /// Section 4.4: four round-trip times without feedback halve the rate, in slow start and where the equation or the
    /// receive rate limits it.
    #[test]
    fn no_feedback_halving() {
        let mut slow_start = started(TfrcParameters::default());
        feedback(&mut slow_start, 100, 100, 0.0, 0.0);
        feedback(&mut slow_start, 200, 100, 0.0, 1e6);
        for mut sender in [slow_start, after_losses(1e6), after_losses(20_000.0)] {
            let rate = sender.allowed_rate();
            let expiry = sender.deadline;
            for times in [2.0, 4.0, 8.0] {
                sender.on_deadline(sender.deadline);
                close(sender.allowed_rate(), rate / times);
            }
            close(sender.deadline.since(expiry).seconds(), 3.0 * 0.4);
        }
        assert_eq!(after_losses(1e6).deadline, at(300 + 400));
    }

    /// Section 4.5: at twice the long-term round-trip time the rate is reduced by a factor of about 0.7.
    #[test]
    fn oscillation_prevention() {
        let steady = TfrcParameters { root_rtt_weight: 1.0, ..TfrcParameters::default() };
        for (oscillation_prevention, factor) in [(true, f64::sqrt(0.5)), (false, 1.0)] {
            let mut sender = started(TfrcParameters { oscillation_prevention, ..steady.clone() });
            feedback(&mut sender, 200, 100, 0.01, 0.0);
            feedback(&mut sender, 400, 200, 0.01, 1e6);
            sender.on_sent(at(400), false);
            let interval = sender.pacing_deadline.since(at(400)).seconds();
            close(interval, 1000.0 / (sender.allowed_rate() * factor));
        }
    }

    /// Section 4.3, step 2: R = 0.9 R + 0.1 R_sample.
    #[test]
    fn round_trip_time_average() {
        let mut sender = started(TfrcParameters::default());
        feedback(&mut sender, 100, 100, 0.0, 0.0);
        feedback(&mut sender, 400, 200, 0.0, 0.0);
        assert_eq!(sender.rtt(), Some(Duration::from_milliseconds(110)));
        assert_eq!(sender.latest_rtt(), Some(Duration::from_milliseconds(200)));
    }

    #[derive(Clone, Debug)]
    enum Event {
        Feedback { loss_event_rate: f64, receive_rate: f64, rtt: u64, delay: u64 },
        Sent,
        Expiry,
    }

    fn event() -> impl Strategy<Value = Event> {
        let loss = prop_oneof![Just(0.0), 1e-9..1.0f64, Just(1.0)];
        let rate = prop_oneof![Just(0.0), 0.0..1e9f64, Just(1e-3)];
        let time = prop_oneof![0..1_000_000_000u64, 0..10_000_000_000_000u64];
        let feedback = (loss, rate, time.clone(), time).prop_map(|(loss_event_rate, receive_rate, rtt, delay)| {
            Event::Feedback { loss_event_rate, receive_rate, rtt, delay }
        });
        prop_oneof![4 => feedback, 2 => Just(Event::Sent), 1 => Just(Event::Expiry)]
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        /// For any feedback, or none, the rate is at least one segment in 64 s. With losses it is at most twice the
        /// greatest recent receive rate, after the first two round-trip times.
        #[test]
        fn rate_limits(
            events in prop::collection::vec((event(), 1..1_000_000_000_000u64), 1..60),
        ) {
            let mut sender = started(TfrcParameters::default());
            let (mut now, mut reports, mut greatest) = (Time::ZERO, 0, 0.0f64);
            for (event, pause) in events {
                now += Duration(pause);
                let before = sender.allowed_rate();
                match event {
                    Event::Feedback { loss_event_rate, receive_rate, rtt, delay } => {
                        let report = Report { delay: Duration(delay), receive_rate, loss_event_rate };
                        sender.on_feedback(&report, Time(now.0.saturating_sub(rtt)), now);
                        (reports, greatest) = (reports + 1, greatest.max(receive_rate));
                        let limit = sender.receive_rates.greatest();
                        // A halving adds at least half a segment in 64 s to the set.
                        prop_assert!(limit.is_infinite() || limit <= greatest.max(SEGMENT / 128.0));
                        if reports > 1 && loss_event_rate > 0.0 {
                            prop_assert!(sender.allowed_rate() <= (2.0 * limit).max(SEGMENT / 64.0));
                        }
                        prop_assert!(sender.deadline > now);
                    }
                    Event::Sent => sender.on_sent(now, false),
                    Event::Expiry => {
                        let had_report = sender.receive_rates.greatest().is_finite();
                        sender.on_deadline(now);
                        if !had_report {
                            // Infinity is replaced by half the rate of the equation.
                            greatest = greatest.max(sender.receive_rates.greatest());
                        }
                        // The initial rate may be below half the equation's rate, to which the timer sets it when there
                        // are losses.
                        prop_assert!(sender.allowed_rate() <= before || reports == 1);
                        prop_assert!(sender.deadline > now);
                    }
                }
                prop_assert!(sender.allowed_rate() >= SEGMENT / 64.0 && sender.transmit_rate() >= SEGMENT / 64.0);
                let wait = sender.pacing_deadline.since(now);
                prop_assert!(wait <= Duration::from_seconds(64), "{wait:?}");
            }
        }
    }
}
