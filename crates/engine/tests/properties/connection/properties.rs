//! Every stack and algorithm over channels with any rates of loss, duplication, reordering and marks.

use proptest::prelude::*;
use serde_json::json;
use sojourn_engine::packet::flags;
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::tcp::congestion::{Algorithm, CongestionControl};
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::State;
use sojourn_engine::time::Duration;

use super::rig::{Channel, Fate, Rig};

/// A channel with the same fault rates for all packets.
struct Noisy {
    loss: f64,
    duplication: f64,
    /// Additional delays are uniform on zero to this value.
    jitter: Duration,
    /// The share of ECN-capable packets that is marked.
    marking: f64,
    random: Random,
}

impl Channel for Noisy {
    fn fate(&mut self) -> Fate {
        let marked = self.random.unit() < self.marking;
        let copies = if self.random.unit() < self.duplication { 2 } else { 1 };
        let mut fate = Fate { copies: Vec::new(), marked };
        for _ in 0..copies {
            if self.random.unit() >= self.loss {
                fate.copies.push(self.random.below(self.jitter));
            }
        }
        fate
    }
}

fn random(seed: u64) -> Random {
    Random::stream(seed, Purpose::Source, 0)
}

/// Stacks of all kinds: settings for each recovery and options of the receiver.
fn settings() -> impl Strategy<Value = serde_json::Value> {
    let recoveries = prop::sample::select(vec![
        "tahoe",
        "reno",
        "newreno",
        "sack",
        "fack",
        "prr",
        "rack",
        "ns2_linux",
        "ns3_classic",
        "ns3_prr",
    ]);
    let feedback = (any::<bool>(), prop::sample::select(vec!["off", "classic", "accurate"]), any::<bool>());
    let offload = prop::sample::select(vec![0u64, 100_000_000, 5_000_000_000]);
    let window = (any::<bool>(), prop::sample::select(vec![0u64, 0, 1_000_000, 100_000_000]), 1500u64..300_000);
    (recoveries, any::<(bool, bool, bool, bool, bool)>(), feedback, 1u64..4, 0u64..20, (offload, window)).prop_map(
        |(
            recovery,
            (sack, timestamps, limited, repeated, send_offload),
            (duplicate_sack, ecn, pacing),
            delayed_ack_count,
            quick_acks,
            (offload, (grows, reading_rate, receive_buffer)),
        )| {
            let needs_sack = ["sack", "fack", "prr", "rack", "ns2_linux", "ns3_classic", "ns3_prr"].contains(&recovery);
            let mut settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
            let changes = json!({
                "recovery": recovery, "sack": sack || needs_sack, "duplicate_sack": duplicate_sack && (sack || needs_sack),
                "timestamps": timestamps, "limited_transmit": limited, "ecn": ecn, "pacing": pacing,
                "delayed_ack_count": delayed_ack_count, "quick_acks": quick_acks, "repeated_fast_retransmit": repeated,
                "send_offload": send_offload, "receive_offload": offload, "receive_window_grows": grows, "reading_rate": reading_rate,
                "receive_buffer": receive_buffer,
            });
            let changes = changes.as_object().expect("an object").clone();
            settings.as_object_mut().expect("an object").extend(changes);
            settings
        },
    )
}

/// Any named profile.
fn profile() -> impl Strategy<Value = serde_json::Value> {
    let profiles = StackProfile::named().into_iter().map(|profile| profile.name).collect::<Vec<_>>();
    prop::sample::select(profiles)
        .prop_map(|name| serde_json::to_value(StackProfile::of_name(name)).expect("serialisable"))
}

/// Any algorithm of the catalogue.
fn algorithm() -> impl Strategy<Value = &'static str> {
    prop::sample::select(Algorithm::catalogue().into_iter().map(|(about, _)| about.name).collect::<Vec<_>>())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4000))]

    /// Every stack and algorithm over any faulty channel delivers every byte in order, or aborts after its retries.
    #[test]
    fn in_order_delivery(
        size in 1u64..400_000,
        loss in prop_oneof![Just(0.0), 0.0..0.1, 0.1..0.5],
        duplication in prop_oneof![Just(0.0), 0.0..0.3],
        jitter in prop_oneof![Just(0u64), 0u64..50],
        marking in prop_oneof![Just(0.0), 0.0..0.5],
        settings in prop_oneof![4 => settings(), 1 => profile()],
        algorithm in algorithm(),
        seed in any::<u64>(),
    ) {
        let channel = Noisy { loss, duplication, jitter: Duration::from_milliseconds(jitter), marking, random: random(seed) };
        let mut rig = Rig::new(&settings, algorithm, size, channel, seed);
        match rig.run() {
            State::Completed => prop_assert_eq!([rig.connection.delivered(), rig.connection.received()], [size; 2]),
            State::Aborted(_) => prop_assert!(loss > 0.0, "given up on a channel without loss"),
            state => prop_assert!(false, "{:?}", state),
        }
        // A window of few segments, whose acknowledgement is delayed, is probed for a loss (RFC 8985 section 7.2).
        let has_room = settings["reading_rate"] == 0 && settings["receive_buffer"].as_u64() > Some(20_000);
        if loss == 0.0 && jitter == 0 && duplication == 0.0 && has_room {
            prop_assert_eq!(rig.connection.sender.statistics.timeouts, 0);
            prop_assert_eq!(rig.connection.sender.statistics.retransmissions, 0);
        }
        // An algorithm that needs marks gets them with any settings of the stack.
        let needs_marks = Algorithm::new(algorithm, &json!({})).expect("a known algorithm").needs().ecn.is_some();
        if marking == 0.0 || (settings["ecn"] == "off" && !needs_marks) {
            prop_assert_eq!(rig.connection.sender.statistics.mark_reductions, 0);
        }
    }
}

/// Test of the rig: packets are data, acknowledgements and one handshake, and over a clean channel none is
/// retransmitted.
#[test]
fn clean_channel() {
    let channel = Noisy { loss: 0.0, duplication: 0.0, jitter: Duration::ZERO, marking: 0.0, random: random(1) };
    let settings = serde_json::to_value(StackProfile::default()).expect("serialisable");
    let mut rig = Rig::new(&settings, "newreno", 100_000, channel, 1);
    assert_eq!(rig.run(), State::Completed);
    let data = rig.under_way.iter().filter(|(packet, _)| packet.has(flags::DATA)).count();
    assert_eq!(data as u64, 100_000u64.div_ceil(1448));
}

/// On a channel that only reorders, by up to a quarter of the minimum RTT, RACK adapts its reordering window (RFC 8985
/// section 6.2, step 4), undoes the reductions made before that (RFC 3708), and retransmits almost nothing. Recovery
/// that counts SACKs keeps retransmitting late segments.
#[test]
fn rack_with_reordering() {
    let run = |recovery: &str| {
        let channel = Noisy {
            loss: 0.0,
            duplication: 0.0,
            jitter: Duration::from_milliseconds(5),
            marking: 0.0,
            random: random(1),
        };
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
