//! Delivery rate estimation: draft-cheng-iccrg-delivery-rate-estimation-02, incorporated into the BBR draft
//! (draft-ietf-ccwg-bbr section 4.1). Only for algorithms that request it, since it keeps a record of every segment in
//! flight.

use crate::tcp::congestion::{LostSegment, RateSample};
use crate::tcp::segment_ring::SegmentRing;
use crate::time::{Duration, Time};

/// The record of a segment at its transmission (section 3.1.2 of the draft). There may be many, so segments are counted in it,
/// and of large counts, which grow by less than 2^32 while it is under way, it has the low bits.
#[derive(Clone, Copy, Debug, Default)]
struct Record {
    sent: Time,
    first_sent: Time,
    delivered_at: Time,
    delivered: u32,
    /// Segments in flight after its transmission.
    in_flight: u32,
    /// Segments lost before its transmission.
    lost: u32,
    app_limited: bool,
    /// Whether it is a retransmission.
    again: bool,
    /// Whether its delivery has not been counted yet.
    pending: bool,
}

/// The sender's counters, and the records of the segments between SND.UNA and SND.NXT.
#[derive(Debug)]
pub(crate) struct DeliveryEstimator {
    mss: u64,
    records: SegmentRing<Record>,
    /// C.delivered, in segments.
    delivered: u64,
    /// C.delivered_time.
    delivered_at: Time,
    /// C.first_sent_time: when the latest delivered segment was sent.
    first_sent: Time,
    /// Segments lost so far.
    lost: u64,
    /// One past the highest segment sent.
    nxt: u64,
    /// C.min_rtt.
    min_rtt: Option<Duration>,
    /// C.app_limited: the end of the application-limited phase, in delivered bytes.
    app_limited_until: Option<u64>,
    /// The segment that makes the sample of the current acknowledgement, and its index: the most recently sent that it delivers.
    newest: Option<(u64, Record)>,
    /// By the rule of ns-3, what had been delivered when the segment of the latest sample was sent: one that was sent when more had
    /// been makes the next, the first of several (tcp-rate-ops.cc, SkbDelivered).
    sampled: Option<u64>,
}

impl DeliveryEstimator {
    /// Creates the counters of a new connection, whose samples are made by the rule of the draft or by that of ns-3.
    pub(crate) fn new(mss: u64, as_ns3: bool) -> DeliveryEstimator {
        DeliveryEstimator {
            mss,
            sampled: as_ns3.then_some(0),
            records: SegmentRing::new(),
            delivered: 0,
            delivered_at: Time::ZERO,
            first_sent: Time::ZERO,
            lost: 0,
            nxt: 0,
            min_rtt: None,
            app_limited_until: None,
            newest: None,
        }
    }

    /// Records a transmission or retransmission. `una` is the first unacknowledged segment, `in_flight` the number of segments in
    /// flight without this one.
    pub(crate) fn on_sent(&mut self, index: u64, una: u64, in_flight: u64, now: Time) {
        self.records.hold(una, index);
        if in_flight == 0 {
            self.first_sent = now;
            self.delivered_at = now;
        }
        self.records[index] = Record {
            sent: now,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered as u32,
            in_flight: in_flight as u32 + 1,
            lost: self.lost as u32,
            app_limited: self.is_app_limited(),
            again: index < self.nxt,
            pending: true,
        };
        self.nxt = self.nxt.max(index + 1);
    }

    /// Records the delivery of a segment by the current acknowledgement (section 3.3, UpdateRateSample).
    pub(crate) fn on_delivered(&mut self, index: u64, now: Time) {
        let record = &mut self.records[index];
        if !std::mem::take(&mut record.pending) {
            return;
        }
        self.delivered += 1;
        self.delivered_at = now;
        let is_newer = match &mut self.sampled {
            Some(sampled) => {
                let prior_delivered = self.delivered - grown(self.delivered, record.delivered);
                let is_newer = *sampled == 0 || prior_delivered > *sampled;
                *sampled = prior_delivered.max(*sampled);
                is_newer
            }
            None => self.newest.is_none_or(|(other, newest)| (record.sent, index) > (newest.sent, other)),
        };
        if is_newer {
            self.first_sent = record.sent;
            self.newest = Some((index, *record));
        }
    }

    /// Records that segments were delivered once more.
    pub(crate) fn on_needless(&mut self, segments: u64, now: Time) {
        self.delivered += segments;
        self.delivered_at = now;
    }

    pub(crate) fn on_lost(&mut self, index: u64, now: Time) -> LostSegment {
        self.lost += 1;
        let record = self.records[index];
        LostSegment {
            now,
            segment: index,
            in_flight_when_sent: u64::from(record.in_flight) * self.mss,
            lost: grown(self.lost, record.lost) * self.mss,
            app_limited: record.app_limited,
            total_delivered: self.delivered(),
        }
    }

    /// Bytes lost so far.
    pub(crate) fn lost(&self) -> u64 {
        self.lost * self.mss
    }

    /// Starts an application-limited phase: the application or a buffer left the window unused, so samples of the data
    /// now in flight may underestimate the path.
    pub(crate) fn on_app_limited(&mut self, in_flight: u64) {
        self.app_limited_until = Some((self.delivered() + in_flight).max(1));
    }

    /// Whether the window was left unused and the data in flight at that time is not all delivered.
    pub(crate) fn is_app_limited(&self) -> bool {
        self.app_limited_until.is_some()
    }

    pub(crate) fn delivered(&self) -> u64 {
        self.delivered * self.mss
    }

    /// The rate sample of the current acknowledgement (section 3.3, GenerateRateSample), if it delivers data. An
    /// interval shorter than the minimum RTT is not reliable and is omitted.
    pub(crate) fn take_sample(&mut self, now: Time) -> Option<RateSample> {
        if self.app_limited_until.is_some_and(|end| self.delivered() > end) {
            self.app_limited_until = None;
        }
        let (_, newest) = self.newest.take()?;
        let sending = newest.sent.since(newest.first_sent);
        let acknowledging = self.delivered_at.since(newest.delivered_at);
        let interval = sending.max(acknowledging);
        let rtt = (!newest.again).then(|| now.since(newest.sent));
        if let Some(rtt) = rtt {
            self.min_rtt = Some(self.min_rtt.map_or(rtt, |least| least.min(rtt)));
        }
        let delivered = grown(self.delivered, newest.delivered) * self.mss;
        Some(RateSample {
            delivered,
            interval: (interval > Duration::ZERO && self.min_rtt.is_none_or(|rtt| interval >= rtt)).then_some(interval),
            prior_delivered: self.delivered() - delivered,
            app_limited: newest.app_limited,
            in_flight_when_sent: u64::from(newest.in_flight) * self.mss,
            lost: grown(self.lost, newest.lost) * self.mss,
            rtt,
        })
    }
}

/// By how much a count has grown since it had these low bits.
fn grown(count: u64, before: u32) -> u64 {
    u64::from((count as u32).wrapping_sub(before))
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u64 = 1000;

    fn at(milliseconds: u64) -> Time {
        Time::ZERO + Duration::from_milliseconds(milliseconds)
    }

    /// With a segment every 10 ms and an RTT of 100 ms, the delivery rate is the send rate, however compressed the
    /// acknowledgements are (section 2.2 of the draft: the lesser of send rate and acknowledgement rate).
    #[test]
    fn acknowledgement_compression() {
        let mut estimator = DeliveryEstimator::new(MSS, false);
        // The acknowledgements of segments 30 to 39 arrive together with the last of them.
        let acknowledged_at = |index: u64| 10 * if (30..40).contains(&index) { 39 } else { index } + 100;
        let mut next = 0;
        for millisecond in 0..600 {
            if millisecond % 10 == 0 {
                let index = millisecond / 10;
                estimator.on_sent(index, next, index - next, at(millisecond));
            }
            while next < 50 && acknowledged_at(next) == millisecond {
                estimator.on_delivered(next, at(millisecond));
                let sample = estimator.take_sample(at(millisecond)).expect("a segment arrived");
                assert_eq!(sample.rtt, Some(Duration::from_milliseconds(millisecond - 10 * next)));
                let rate = sample.rate().unwrap_or(0.0);
                assert!(rate <= 100.0 * MSS as f64, "{rate} bytes a second at segment {next}");
                if (11..30).contains(&next) {
                    assert_eq!(rate, 100.0 * MSS as f64, "segment {next}");
                }
                next += 1;
            }
        }
        assert_eq!(next, 50);
    }

    /// tcp-rate-ops.cc, SkbDelivered, by hand: of two segments that were sent after the same delivery the first makes the sample, and an
    /// acknowledgement of the other alone makes none. By the draft it is the last of the acknowledgement, and each makes one.
    #[test]
    fn samples_of_equal_deliveries() {
        let rtts = |as_ns3: bool| {
            let mut estimator = DeliveryEstimator::new(MSS, as_ns3);
            let mut acknowledge = |segments: &[u64], sent: &[u64], una: u64, milliseconds: u64| {
                for segment in segments {
                    estimator.on_delivered(*segment, at(milliseconds));
                }
                let sample = estimator.take_sample(at(milliseconds));
                for segment in sent {
                    estimator.on_sent(*segment, una, segment - una, at(milliseconds + segment));
                }
                sample.and_then(|sample| sample.rtt).map(|rtt| rtt.0 / Duration::from_milliseconds(1).0)
            };
            acknowledge(&[], &[0, 1], 0, 0);
            let first = acknowledge(&[0, 1], &[2, 3, 4], 2, 50);
            [first, acknowledge(&[2, 3], &[], 4, 102), acknowledge(&[4], &[], 5, 104)]
        };
        assert_eq!(rtts(true), [Some(49), Some(50), None]);
        assert_eq!(rtts(false), [Some(49), Some(49), Some(50)]);
    }

    /// A segment counts as delivered once, even if acknowledged repeatedly. Samples of segments sent while the sender
    /// was application-limited are flagged, until all data in flight at that time are delivered.
    #[test]
    fn application_limited_samples() {
        let mut estimator = DeliveryEstimator::new(MSS, false);
        estimator.on_sent(0, 0, 0, at(0));
        estimator.on_app_limited(MSS);
        estimator.on_sent(1, 0, 1, at(1));
        estimator.on_delivered(0, at(50));
        estimator.on_delivered(0, at(50));
        assert_eq!(estimator.delivered(), MSS);
        assert!(!estimator.take_sample(at(50)).expect("a segment arrived").app_limited);
        estimator.on_delivered(1, at(51));
        assert!(estimator.take_sample(at(51)).expect("a segment arrived").app_limited);
        estimator.on_sent(2, 2, 0, at(60));
        estimator.on_delivered(2, at(110));
        assert!(!estimator.take_sample(at(110)).expect("a segment arrived").app_limited);
    }
}
