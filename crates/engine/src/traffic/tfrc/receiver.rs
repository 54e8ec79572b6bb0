//! The receiver: RFC 5348 section 6. It measures the loss event rate and the receive rate and reports them once per
//! round-trip time.

use std::collections::VecDeque;

use super::equation;
use super::intervals::Intervals;
use super::losses::Losses;
use super::parameters::TfrcParameters;
use crate::packet::Report;
use crate::time::{Duration, Time};

/// Section 6.3.1: the maximum of f(p) = s / (R X) for the first loss interval. The rate is then half a segment per
/// round-trip time.
const GREATEST_FIRST_RESPONSE: f64 = 2.0;

#[derive(Clone, Copy, Debug)]
pub struct Data {
    pub number: u64,
    /// Bytes of payload.
    pub payload: u64,
    pub stamp: Time,
    /// The sender's estimate of the round-trip time, `None` before the first sample.
    pub rtt: Option<Duration>,
    pub marked: bool,
}

/// A report and the timestamp of the latest data packet, which it echoes.
pub type Feedback = (Report, Time);

state! {
    /// The receiver of a flow with segments of this size. Rates are in bytes per second.
    pub Receiver(segment: u64, parameters: &TfrcParameters) {
        /// The segment size s, in bytes.
        segment: f64 = segment as f64,
        losses: Losses = Losses::new(Intervals::new(
            parameters.loss_intervals,
            parameters.history_discounting.then_some(parameters.discount_threshold),
        )),
        /// p at its latest calculation.
        loss_event_rate: f64,
        /// R_m: the round-trip time in the packet with the highest number.
        rtt: Option<Duration>,
        /// R_(m-1), the round-trip time when feedback was last sent, and the time of that feedback.
        last_feedback: Option<(Option<Duration>, Time)>,
        /// The arrival times and sizes, in bytes, of recent data.
        arrivals: VecDeque<(Time, u64)>,
        /// The timestamp of the latest data packet and its arrival time.
        latest: (Time, Time),
        /// Whether data arrived since feedback was last sent.
        has_news: bool,
        /// The maximum X_recv so far.
        greatest_rate: f64,
        /// When the feedback timer expires. `NEVER` while the next packet is answered immediately: before the sender has
        /// reported a round-trip time (section 6.3), and after the timer expired with nothing to report (section 6.1, step
        /// 4).
        pub deadline: Time = Time::NEVER,
        /// Bytes of payload received.
        pub delivered: u64,
    }
}

impl Receiver {
    /// Processes a data packet (section 6.1). Returns the feedback it triggers.
    pub fn on_data(&mut self, data: &Data, now: Time) -> Option<Feedback> {
        if self.losses.highest().is_none_or(|highest| data.number > highest) {
            self.rtt = data.rtt.or(self.rtt);
        }
        self.delivered += data.payload;
        self.arrivals.push_back((now, data.payload));
        self.latest = (data.stamp, now);
        self.has_news = true;
        let is_new_event = self.note(data, now);
        let is_due = self.deadline == Time::NEVER;
        let rises = is_new_event && {
            let before = self.loss_event_rate;
            self.loss_event_rate = self.losses.loss_event_rate();
            self.loss_event_rate > before
        };
        if is_due || rises { Some(self.report(now)) } else { None }
    }

    fn note(&mut self, data: &Data, now: Time) -> bool {
        let rtt = self.rtt.unwrap_or(Duration::ZERO);
        let (segment, greatest_rate) = (self.segment, self.greatest_rate);
        self.losses.on_packet(data.number, data.marked, now, rtt, |is_null| {
            let target = if is_null { 0.0 } else { rtt.seconds() * greatest_rate };
            1.0 / equation::loss_event_rate((segment / target).min(GREATEST_FIRST_RESPONSE))
        })
    }

    /// Handles the expiry of the feedback timer (section 6.2).
    pub fn on_deadline(&mut self, now: Time) -> Option<Feedback> {
        if self.has_news {
            return Some(self.report(now));
        }
        self.deadline = Time::NEVER;
        None
    }

    fn report(&mut self, now: Time) -> Feedback {
        self.loss_event_rate = self.losses.loss_event_rate();
        let receive_rate = self.receive_rate(now);
        self.greatest_rate = self.greatest_rate.max(receive_rate);
        self.last_feedback = Some((self.rtt, now));
        self.has_news = false;
        self.deadline = self.rtt.map_or(Time::NEVER, |rtt| now + rtt);
        let (stamp, arrival) = self.latest;
        (Report { delay: now.since(arrival), receive_rate, loss_event_rate: self.loss_event_rate }, stamp)
    }

    /// X_recv over the latest R_(m-1) (section 6.2), or since the last feedback while there is no round-trip time. 0
    /// with the first packet (section 6.3).
    fn receive_rate(&mut self, now: Time) -> f64 {
        let Some((rtt, last)) = self.last_feedback else {
            return 0.0;
        };
        let span = rtt.unwrap_or(now.since(last)).max(Duration(1));
        while self.arrivals.front().is_some_and(|(time, _)| now.since(*time) >= span) {
            self.arrivals.pop_front();
        }
        self.arrivals.iter().map(|(_, payload)| *payload as f64).sum::<f64>() / span.seconds()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_milliseconds(100);
    const SEGMENT: u64 = 1000;

    fn data(number: u64, rtt: Option<Duration>) -> Data {
        Data { number, payload: SEGMENT, stamp: Time(number), rtt, marked: false }
    }

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// Feeds packets at these times, in milliseconds, with feedback timers in between. Returns the feedback and its
    /// times.
    fn receive(receiver: &mut Receiver, packets: impl IntoIterator<Item = (u64, u64)>) -> Vec<(u64, Report)> {
        let mut reports = Vec::new();
        for (number, time) in packets {
            while receiver.deadline < at(time) {
                let expiry = receiver.deadline;
                let feedback = receiver.on_deadline(expiry);
                reports.extend(feedback.map(|(report, _)| (expiry.0 / 1_000_000_000, report)));
            }
            let feedback = receiver.on_data(&data(number, Some(RTT)), at(time));
            reports.extend(feedback.map(|(report, _)| (time, report)));
        }
        reports
    }

    fn receiver() -> Receiver {
        Receiver::new(SEGMENT, &TfrcParameters::default())
    }

    fn close(measured: f64, expected: f64) {
        assert!((measured - expected).abs() <= 1e-9 * expected.abs(), "{measured}, expected {expected}");
    }

    /// Sections 6.2 and 6.3: the first packet is answered with X_recv = 0. Feedback then follows once per round-trip
    /// time with the rate received in it, here ten packets of 1000 bytes in 100 ms.
    #[test]
    fn feedback_interval() {
        let reports = receive(&mut receiver(), (0..35).map(|number| (number, 10 * number)));
        assert_eq!(reports.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0, 100, 200, 300]);
        close(reports[0].1.receive_rate, 0.0);
        for (_, report) in &reports[1..] {
            close(report.receive_rate, 100_000.0);
            close(report.loss_event_rate, 0.0);
        }
    }

    /// Section 6.3: each packet is answered until packets carry a round-trip time.
    #[test]
    fn feedback_without_round_trip_time() {
        let mut receiver = receiver();
        for number in 0..3 {
            let (report, stamp) = receiver.on_data(&data(number, None), at(1000 * number)).expect("feedback");
            assert_eq!((stamp, report.delay), (Time(number), Duration::ZERO));
            close(report.receive_rate, if number == 0 { 0.0 } else { 1000.0 });
            assert_eq!(receiver.deadline, Time::NEVER);
        }
        assert!(receiver.on_data(&data(3, Some(RTT)), at(2500)).is_some());
        assert_eq!(receiver.deadline, at(2600));
    }

    /// Section 6.1, step 4: if the timer expired with nothing to report, the next packet is answered immediately. Its
    /// X_recv is one packet per round-trip time (section 6.2).
    #[test]
    fn feedback_at_low_rates() {
        let reports = receive(&mut receiver(), (0..5).map(|number| (number, 350 * number)));
        assert_eq!(reports.iter().map(|(time, _)| *time).collect::<Vec<_>>(), [0, 350, 700, 1050, 1400]);
        close(reports[2].1.receive_rate, 10_000.0);
    }

    /// Sections 6.1 and 6.3.1: the first loss is reported immediately, with the loss event rate at which the equation
    /// gives the greatest receive rate so far.
    #[test]
    fn first_loss() {
        let lossy = (0..400).filter(|number| *number != 255).map(|number| (number, number));
        let reports = receive(&mut receiver(), lossy);
        let (time, report) = reports.iter().find(|(_, report)| report.loss_event_rate > 0.0).expect("a loss");
        assert_eq!(*time, 258);
        let rate = equation::throughput(1000.0, RTT.seconds(), report.loss_event_rate);
        close(reports[1].1.receive_rate, 1e6);
        assert!((rate / 1e6 - 1.0).abs() < 0.05, "{rate} at p = {}", report.loss_event_rate);
    }

    /// Section 6.3.1: if the very first packet is lost, the reported loss event rate gives half a segment per
    /// round-trip time.
    #[test]
    fn first_packet_lost() {
        let reports = receive(&mut receiver(), (1..10).map(|number| (number, 20 * number)));
        let (_, report) = reports.iter().find(|(_, report)| report.loss_event_rate > 0.0).expect("a loss");
        let rate = equation::throughput(1000.0, RTT.seconds(), report.loss_event_rate);
        assert!((rate * RTT.seconds() / 1000.0 / 0.5 - 1.0).abs() < 0.05, "{rate} bytes a second");
    }
}
