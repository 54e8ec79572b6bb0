//! A download over CUBIC and a game share a line of 20 Mbit/s, behind a long FIFO and behind FQ-CoDel.
//!
//! The clock, the events and the detection of losses are this program's, as they are in the simulator of a QUIC stack. The
//! queue disciplines, the congestion control and the order in which it is told what happened are the engine's.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap};

use serde_json::json;
use sojourn_engine::packet::{OptionsHandle, Packet, flags};
use sojourn_engine::queue::{
    Context, DropTail, DropTailParameters, FqCoDel, FqCoDelParameters, Limit, Outcome, QueueDiscipline, Queued,
};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{Ack, Algorithm};
use sojourn_engine::tcp::flight::Phase;
use sojourn_engine::tcp::governor::Governor;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

const LINE: Rate = Rate(20_000_000);
const ROUND_TRIP: Duration = Duration::from_milliseconds(40);
const GAME_INTERVAL: Duration = Duration::from_milliseconds(20);
const END: Duration = Duration::from_seconds(30);
const BUFFER: Limit = Limit::Packets(1000);
const SEGMENT: u64 = 1448;
const HEADER: u64 = 52;

const DOWNLOAD: u32 = 0;
const GAME: u32 = 1;

/// RFC 9002 section 6.1.1: a packet is lost once one sent so many later is acknowledged.
const PACKET_THRESHOLD: u64 = 3;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Event {
    /// The line has sent a packet.
    Idle,
    /// The acknowledgement of the download's packet of this number arrives at its sender.
    Acknowledged(u64),
    /// The game sends a packet.
    Game,
}

/// The sender of the download. Each packet has a number of its own, also what is sent again.
struct Download {
    governor: Governor,
    window: Window,
    smoothed: Duration,
    next: u64,
    /// When the packets in flight were sent.
    sent: BTreeMap<u64, Time>,
    /// Losses of packets before this one are of a congestion event that has been answered.
    recovered: u64,
}

impl Download {
    fn new() -> Download {
        let profile = StackProfile::default();
        let cubic = Algorithm::new("cubic", &json!({"beta": 0.7})).expect("the catalogue has it");
        Download {
            governor: Governor::new(cubic, SlowStartKind::Standard, &profile),
            window: Window { cwnd: profile.initial_window * SEGMENT, ssthresh: u64::MAX, mss: SEGMENT },
            smoothed: ROUND_TRIP,
            next: 0,
            sent: BTreeMap::new(),
            recovered: 0,
        }
    }

    fn in_flight(&self) -> u64 {
        self.sent.len() as u64 * SEGMENT
    }

    /// The number of the next packet, if the window allows one.
    fn send(&mut self, now: Time) -> Option<u64> {
        let fits = self.in_flight() + SEGMENT <= self.window.cwnd;
        fits.then(|| {
            self.sent.insert(self.next, now);
            self.next += 1;
            self.next - 1
        })
    }

    fn acknowledged(&mut self, number: u64, now: Time) {
        let Some(sent) = self.sent.remove(&number) else { return };
        let rtt = now.since(sent);
        self.smoothed = Duration((self.smoothed.0 * 7 + rtt.0) / 8);
        let flight = self.in_flight() + SEGMENT;
        let still = self.sent.split_off(&number.saturating_sub(PACKET_THRESHOLD - 1));
        let lost = std::mem::replace(&mut self.sent, still);
        if lost.keys().any(|number| *number >= self.recovered) {
            self.governor.on_loss(&mut self.window, flight, now);
            self.governor.reduce(&mut self.window);
            self.recovered = self.next;
        } else if number >= self.recovered {
            let first = self.sent.keys().next().unwrap_or(&self.next);
            let mut ack = Ack {
                now,
                acked: SEGMENT,
                credit: self.governor.credit(SEGMENT, SEGMENT, &self.window, Phase::Open),
                rtt: Some(rtt),
                srtt: self.smoothed,
                una: first * SEGMENT,
                nxt: self.next * SEGMENT,
                in_flight: self.in_flight(),
                ..Ack::default()
            };
            self.governor.on_ack(&mut self.window, &mut ack, true);
        }
    }
}

/// The line and what waits for it.
struct Line<Q> {
    queue: Q,
    random: Random,
    outcome: Outcome,
    is_busy: bool,
}

impl<Q: QueueDiscipline> Line<Q> {
    fn enqueue(&mut self, flow: u32, number: u64, size: u64, now: Time) {
        let size = size as u16;
        let packet =
            Packet { number, stamp: now, flow, hop: 0, options: OptionsHandle::NONE, size, flags: flags::DATA };
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        self.queue.enqueue(packet, &mut context);
    }

    /// The next packet and when it was queued. What the discipline dropped meanwhile is in `outcome`.
    fn dequeue(&mut self, now: Time) -> Option<Queued> {
        let mut context = Context { now, random: &mut self.random, outcome: &mut self.outcome };
        self.queue.dequeue(&mut context)
    }
}

/// What a run shows.
pub struct Seen {
    /// Payload that the line carried for the download, in bits per second.
    pub download: f64,
    /// The longest that a packet of the game waited before the line.
    pub longest_wait: Duration,
    /// Packets that the discipline dropped.
    pub drops: usize,
}

/// Both flows behind a discipline.
pub fn simulate(mut queue: impl QueueDiscipline) -> Seen {
    queue.set_link_rate(LINE);
    let random = Random::stream(1, Purpose::Queue, 0);
    let mut line = Line { queue, random, outcome: Outcome::default(), is_busy: false };
    let mut download = Download::new();
    let mut seen = Seen { download: 0.0, longest_wait: Duration::ZERO, drops: 0 };
    let mut events = BinaryHeap::from([Reverse((Time::ZERO, Event::Game))]);
    while let Some(Reverse((now, event))) = events.pop() {
        if now > Time::ZERO + END {
            break;
        }
        match event {
            Event::Idle => line.is_busy = false,
            Event::Acknowledged(number) => download.acknowledged(number, now),
            Event::Game => {
                line.enqueue(GAME, 0, 100, now);
                events.push(Reverse((now + GAME_INTERVAL, Event::Game)));
            }
        }
        while let Some(number) = download.send(now) {
            line.enqueue(DOWNLOAD, number, SEGMENT + HEADER, now);
        }
        if !line.is_busy
            && let Some(Queued { packet, since }) = line.dequeue(now)
        {
            let idle = now + LINE.transmission_time(u64::from(packet.size));
            line.is_busy = true;
            events.push(Reverse((idle, Event::Idle)));
            if packet.flow == DOWNLOAD {
                events.push(Reverse((idle + ROUND_TRIP, Event::Acknowledged(packet.number))));
                seen.download += SEGMENT as f64 * 8.0 / END.seconds();
            } else {
                seen.longest_wait = seen.longest_wait.max(now.since(since));
            }
        }
        seen.drops += line.outcome.dropped.drain(..).count();
    }
    seen
}

/// The FIFO and FQ-CoDel.
pub fn both() -> [(&'static str, Seen); 2] {
    let fifo = DropTail::new(BUFFER, DropTailParameters::default());
    let fair = FqCoDel::new(BUFFER, FqCoDelParameters::default());
    [("droptail", simulate(fifo)), ("fq_codel", simulate(fair))]
}

fn main() {
    for (name, Seen { download, longest_wait, drops }) in both() {
        let milliseconds = longest_wait.seconds() * 1e3;
        println!(
            "{name}: download {:.1} Mbit/s, game waits at most {milliseconds:.1} ms, {drops} drops",
            download / 1e6
        );
    }
}
