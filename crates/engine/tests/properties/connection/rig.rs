//! A connection over a channel that loses, duplicates, reorders and marks.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use serde_json::json;
use sojourn_engine::packet::{Options, OptionsHandle, OptionsPool, Packet, flags};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::connection::Connection;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Address, Sender, State};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

/// The minimum delay of a packet.
const DELAY: Duration = Duration::from_milliseconds(10);

/// The effect of a channel on a packet.
#[derive(Clone, Debug, Default)]
pub struct Fate {
    /// The additional delay of each copy. Empty if the packet is lost.
    pub copies: Vec<Duration>,
    /// Whether the packet is marked if it is ECN-capable.
    pub marked: bool,
}

/// Determines the fate of each packet, in the order of transmission.
pub trait Channel {
    /// The fate of the next packet.
    fn fate(&mut self) -> Fate;
}

/// A connection, the packets in the network, and a clock.
pub struct Rig<C> {
    pub connection: Connection,
    pub channel: C,
    pub under_way: Vec<(Packet, Option<Options>)>,
    arrivals: BinaryHeap<Reverse<(Time, usize)>>,
    options: OptionsPool,
    outbox: Vec<Packet>,
    now: Time,
}

impl<C: Channel> Rig<C> {
    pub fn new(settings: &serde_json::Value, algorithm: &str, size: u64, channel: C, seed: u64) -> Rig<C> {
        let mut algorithm = Algorithm::new(algorithm, &json!({})).expect("a known algorithm");
        algorithm.take_random(Random::stream(seed, Purpose::CongestionControl, 0));
        let profile = StackProfile::from_settings(settings).expect("valid settings");
        let profile = Arc::new(profile.adapted_to(&algorithm.needs()));
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, Arc::clone(&profile), algorithm, SlowStartKind::HyStart, Some(size));
        let receiver = Arc::new(profile.receiver_for(&sender.needs()));
        Rig {
            connection: Connection::new(sender, profile, receiver, address),
            channel,
            under_way: Vec::new(),
            arrivals: BinaryHeap::new(),
            options: OptionsPool::default(),
            outbox: Vec::new(),
            now: Time::ZERO,
        }
    }

    fn dispatch(&mut self) {
        for mut packet in std::mem::take(&mut self.outbox) {
            let fate = self.channel.fate();
            if fate.marked && packet.is_ecn_capable() {
                packet.mark();
            }
            let options = self.options.take(packet.options);
            for later in fate.copies {
                self.arrivals.push(Reverse((self.now + DELAY + later, self.under_way.len())));
                self.under_way.push((packet, options));
            }
        }
    }

    /// Runs until the sender has finished. Panics if it does not.
    pub fn run(&mut self) -> State {
        self.connection.sender.open(self.now, &mut self.outbox);
        let (mut delivered, mut received) = (0, 0);
        for _ in 0..2_000_000 {
            self.dispatch();
            let state = self.connection.sender.state();
            if matches!(state, State::Completed | State::Aborted(_)) {
                return state;
            }
            let arrival = self.arrivals.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
            let retransmission = self.connection.sender.deadline();
            let pacing = self.connection.sender.pacing_deadline();
            let acknowledgement = self.connection.receiver.ack_deadline;
            self.now = arrival.min(retransmission).min(acknowledgement).min(pacing);
            assert!(self.now < Time::NEVER, "the connection waits for nothing: {state:?}");
            if arrival == self.now {
                let Some(Reverse((_, index))) = self.arrivals.pop() else { unreachable!() };
                let (mut packet, options) = self.under_way[index];
                packet.options = options.map_or(OptionsHandle::NONE, |options| self.options.put(options));
                if packet.has(flags::ACK) {
                    self.connection.on_ack(&packet, self.now, &mut self.options, &mut self.outbox);
                } else {
                    self.outbox.extend(self.connection.on_data(&packet, self.now, &mut self.options));
                }
            } else if acknowledgement == self.now {
                self.outbox.extend(self.connection.on_receiver_timer(self.now, &mut self.options));
            } else if pacing == self.now {
                self.connection.sender.on_pacing_timer(self.now, &mut self.outbox);
            } else {
                self.connection.sender.on_timer(self.now, &mut self.outbox);
            }
            assert!(self.connection.delivered() >= delivered, "delivered bytes are never taken back");
            delivered = self.connection.delivered();
            assert!(
                self.connection.received() >= delivered.max(received),
                "received bytes are kept, and delivered ones among them"
            );
            received = self.connection.received();
            let window = self.connection.sender.window();
            assert!(window.cwnd >= window.mss, "the window is at least one segment");
        }
        panic!("two million events and not done");
    }
}
