//! Properties of TFRC for any fates of its packets: data and feedback lost, late or reordered.

use std::sync::Arc;

use proptest::collection::vec;
use proptest::prelude::*;
use serde_json::json;
use sojourn_engine::packet::{OptionsPool, Packet, flags};
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::sender::Address;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::traffic::{Blueprint, RateBased, SourceSetup, Traffic};

/// The fate of a packet.
#[derive(Clone, Copy, Debug)]
enum Fate {
    Lost,
    Delivered { after: Duration, marked: bool },
}

fn fate() -> impl Strategy<Value = Fate> {
    let after = prop_oneof![6 => 10_000..12_000u64, 2 => 1_000..100_000u64, 1 => 100_000..5_000_000u64];
    prop_oneof![
        1 => Just(Fate::Lost),
        6 => (after, 0..20u8).prop_map(|(after, mark)| Fate::Delivered {
            after: Duration::from_microseconds(after),
            marked: mark == 0,
        }),
    ]
}

/// Both ends and the packets in the network.
struct Channel {
    source: Traffic,
    options: OptionsPool,
    under_way: Vec<(Time, Packet)>,
    /// Fates of the packets, repeated cyclically.
    fates: Vec<Fate>,
    next_fate: usize,
    /// Transmission times of the data packets, in order.
    sent: Vec<Time>,
}

impl Channel {
    fn new(parameters: &serde_json::Value, size: Option<u64>, fates: Vec<Fate>) -> Channel {
        let blueprint = Blueprint::of("tfrc", parameters).expect("valid parameters").expect("a source");
        let address = Address { flow: 0, first_hop: 0 };
        let setup = SourceSetup {
            address,
            return_address: Some(address),
            profile: Arc::new(StackProfile::default()),
            size,
            seed: 1,
        };
        Channel {
            source: blueprint.build(setup),
            options: OptionsPool::default(),
            under_way: Vec::new(),
            fates,
            next_fate: 0,
            sent: Vec::new(),
        }
    }

    fn enter(&mut self, mut packet: Packet, now: Time) {
        let fate = self.fates[self.next_fate % self.fates.len()];
        self.next_fate += 1;
        match fate {
            Fate::Lost => self.options.release(packet.options),
            Fate::Delivered { after, marked } => {
                if marked {
                    packet.flags |= flags::CONGESTION_EXPERIENCED;
                }
                self.under_way.push((now + after, packet));
            }
        }
    }

    /// Processes up to `events` events before `end`.
    fn run(&mut self, events: usize, end: Time) {
        let mut outbox = Vec::new();
        self.source.start(Time::ZERO, &mut outbox, &mut self.options);
        self.send(&mut outbox, Time::ZERO);
        for _ in 0..events {
            let arrival = (0..self.under_way.len()).min_by_key(|index| self.under_way[*index].0);
            let arrives = arrival.map_or(Time::NEVER, |index| self.under_way[index].0);
            let (pacing, deadline, answer) =
                (self.source.pacing_deadline(), self.source.deadline(), self.source.answer_deadline());
            let now = arrives.min(pacing).min(deadline).min(answer);
            if now >= end {
                return;
            }
            if let Some(index) = arrival.filter(|_| arrives == now) {
                let (_, packet) = self.under_way.swap_remove(index);
                if packet.has(flags::ACK) {
                    self.source.on_answer(&packet, now, &mut self.options);
                } else if let Some(feedback) = self.source.on_data(&packet, now, &mut self.options) {
                    self.enter(feedback, now);
                }
            } else if pacing == now {
                self.source.on_pacing_timer(now, &mut outbox, &mut self.options);
                self.send(&mut outbox, now);
            } else if deadline == now {
                self.source.on_deadline(now);
            } else if let Some(feedback) = self.source.on_answer_deadline(now, &mut self.options) {
                self.enter(feedback, now);
            }
        }
    }

    fn send(&mut self, outbox: &mut Vec<Packet>, now: Time) {
        for packet in std::mem::take(outbox) {
            self.sent.push(now);
            self.enter(packet, now);
        }
    }
}

fn parameters() -> impl Strategy<Value = serde_json::Value> {
    (any::<bool>(), any::<bool>(), prop::sample::select(vec![1, 2, 3, 8, 64]), 0.0..=1.0f64, 0.0..=1.0f64).prop_map(
        |(prevention, discounting, intervals, weight, threshold)| {
            json!({
                "oscillation_prevention": prevention, "history_discounting": discounting, "loss_intervals": intervals,
                "rtt_weight": weight, "root_rtt_weight": weight, "discount_threshold": threshold,
            })
        },
    )
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 500, failure_persistence: None, ..ProptestConfig::default() })]

    /// No panic and no overflow, at least one packet in 64 s (t_mbi of RFC 5348 section 4.3), no deliveries of packets
    /// that were not sent, and a second run gives the same.
    #[test]
    fn tfrc_progress(parameters in parameters(), fates in vec(fate(), 1..200)) {
        let run = || {
            let mut channel = Channel::new(&parameters, None, fates.clone());
            channel.run(4000, Time::ZERO + Duration::from_seconds(2000));
            (channel.sent, channel.source.delivered())
        };
        let (sent, delivered) = run();
        for pair in sent.windows(2) {
            let pause = pair[1].since(pair[0]);
            prop_assert!(pause <= Duration::from_seconds(64), "nothing was sent for {} s", pause.seconds());
        }
        prop_assert!(delivered <= sent.len() as u64 * 1448);
        prop_assert_eq!((sent, delivered), run());
    }

    /// A flow with a size sends all of it, once, and then has no pending timer, for any losses.
    #[test]
    fn tfrc_finite_flow(size in 1..100_000u64, fates in vec(fate(), 1..200)) {
        let mut channel = Channel::new(&json!({}), Some(size), fates);
        channel.run(usize::MAX, Time::ZERO + Duration::from_seconds(64 * 80));
        prop_assert_eq!(channel.sent.len() as u64, size.div_ceil(1448));
        prop_assert_eq!((channel.source.pacing_deadline(), channel.source.deadline()), (Time::NEVER, Time::NEVER));
    }
}

/// Without any feedback the rate is halved repeatedly, down to one packet in 64 s (sections 4.2 and 4.4).
#[test]
fn tfrc_without_feedback() {
    let mut channel = Channel::new(&json!({}), None, vec![Fate::Lost]);
    channel.run(usize::MAX, Time::ZERO + Duration::from_seconds(1000));
    let pauses: Vec<f64> = channel.sent.windows(2).map(|pair| pair[1].since(pair[0]).seconds()).collect();
    assert!((pauses[0] - 1.0).abs() < 1e-9, "{pauses:?}");
    assert!(pauses.windows(2).all(|pair| pair[0] <= pair[1]), "{pauses:?}");
    assert!(pauses.iter().rev().take(5).all(|pause| (pause - 64.0).abs() < 1e-9), "{pauses:?}");
}
