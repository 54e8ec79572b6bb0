//! Properties that hold for every built-in algorithm, for those of users: their hooks under arbitrary input.
//!
//! `tests/properties` of the engine holds built-in algorithms to the same with proptest; here the input is drawn from a seed.

use pyo3::prelude::*;
use serde_json::Value;
use sojourn_engine::inner::Tell;
use sojourn_engine::packet::{OptionsHandle, Packet, flags};
use sojourn_engine::plugin::Plugins;
use sojourn_engine::queue::{Context, Limit, Outcome, PluginDiscipline, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{
    Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Plugin, RateSample, Timestamps,
};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::Loaded;
use crate::SpecificationError;

/// Events of a sender, and packets of a queue, for each seed.
const EVENTS: u64 = 3_000;

/// Bytes of a segment.
const MSS: u64 = 1448;

/// The most that the window may grow to here: what sequence numbers of the events have room for.
const WIDEST: u64 = 1 << 32;

fn read(parameters: &str) -> PyResult<Value> {
    serde_json::from_str(parameters).map_err(|error| SpecificationError::new_err(error.to_string()))
}

/// What a pass through a sequence of events showed.
#[derive(Default)]
struct Pass {
    /// What is wrong, if anything is.
    fault: Option<String>,
    /// What the hooks had made of each event.
    answers: Vec<[u64; 5]>,
    /// The widest window, in bytes.
    widest: u64,
}

/// What is wrong, where a second pass differed, and the widest window in bytes.
type Found = (Option<String>, Option<String>, u64);

/// Carries out a sequence twice: hooks are to be functions of their events, so the passes are to be the same.
fn twice(plugin: &Bound<'_, PyAny>, seed: u64, pass: impl Fn(&Loaded) -> PyResult<Pass> + Sync) -> PyResult<Found> {
    let load = || Loaded::of(vec![plugin.clone()]);
    let (first, second) = (load()?, load()?);
    plugin.py().detach(|| {
        let Pass { fault, answers, widest } = pass(&first)?;
        if fault.is_some() {
            return Ok((fault, None, widest));
        }
        let again = pass(&second)?;
        let event = answers.iter().zip(&again.answers).position(|(one, other)| one != other);
        let differs = match event {
            Some(event) => Some(format!("event {event} of seed {seed}")),
            None if !first.recorded.is_same(&second.recorded) => Some(format!("a recorded value, seed {seed}")),
            None => None,
        };
        Ok((if differs.is_none() { again.fault } else { None }, differs, widest))
    })
}

/// Drives a congestion control through acknowledgements, losses, marks and timeouts, twice.
#[pyfunction]
pub fn exercise_control(plugin: Bound<'_, PyAny>, parameters: &str, seed: u64) -> PyResult<Found> {
    let parameters = read(parameters)?;
    twice(&plugin, seed, |loaded| {
        let control = loaded.control(0, &parameters).map_err(SpecificationError::new_err)?;
        let mut sender = Sender::new(Plugin::new(control.fresh(), loaded.failure()), seed);
        let mut answers = Vec::new();
        for event in 0..EVENTS {
            let fault = sender.event();
            let told = digest(|tell| sender.control.tell_state(&sender.window, sender.now, tell));
            let failed = loaded.failure().get().map(str::to_owned);
            if let Some(fault) = failed.or_else(|| fault.map(|what| control.complaint("on_congestion", &what))) {
                let fault = Some(format!("{fault} (event {event} of seed {seed})"));
                return Ok(Pass { fault, answers, widest: sender.widest });
            }
            answers.push([sender.window.cwnd, sender.window.ssthresh, sender.pace, sender.quantum, told]);
        }
        Ok(Pass { fault: None, answers, widest: sender.widest })
    })
}

/// A number that tells inner states apart.
fn digest(ask: impl FnOnce(&mut Tell<'_>)) -> u64 {
    let mut digest = 0u64;
    ask(&mut |name, value| {
        for bits in name.bytes().map(u64::from).chain([value.to_bits()]) {
            digest = (digest.rotate_left(5) ^ bits).wrapping_mul(0x9E37_79B9_7F4A_7C15);
        }
    });
    digest
}

/// A sender of whom only the window is real.
struct Sender {
    control: Plugin,
    window: Window,
    random: Random,
    now: Time,
    una: u64,
    lost: u64,
    /// What the hooks of pacing last returned.
    pace: u64,
    quantum: u64,
    widest: u64,
}

impl Sender {
    fn new(mut control: Plugin, seed: u64) -> Sender {
        control.take_flow(0);
        if control.needs().random {
            control.take_random(Random::stream(seed, Purpose::CongestionControl, 0));
        }
        let mut window = Window { cwnd: 10 * MSS, ssthresh: u64::MAX, mss: MSS };
        control.on_established(&mut window, Duration::from_milliseconds(50), Time::ZERO);
        Sender {
            control,
            window,
            random: Random::stream(seed, Purpose::Source, 0),
            now: Time::ZERO,
            una: 0,
            lost: 0,
            pace: 0,
            quantum: 0,
            widest: window.cwnd,
        }
    }

    /// Something happens to it. What is wrong, if anything is.
    fn event(&mut self) -> Option<String> {
        match self.random.index(45) {
            0..40 => self.acknowledgement(),
            40 | 41 => return self.congestion(|flight_size| CongestionEvent::Loss { flight_size }),
            42 | 43 => {
                let abe = self.random.index(2) == 1;
                return self.congestion(|flight_size| CongestionEvent::Ecn { flight_size, abe });
            }
            _ => {
                let fault = self.congestion(|flight_size| CongestionEvent::Loss { flight_size });
                self.window.cwnd = MSS;
                self.control.on_congestion(&mut self.window, CongestionEvent::Timeout, self.now);
                return fault;
            }
        }
        self.widest = self.widest.max(self.window.cwnd);
        self.window.cwnd = self.window.cwnd.min(WIDEST);
        None
    }

    fn acknowledgement(&mut self) {
        let pause = if self.random.index(9) == 0 { 100_000_000 } else { 2_000 };
        let idle = Duration::from_microseconds(self.random.index(pause));
        self.now += idle;
        if pause > 2_000 {
            self.control.on_restart(&mut self.window, self.now);
            self.control.on_idle(&mut self.window, idle, self.now);
        }
        let acked = (self.window.cwnd * self.random.index(257) / 256).next_multiple_of(MSS).max(MSS);
        let rtt = Duration::from_microseconds(1 + self.random.index(100_000));
        self.una += acked;
        let in_flight = self.window.cwnd * self.random.index(257) / 256;
        let ack = Ack {
            now: self.now,
            acked,
            credit: acked.min(self.window.cwnd),
            rtt: (self.random.index(8) > 0).then_some(rtt),
            srtt: rtt,
            una: self.una,
            nxt: self.una + in_flight,
            in_flight,
            one_way_delay: Some(Duration(rtt.0 / 2)),
            arrived: Some(self.now),
            timestamps: Some(Timestamps { sent: self.now, echo: self.now }),
            marked: if self.random.index(8) == 0 { acked } else { 0 },
            follows_gap: false,
            load_factor: None,
        };
        let needs = self.control.needs();
        self.control.on_ack(&self.window, &ack);
        if !needs.governs {
            self.grow(ack);
        }
        if needs.deliveries {
            self.delivery(&ack, rtt);
        }
    }

    fn grow(&mut self, mut ack: Ack) {
        if self.window.in_slow_start() {
            ack.credit = self.control.increase_in_slow_start(&mut self.window, &ack).unwrap_or_else(|| {
                let growth = ack.credit.min(self.window.ssthresh - self.window.cwnd);
                self.window.cwnd += growth;
                ack.credit - growth
            });
        }
        if ack.credit > 0 && !self.window.in_slow_start() {
            self.control.increase(&mut self.window, &ack);
        }
    }

    fn delivery(&mut self, ack: &Ack, rtt: Duration) {
        let rate = RateSample {
            delivered: ack.acked,
            interval: (self.random.index(4) > 0).then_some(rtt),
            prior_delivered: self.una - ack.acked,
            app_limited: self.random.index(8) == 0,
            in_flight_when_sent: ack.in_flight.max(MSS),
            lost: 0,
            rtt: ack.rtt,
        };
        let lost = if self.random.index(16) == 0 { MSS } else { 0 };
        self.lost += lost;
        if lost > 0 {
            let lost = LostSegment {
                now: self.now,
                segment: self.una / MSS,
                in_flight_when_sent: ack.in_flight.max(MSS),
                lost: self.lost,
                app_limited: false,
                total_delivered: self.una,
            };
            self.control.on_segment_lost(&mut self.window, &lost);
        }
        let delivery = Delivery {
            now: self.now,
            delivered: ack.acked,
            total_delivered: self.una,
            lost,
            marked: ack.marked,
            rtt: ack.rtt,
            srtt: ack.srtt,
            prior_in_flight: ack.in_flight + ack.acked,
            in_flight: ack.in_flight,
            held_back: Duration::ZERO,
            rate: Some(rate),
            in_recovery: self.random.index(8) == 0,
            acked: ack.acked,
            nxt: ack.nxt,
            timestamps: ack.timestamps,
            ..Delivery::default()
        };
        self.control.on_delivery(&mut self.window, &delivery);
        self.pace = self.control.pacing_rate(&self.window, ack.srtt).map_or(0, |rate| rate.0);
        self.quantum = self.control.pacing_quantum(MSS);
    }

    /// Congestion, after which the window falls to the threshold. Neither may grow by it.
    fn congestion(&mut self, event: impl Fn(u64) -> CongestionEvent) -> Option<String> {
        let flight_size = self.window.cwnd * self.random.index(257) / 256;
        let before = self.window;
        self.control.on_congestion(&mut self.window, event(flight_size), self.now);
        if self.control.needs().governs {
            return None;
        }
        let Window { cwnd, ssthresh, .. } = self.window;
        let most = before.cwnd.max(before.least_ssthresh());
        if cwnd > before.cwnd {
            return Some(format!("grew cwnd from {} to {cwnd} bytes", before.cwnd));
        }
        if ssthresh > most {
            return Some(format!("left ssthresh at {ssthresh} bytes, more than the window ({most}): set ssthresh"));
        }
        self.window.cwnd = self.window.cwnd.min(ssthresh).max(MSS);
        None
    }
}

/// Drives a queue discipline with arrivals, departures and its timer, twice.
#[pyfunction]
pub fn exercise_queue(plugin: Bound<'_, PyAny>, parameters: &str, seed: u64) -> PyResult<Found> {
    let parameters = read(parameters)?;
    twice(&plugin, seed, |loaded| {
        let queue = loaded.queue(0, &parameters).map_err(SpecificationError::new_err)?;
        let queue = PluginDiscipline::new(queue, loaded.failure(), Some(Limit::Packets(50)));
        let mut queue = queue.map_err(SpecificationError::new_err)?;
        let mut random = Random::stream(seed, Purpose::Source, 0);
        let mut own = Random::stream(seed, Purpose::Queue, 0);
        let mut outcome = Outcome::default();
        let mut pass = Pass::default();
        let (mut now, mut arrived, mut left, mut dropped) = (Time::ZERO, 0u64, 0u64, 0u64);
        let mut timer = queue.timer_interval().map(|interval| now + interval);
        queue.set_link_rate(Rate(10_000_000));
        // Both more and less than the link carries, in turns.
        for event in 0..EVENTS {
            now += Duration::from_microseconds(random.index(2_000));
            while let Some(due) = timer.filter(|due| *due <= now) {
                queue.on_timer(due);
                timer = queue.timer_interval().map(|interval| due + interval);
            }
            let mut context = Context { now, random: &mut own, outcome: &mut outcome };
            let arrives = random.index(10) < if event / 500 % 2 == 0 { 6 } else { 4 };
            let mut sent = None;
            if arrives {
                arrived += 1;
                queue.enqueue(packet(&mut random, arrived), &mut context);
            } else {
                sent = queue.dequeue(&mut context);
                left += u64::from(sent.is_some());
            }
            dropped += outcome.dropped.len() as u64;
            outcome.dropped.clear();
            let told = digest(|tell| queue.tell_state(now, tell));
            if let Some(complaint) = loaded.failure().get() {
                pass.fault = Some(format!("{complaint} (event {event} of seed {seed})"));
                return Ok(pass);
            }
            let (number, flags) = sent.map_or((0, 0), |sent| (sent.packet.number, sent.packet.flags.into()));
            pass.answers.push([number, flags, dropped, queue.packets(), told]);
            assert_eq!(arrived, left + dropped + queue.packets(), "packets are conserved");
        }
        Ok(pass)
    })
}

fn packet(random: &mut Random, number: u64) -> Packet {
    let ecn = if random.index(2) == 0 { flags::ECT_0 } else { 0 };
    let is_data = random.index(4) > 0;
    Packet {
        number,
        stamp: Time::ZERO,
        flow: random.index(20) as u32,
        hop: 0,
        options: OptionsHandle::NONE,
        size: if is_data { 1500 } else { 52 },
        flags: ecn | if is_data { flags::DATA } else { flags::ACK },
    }
}
