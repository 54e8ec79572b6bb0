//! What an agent in a queue saw since its last question.

use sojourn_engine::queue::{Seen, Verdict, View};
use sojourn_engine::time::{Duration, Time};

use crate::observer::{Measured, share};

/// Counts what happens in a queue, from one question to the next.
#[derive(Clone, Debug, Default)]
pub struct QueueObserver {
    since: Time,
    /// Bytes, headers included, that arrived and that left.
    arrived: u64,
    left: u64,
    /// Packets that arrived, that left, that were dropped, by the agent or since there was no room, and that it marked.
    arrivals: u64,
    departures: u64,
    dropped: u64,
    marked: u64,
    /// The sum of the sojourn times of the packets that left.
    sojourn: Duration,
    pub last_sojourn: Option<Duration>,
    /// What is queued, as of the latest arrival or departure.
    pub packets: u64,
    pub bytes: u64,
    /// The link's rate, in bits a second.
    pub rate: f64,
}

impl QueueObserver {
    /// What the interval that ends now was like: a sojourn time stands for a round-trip time.
    pub fn measure(&self, now: Time) -> Measured {
        let seconds = now.since(self.since).seconds();
        let per_second = |bytes: u64| if seconds > 0.0 { 8.0 * bytes as f64 / seconds } else { 0.0 };
        Measured {
            seconds,
            send_rate: per_second(self.arrived),
            throughput: per_second(self.left),
            rtt: if self.departures > 0 { self.sojourn.seconds() / self.departures as f64 } else { 0.0 },
            loss: share(self.dropped, self.arrivals),
            marks: share(self.marked, self.arrivals),
            link_rate: self.rate,
            ..Measured::default()
        }
    }

    pub fn begin(&mut self, now: Time) {
        let QueueObserver { last_sojourn, packets, bytes, rate, .. } = *self;
        *self = QueueObserver { since: now, last_sojourn, packets, bytes, rate, ..QueueObserver::default() };
    }

    /// A packet arrived for which there was no room.
    pub fn overflow(&mut self, packet: &Seen) {
        self.arrivals += 1;
        self.arrived += u64::from(packet.size);
        self.dropped += 1;
    }

    /// A packet arrived, and the agent decided.
    pub fn arrive(&mut self, packet: &Seen, verdict: Verdict, view: &View<'_>) {
        self.arrivals += 1;
        self.arrived += u64::from(packet.size);
        match verdict {
            Verdict::Mark if packet.is_ecn_capable => self.marked += 1,
            Verdict::Mark => self.dropped += 1,
            _ => {}
        }
        let stays = u64::from(verdict == Verdict::Pass || packet.is_ecn_capable);
        self.packets = view.packets[0] + stays;
        self.bytes = view.bytes[0] + stays * u64::from(packet.size);
    }

    /// A packet left.
    pub fn leave(&mut self, packet: &Seen, view: &View<'_>) {
        let sojourn = view.now.since(packet.since);
        self.departures += 1;
        self.left += u64::from(packet.size);
        self.sojourn = self.sojourn + sojourn;
        self.last_sojourn = Some(sojourn);
        (self.packets, self.bytes) = (view.packets[0], view.bytes[0]);
    }
}
