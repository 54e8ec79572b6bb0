//! A bench for a single discipline: offers packets and records their fates, for comparison with published values.

use serde_json::Value;
use sojourn_engine::packet::{OptionsHandle, Packet, flags};
use sojourn_engine::queue::{Context, DropCause, Limit, Outcome, QueueDiscipline, Queued};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};

pub const UNLIMITED: Limit = Limit::Packets(u64::MAX);

pub fn data() -> Value {
    serde_json::from_str(include_str!("../data/queue.json")).unwrap()
}

pub fn vector(id: &str) -> Value {
    let data = data();
    let rows = data["vectors"].as_array().unwrap();
    rows.iter().find(|row| row["id"] == id).unwrap_or_else(|| panic!("no row {id}")).clone()
}

pub fn rows(value: &Value) -> &[Value] {
    value.as_array().unwrap()
}

pub fn number(value: &Value) -> f64 {
    value.as_f64().unwrap_or_else(|| panic!("{value} is no number"))
}

pub fn count(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no count"))
}

pub fn seconds(value: &Value) -> Duration {
    Duration::from_seconds_f64(number(value))
}

pub fn milliseconds(value: &Value) -> Duration {
    Duration::from_seconds_f64(number(value) / 1e3)
}

pub fn packet(size: u16, flags: u8) -> Packet {
    Packet {
        number: 0,
        stamp: Time::ZERO,
        flow: 0,
        hop: 0,
        options: OptionsHandle::NONE,
        size,
        flags: flags::DATA | flags,
    }
}

/// A discipline and its context.
pub struct Bench<Q> {
    pub queue: Q,
    pub random: Random,
    pub outcome: Outcome,
}

impl<Q: QueueDiscipline> Bench<Q> {
    pub fn new(queue: Q, seed: u64) -> Bench<Q> {
        Bench { queue, random: Random::stream(seed, Purpose::Queue, 0), outcome: Outcome::default() }
    }

    pub fn enqueue(&mut self, now: Time, packet: Packet) {
        self.queue.enqueue(packet, &mut Context { now, random: &mut self.random, outcome: &mut self.outcome });
    }

    pub fn dequeue(&mut self, now: Time) -> Option<Queued> {
        self.queue.dequeue(&mut Context { now, random: &mut self.random, outcome: &mut self.outcome })
    }

    pub fn drops(&self, cause: DropCause) -> u64 {
        self.outcome.dropped.iter().filter(|dropped| dropped.cause == cause).count() as u64
    }
}

/// An event at a link.
pub enum Event {
    /// The link takes a packet with this sojourn time.
    Sent(Duration),
    Dropped(DropCause),
    Marked,
    /// The timer of the discipline fires.
    Timer,
}

/// Runs a link that takes `transmission` per packet over `arrivals` until `end`. Of simultaneous events, the link's
/// request comes first, then the timer, then arrivals.
pub fn drive<Q: QueueDiscipline>(
    bench: &mut Bench<Q>,
    transmission: Duration,
    arrivals: impl Iterator<Item = (Time, Packet)>,
    end: Time,
    mut observe: impl FnMut(Time, Event, &Q),
) {
    let mut arrivals = arrivals.peekable();
    let mut free_at = Time::ZERO;
    // A link that received no packet requests again after the next arrival.
    let mut asks = false;
    let interval = bench.queue.timer_interval();
    let mut timer = interval.map_or(Time::NEVER, |interval| Time::ZERO + interval);
    loop {
        let arrival = arrivals.peek().map_or(Time::NEVER, |(time, _)| *time);
        let departure = if asks { free_at } else { Time::NEVER };
        let now = departure.min(timer).min(arrival);
        if now > end || now == Time::NEVER {
            return;
        }
        if now == departure {
            let sent = bench.dequeue(now);
            asks = sent.is_some();
            if let Some(queued) = sent {
                free_at = now + transmission;
                observe(now, Event::Sent(now.since(queued.since)), &bench.queue);
            }
        } else if now == timer {
            bench.queue.on_timer(now);
            timer += interval.unwrap();
            observe(now, Event::Timer, &bench.queue);
        } else {
            bench.enqueue(now, arrivals.next().unwrap().1);
            // An idle link requests immediately.
            free_at = free_at.max(now);
            asks = true;
        }
        for dropped in std::mem::take(&mut bench.outcome.dropped) {
            observe(now, Event::Dropped(dropped.cause), &bench.queue);
        }
        for _ in 0..std::mem::take(&mut bench.outcome.marks) {
            observe(now, Event::Marked, &bench.queue);
        }
    }
}

/// Packets of 1500 bytes at a constant spacing between two times.
pub fn constant(start: Time, end: Time, spacing: Duration) -> impl Iterator<Item = (Time, Packet)> {
    std::iter::successors(Some(start), move |time| Some(*time + spacing))
        .take_while(move |time| *time < end)
        .map(|time| (time, packet(1500, 0)))
}

/// The transmission time of 1500 bytes at 10 Mbit/s.
pub const TRANSMISSION: Duration = Duration::from_microseconds(1200);
