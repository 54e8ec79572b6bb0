//! What a path makes of a sender's window: a bottleneck with a buffer of one bandwidth-delay product, whose packets arrive in order.
//!
//! The plan of a sequence without a seed: slow start until the buffer overflows and congestion avoidance with the losses that follow;
//! after half of the events a timeout; in the last quarter the bottleneck marks from half a buffer on, and every thousandth
//! segment. With a seed, there are besides random losses, marks, timeouts, pauses and delays.

use std::collections::{BTreeSet, VecDeque};

use crate::random::{Purpose, Random};
use crate::tcp::congestion::{Ack, Delivery, Timestamps};
use crate::tcp::flight::Phase;
use crate::tcp::profile::StackProfile;
use crate::tcp::rto::{Rto, RtoLimits};
use crate::tcp::scoreboard::FIRST_DATA;
use crate::tcp::sender::DeliveryEstimator;
use crate::time::{Duration, Time};

use super::lane::Lane;
use super::{Kind, Replay, Row};

/// Probabilities of a random sequence: of a segment that it is lost or marked, of an event that it is a timeout or precedes a pause.
const LOSS: f64 = 0.0005;
const MARK: f64 = 0.0002;
const TIMEOUT: f64 = 0.0002;
const PAUSE: f64 = 0.0005;

/// Of so many segments one is marked in the last quarter of a planned sequence.
const MARKED: u64 = 1000;

/// The longest random pause.
const LONGEST_PAUSE: Duration = Duration::from_seconds(2);

/// The part of the round-trip time that a random delay takes at most.
const JITTER: u64 = 10;

/// A segment under way.
#[derive(Clone, Copy, Debug)]
struct Sent {
    index: u64,
    at: Time,
    /// When its acknowledgement arrives, or would.
    arrives: Time,
    one_way_delay: Duration,
    is_lost: bool,
    is_marked: bool,
}

/// See the module.
#[derive(Debug)]
pub(super) struct Path {
    leader: Lane,
    follower: Lane,
    events: u64,
    seen: u64,
    random: Option<Random>,
    rtt: Duration,
    /// How long the bottleneck takes for a packet, and the longest that one waits.
    transmission: Duration,
    buffer: Duration,
    quick_acks: u64,
    delayed_ack_count: u64,
    duplicate_threshold: u64,
    mss: u64,
    limits: RtoLimits,
    now: Time,
    free_at: Time,
    next_paced: Time,
    quantum_left: u64,
    under_way: VecDeque<Sent>,
    /// Segments below `high` that have not arrived, those of them that are not known to be lost, and those that are to be sent again.
    missing: BTreeSet<u64>,
    holes: VecDeque<u64>,
    again: VecDeque<u64>,
    /// Lost by a timeout, which the next acknowledgement reports.
    unreported: Vec<u64>,
    high: u64,
    highest_delivered: u64,
    /// Whether the latest acknowledgement had SACK blocks.
    has_gap: bool,
    nxt: u64,
    in_flight: u64,
    acknowledgements: u64,
    phase: Phase,
    recover: u64,
    answered: u64,
    retries: u64,
    /// When the segment was sent that the latest acknowledgement of new data was for.
    echo: Time,
    is_pausing: bool,
    has_paused: bool,
    estimator: DeliveryEstimator,
    rto: Rto,
}

impl Path {
    pub(super) fn new(replay: &Replay, profile: &StackProfile, leader: Lane, follower: Lane) -> Path {
        let mss = profile.segment_size.0;
        let limits = profile.rto_limits();
        Path {
            leader,
            follower,
            events: replay.events,
            seen: 0,
            random: replay.seed.map(|seed| Random::stream(seed, Purpose::Source, 0)),
            rtt: replay.rtt,
            transmission: replay.rate.transmission_time(mss + profile.segment_overhead()),
            buffer: replay.rtt,
            quick_acks: profile.quick_acks,
            delayed_ack_count: profile.delayed_ack_count,
            duplicate_threshold: profile.duplicate_ack_threshold,
            mss,
            limits,
            now: Time::ZERO,
            free_at: Time::ZERO,
            next_paced: Time::ZERO,
            quantum_left: 0,
            under_way: VecDeque::new(),
            missing: BTreeSet::new(),
            holes: VecDeque::new(),
            again: VecDeque::new(),
            unreported: Vec::new(),
            high: 0,
            highest_delivered: 0,
            has_gap: false,
            nxt: 0,
            in_flight: 0,
            acknowledgements: 0,
            phase: Phase::Open,
            recover: 0,
            answered: 0,
            retries: 0,
            echo: Time::ZERO,
            is_pausing: false,
            has_paused: false,
            estimator: DeliveryEstimator::new(mss),
            rto: Rto::new(&limits),
        }
    }

    /// The next event, and both algorithms after it.
    pub(super) fn event(&mut self) -> Row {
        self.seen += 1;
        if self.is_timeout_due() {
            return self.time_out();
        }
        self.is_pausing |= self.happens(PAUSE);
        loop {
            let next = self.under_way.front().map_or(Time::NEVER, |sent| sent.arrives);
            let at = self.now.max(self.next_paced);
            if self.may_send() && (at <= next || self.quantum_left >= self.mss) {
                self.send(if self.quantum_left >= self.mss { self.now } else { at });
            } else if let Some(sent) = self.under_way.pop_front() {
                if let Some(row) = self.arrive(sent) {
                    return row;
                }
            } else if self.is_pausing && self.in_flight == 0 && self.again.is_empty() {
                self.resume();
            } else {
                return self.time_out();
            }
        }
    }

    fn happens(&mut self, probability: f64) -> bool {
        self.random.as_mut().is_some_and(|random| random.unit() < probability)
    }

    fn is_timeout_due(&mut self) -> bool {
        let is_due = if self.random.is_some() { self.happens(TIMEOUT) } else { self.seen == self.events / 2 };
        is_due && self.nxt > self.una()
    }

    fn una(&self) -> u64 {
        self.missing.first().copied().unwrap_or(self.high)
    }

    fn sequence(&self, index: u64) -> u64 {
        FIRST_DATA + index * self.mss
    }

    fn may_send(&self) -> bool {
        let has_room = self.in_flight == 0 || (self.in_flight + 1) * self.mss <= self.leader.window().cwnd;
        has_room && (!self.is_pausing || !self.again.is_empty())
    }

    fn send(&mut self, at: Time) {
        self.now = at;
        let (index, is_again) = match self.again.pop_front() {
            Some(index) => (index, true),
            None => (self.nxt, false),
        };
        self.estimator.on_sent(index, self.una(), self.in_flight * self.mss, at);
        self.nxt = self.nxt.max(index + 1);
        self.in_flight += 1;
        let waits = self.free_at.max(at).since(at);
        // What is sent again arrives: nothing here would find that it did not.
        let is_marking = self.random.is_none() && self.seen > self.events - self.events / 4;
        let is_planned = is_marking && (waits.0 > self.buffer.0 / 2 || index % MARKED == 0);
        let is_marked = is_planned || self.happens(MARK);
        let is_lost = !is_again && (waits > self.buffer || self.happens(LOSS));
        if !is_lost {
            self.free_at = at + waits + self.transmission;
        }
        let jitter = self.random.as_mut().map_or(Duration::ZERO, |random| random.below(Duration(self.rtt.0 / JITTER)));
        let arrives = at + waits + self.transmission + self.rtt + jitter;
        let arrives = self.under_way.back().map_or(arrives, |last| arrives.max(last.arrives));
        let one_way_delay = waits + self.transmission + Duration(self.rtt.0 / 2);
        self.under_way.push_back(Sent { index, at, arrives, one_way_delay, is_lost, is_marked });
        self.pace(at);
    }

    /// As `Pacer::on_sent` does, for an algorithm that has a rate.
    fn pace(&mut self, at: Time) {
        if let Some(rate) = self.leader.standing(self.rto.srtt()).pacing {
            if at >= self.next_paced {
                self.quantum_left = self.leader.pacing_quantum();
            }
            self.quantum_left = self.quantum_left.saturating_sub(self.mss);
            self.next_paced = self.next_paced.max(at) + rate.transmission_time(self.mss);
        }
    }

    fn resume(&mut self) {
        self.is_pausing = false;
        self.has_paused = true;
        if let Some(random) = &mut self.random {
            self.now += random.below(LONGEST_PAUSE);
        }
        self.estimator.on_app_limited(0);
        self.leader.restart(self.now);
        self.follower.restart(self.now);
    }

    /// A segment arrives, or is missed. Returns the acknowledgement, if there is one.
    fn arrive(&mut self, sent: Sent) -> Option<Row> {
        self.now = self.now.max(sent.arrives);
        if sent.is_lost {
            self.missing.insert(sent.index);
            self.holes.push_back(sent.index);
            self.high = sent.index + 1;
            return None;
        }
        let mut last = sent;
        let (prior_una, prior_in_flight) = (self.una(), self.in_flight);
        if sent.index == prior_una {
            self.echo = sent.at;
        }
        let mut marked = self.take(&sent);
        // A delayed acknowledgement covers those that follow in order.
        if self.missing.is_empty() && self.acknowledgements >= self.quick_acks {
            for _ in 1..self.delayed_ack_count {
                let Some(next) = self.under_way.front().copied().filter(|next| !next.is_lost) else { break };
                self.under_way.pop_front();
                self.now = self.now.max(next.arrives);
                marked += self.take(&next);
                last = next;
            }
        }
        self.acknowledgements += 1;
        Some(self.acknowledge(&last, prior_una, prior_in_flight, marked))
    }

    /// Returns how many of the segment are marked.
    fn take(&mut self, sent: &Sent) -> u64 {
        self.in_flight -= 1;
        self.missing.remove(&sent.index);
        self.high = self.high.max(sent.index + 1);
        self.highest_delivered = self.highest_delivered.max(sent.index);
        self.estimator.on_delivered(sent.index, self.now);
        u64::from(sent.is_marked)
    }

    /// As `Sender::on_ack` does, in its order.
    fn acknowledge(&mut self, last: &Sent, prior_una: u64, prior_in_flight: u64, marked: u64) -> Row {
        let (now, mss) = (self.now, self.mss);
        let acked = (self.una() - prior_una) * mss;
        let rtt = (acked > 0).then(|| now.since(last.at));
        if let Some(rtt) = rtt {
            self.rto.sample(rtt, &self.limits);
            self.retries = 0;
        }
        let delivered = prior_in_flight - self.in_flight;
        let lost_before = self.estimator.lost();
        for index in std::mem::take(&mut self.unreported) {
            self.report(index);
        }
        let is_new_loss = self.find_losses();
        let back = Duration(self.rtt.0 / 2);
        let timestamps = Some(Timestamps { sent: Time::ZERO + now.since(Time::ZERO + back), echo: self.echo });
        let delivery = Delivery {
            now,
            delivered: delivered * mss,
            total_delivered: self.estimator.delivered(),
            acked,
            lost: self.estimator.lost() - lost_before,
            marked: marked * mss,
            rtt,
            srtt: self.rto.srtt(),
            prior_in_flight: prior_in_flight * mss,
            in_flight: self.in_flight * mss,
            rate: self.estimator.take_sample(now),
            nxt: self.sequence(self.nxt),
            timestamps,
            ..Delivery::default()
        };
        let has_gap = self.high > self.una();
        let ack = Ack {
            now,
            acked,
            credit: delivery.delivered,
            rtt,
            srtt: delivery.srtt,
            una: self.sequence(self.una()),
            nxt: delivery.nxt,
            in_flight: delivery.in_flight,
            follows_gap: std::mem::replace(&mut self.has_gap, has_gap),
            one_way_delay: Some(last.one_way_delay),
            arrived: timestamps.map(|timestamps| timestamps.sent),
            timestamps,
            marked: delivery.marked,
            load_factor: None,
        };
        let kind = self.tell(&ack, is_new_loss);
        let in_recovery = self.phase != Phase::Open;
        self.each(|lane| lane.deliver(&Delivery { in_recovery, ..delivery }));
        if kind == Kind::Loss {
            // A module of Linux is told here that recovery has begun, and may lower ssthresh once more.
            self.each(Lane::fall);
        }
        self.row(kind, rtt)
    }

    /// Answers the marks of an acknowledgement, continues recovery or grows the windows. Returns what happened.
    fn tell(&mut self, ack: &Ack, is_new_loss: bool) -> Kind {
        let mut kind = if std::mem::take(&mut self.has_paused) { Kind::Restart } else { Kind::Acknowledgement };
        if ack.marked > 0 && self.phase == Phase::Open && self.una() >= self.answered {
            self.each(|lane| lane.answer_marks(ack.now));
            self.answered = self.nxt;
            kind = Kind::Mark;
        }
        match self.phase {
            Phase::Recovery if self.una() >= self.recover => {
                self.each(Lane::leave_recovery);
                self.phase = Phase::Open;
                kind = Kind::Recovered;
                if !self.again.is_empty() {
                    self.enter_recovery();
                }
            }
            Phase::Recovery => kind = Kind::Repair,
            Phase::Open | Phase::Loss => {
                if self.una() >= self.recover {
                    self.phase = Phase::Open;
                }
                let phase = self.phase;
                if ack.acked > 0 {
                    self.each(|lane| lane.acknowledge(ack, phase));
                }
                if is_new_loss && phase == Phase::Open {
                    self.enter_recovery();
                    kind = Kind::Loss;
                }
            }
        }
        kind
    }

    fn each(&mut self, tell: impl Fn(&mut Lane)) {
        tell(&mut self.leader);
        tell(&mut self.follower);
    }

    /// Segments with as many delivered above them as the threshold says are lost (RFC 6675). Returns whether there are any.
    fn find_losses(&mut self) -> bool {
        let mut is_any = false;
        while let Some(index) = self.holes.front().copied() {
            if index + self.duplicate_threshold > self.highest_delivered {
                break;
            }
            self.holes.pop_front();
            self.again.push_back(index);
            self.in_flight -= 1;
            self.report(index);
            is_any = true;
        }
        is_any
    }

    fn report(&mut self, index: u64) {
        let lost = self.estimator.on_lost(index, self.now);
        self.each(|lane| lane.lose(&lost));
    }

    fn enter_recovery(&mut self) {
        let now = self.now;
        self.each(|lane| lane.enter_recovery(now));
        self.phase = Phase::Recovery;
        self.recover = self.nxt;
        self.answered = self.nxt;
    }

    /// Nothing arrives any more: all that is under way is lost.
    fn time_out(&mut self) -> Row {
        self.now += self.rto.timeout(&self.limits);
        let is_first = self.retries == 0;
        self.retries += 1;
        self.rto.back_off();
        let gone: Vec<u64> = self.under_way.drain(..).map(|sent| sent.index).chain(self.holes.drain(..)).collect();
        self.missing.extend(&gone);
        self.unreported.extend(&gone);
        self.again = self.missing.iter().copied().collect();
        self.high = self.nxt;
        self.in_flight = 0;
        self.phase = Phase::Loss;
        self.recover = self.nxt;
        self.answered = self.nxt;
        let now = self.now;
        self.each(|lane| lane.time_out(is_first, now));
        self.next_paced = self.next_paced.min(now);
        self.row(Kind::Timeout, None)
    }

    fn row(&self, kind: Kind, rtt: Option<Duration>) -> Row {
        let srtt = self.rto.srtt();
        let (leader, follower) = (self.leader.standing(srtt), self.follower.standing(srtt));
        Row { now: self.now, kind, rtt, leader, follower }
    }
}
