//! A connection over a channel that loses, duplicates and reorders: whatever happens, every byte arrives once and in
//! order, or the connection is recorded as given up.

use std::cmp::Reverse;
use std::collections::BinaryHeap;
use std::sync::Arc;

use proptest::prelude::*;
use serde_json::json;
use sojourn_engine::packet::{AckOptions, OptionsPool, Packet, flags};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::connection::Connection;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::{Address, Sender, State};
use sojourn_engine::tcp::slow_start::SlowStartKind;
use sojourn_engine::time::{Duration, Time};

/// What a channel does to each packet.
#[derive(Clone, Copy, Debug)]
struct Channel {
    loss: f64,
    duplication: f64,
    /// Delays are uniform between 10 ms and this much more.
    jitter: Duration,
    /// Share of ECN-capable packets that it marks.
    marking: f64,
}

/// A connection, the packets under way, and a clock.
struct Rig {
    connection: Connection,
    random: Random,
    channel: Channel,
    under_way: Vec<(Packet, AckOptions)>,
    arrivals: BinaryHeap<Reverse<(Time, usize)>>,
    options: OptionsPool,
    outbox: Vec<Packet>,
    now: Time,
}

impl Rig {
    fn new(settings: &serde_json::Value, algorithm: &str, size: u64, channel: Channel, seed: u64) -> Rig {
        let mut algorithm = Algorithm::new(algorithm, &json!({})).expect("a known algorithm");
        algorithm.take_random(Random::stream(seed, Purpose::CongestionControl, 0));
        let profile = StackProfile::from_settings(settings).expect("valid settings");
        let profile = Arc::new(profile.adapted_to(&algorithm.needs()));
        let address = Address { flow: 0, first_hop: 0 };
        let sender = Sender::new(address, Arc::clone(&profile), algorithm, SlowStartKind::HyStart, Some(size));
        Rig {
            connection: Connection::new(sender, profile, address),
            random: Random::stream(seed, Purpose::Source, 0),
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
            if packet.is_ecn_capable() && self.random.unit() < self.channel.marking {
                packet.mark();
            }
            let options = *self.options.get(packet.options).unwrap_or(&AckOptions::NONE);
            self.options.release(packet.options);
            let copies = if self.random.unit() < self.channel.duplication { 2 } else { 1 };
            for _ in 0..copies {
                if self.random.unit() >= self.channel.loss {
                    let delay = Duration::from_milliseconds(10) + self.random.below(self.channel.jitter);
                    self.arrivals.push(Reverse((self.now + delay, self.under_way.len())));
                    self.under_way.push((packet, options));
                }
            }
        }
    }

    /// Runs until the sender is done; panics if it never is.
    fn run(&mut self) -> State {
        self.connection.sender.open(self.now, &mut self.outbox);
        let mut delivered = 0;
        for _ in 0..2_000_000 {
            self.dispatch();
            let state = self.connection.sender.state();
            if matches!(state, State::Completed | State::Aborted(_)) {
                return state;
            }
            let arrival = self.arrivals.peek().map_or(Time::NEVER, |Reverse((time, _))| *time);
            let retransmission = self.connection.sender.deadline();
            let release = self.connection.sender.release;
            let acknowledgement = self.connection.receiver.ack_deadline;
            self.now = arrival.min(retransmission).min(acknowledgement).min(release);
            assert!(self.now < Time::NEVER, "the connection waits for nothing: {state:?}");
            if arrival == self.now {
                let Some(Reverse((_, index))) = self.arrivals.pop() else { unreachable!() };
                let (mut packet, options) = self.under_way[index];
                packet.options = self.options.put(options);
                if packet.has(flags::ACK) {
                    self.connection.on_ack(&packet, self.now, &mut self.options, &mut self.outbox);
                } else {
                    self.outbox.extend(self.connection.on_data(&packet, self.now, &mut self.options));
                }
            } else if acknowledgement == self.now {
                self.outbox.push(self.connection.acknowledge(&mut self.options));
            } else if release == self.now {
                self.connection.sender.on_release(self.now, &mut self.outbox);
            } else {
                self.connection.sender.on_timer(self.now, &mut self.outbox);
            }
            assert!(self.connection.delivered() >= delivered, "delivered bytes are never taken back");
            delivered = self.connection.delivered();
            let window = self.connection.sender.window();
            assert!(window.cwnd >= window.mss, "the window is at least one segment");
        }
        panic!("two million events and not done");
    }
}

/// Stacks of every kind: with what a recovery needs, and with what a receiver may do.
fn settings() -> impl Strategy<Value = serde_json::Value> {
    let recoveries = prop::sample::select(vec!["tahoe", "reno", "newreno", "sack", "fack", "prr", "rack"]);
    let feedback = (any::<bool>(), prop::sample::select(vec!["off", "classic", "accurate"]), any::<bool>());
    (recoveries, any::<(bool, bool, bool)>(), feedback, 1u64..4, 0u64..20).prop_map(
        |(recovery, (sack, timestamps, limited), (duplicate_sack, ecn, pacing), delayed_ack_count, quick_acks)| {
            let needs_sack = ["sack", "fack", "prr", "rack"].contains(&recovery);
            let mut settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
            let changes = json!({
                "recovery": recovery, "sack": sack || needs_sack, "duplicate_sack": duplicate_sack && (sack || needs_sack),
                "timestamps": timestamps, "limited_transmit": limited, "ecn": ecn, "pacing": pacing,
                "delayed_ack_count": delayed_ack_count, "quick_acks": quick_acks,
            });
            let changes = changes.as_object().expect("an object").clone();
            settings.as_object_mut().expect("an object").extend(changes);
            settings
        },
    )
}

/// Any algorithm of the catalogue.
fn algorithm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Algorithm::catalogue().into_iter().map(|(about, _)| about.name).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Every stack and algorithm over every kind of bad channel: complete, to the byte, or given up after its retries.
    #[test]
    fn every_byte_arrives_once_and_in_order_or_the_connection_is_given_up(
        size in 1u64..400_000,
        loss in prop_oneof![Just(0.0), 0.0..0.1, 0.1..0.5],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
        jitter in prop_oneof![Just(0u64), 0u64..50],
        marking in prop_oneof![Just(0.0), 0.0..0.5],
        settings in settings(),
        algorithm in algorithm(),
        seed in any::<u64>(),
    ) {
        let channel = Channel { loss, duplication, jitter: Duration::from_milliseconds(jitter), marking };
        let mut rig = Rig::new(&settings, algorithm, size, channel, seed);
        match rig.run() {
            State::Completed => prop_assert_eq!(rig.connection.delivered(), size),
            State::Aborted(_) => prop_assert!(loss > 0.0, "given up on a channel without loss"),
            state => prop_assert!(false, "{:?}", state),
        }
        if loss == 0.0 && jitter == 0 && duplication == 0.0 {
            prop_assert_eq!(rig.connection.sender.statistics.timeouts, 0);
            prop_assert_eq!(rig.connection.sender.statistics.retransmissions, 0);
        }
        if marking == 0.0 || settings["ecn"] == "off" {
            prop_assert_eq!(rig.connection.sender.statistics.mark_reductions, 0);
        }
    }
}

/// The rig itself: packets are data, acknowledgements and one handshake, and over a clean channel none is sent twice.
#[test]
fn a_clean_channel_carries_each_segment_once() {
    let channel = Channel { loss: 0.0, duplication: 0.0, jitter: Duration::ZERO, marking: 0.0 };
    let settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
    let mut rig = Rig::new(&settings, "newreno", 100_000, channel, 1);
    assert_eq!(rig.run(), State::Completed);
    let data = rig.under_way.iter().filter(|(packet, _)| packet.has(flags::DATA)).count();
    assert_eq!(data as u64, 100_000u64.div_ceil(1448));
}

/// A channel that only reorders, by up to a quarter of the least round trip: RACK learns to wait (RFC 8985 section 6.2, step 4),
/// takes back what it did before it had (RFC 3708), and sends next to nothing again. Counting SACKs goes on to take each
/// late segment for lost.
#[test]
fn rack_learns_to_wait_for_late_segments() {
    let run = |recovery: &str| {
        let channel = Channel { loss: 0.0, duplication: 0.0, jitter: Duration::from_milliseconds(5), marking: 0.0 };
        let mut settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
        settings["recovery"] = json!(recovery);
        settings["duplicate_sack"] = json!(true);
        let mut rig = Rig::new(&settings, "newreno", 10_000_000, channel, 1);
        assert_eq!(rig.run(), State::Completed);
        rig.connection.sender.statistics
    };
    let (rack, counting) = (run("rack"), run("prr"));
    assert!(rack.undone_reductions > 0, "{rack:?}");
    assert!(rack.fast_recoveries <= 3 && rack.retransmissions < 20, "{rack:?}");
    assert!(counting.fast_recoveries > 10 * rack.fast_recoveries, "{counting:?}");
}
