//! SRED: the equations of Ott, Lakshman and Wong 1999.

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{DropCause, Limit, QueueDiscipline, Sred, SredParameters};
use sojourn_engine::time::Time;

use super::bench::{Bench, UNLIMITED, packet};

fn of_flow(flow: u32, ecn_flag: u8) -> Packet {
    Packet { flow, ..packet(1000, ecn_flag) }
}

/// Equation 4.3, with p_max = 0.15.
#[test]
fn occupancy_levels() {
    let parameters = SredParameters::default();
    for (share, expected) in
        [(0.0, 0.0), (0.166, 0.0), (1.0 / 6.0, 0.0375), (0.333, 0.0375), (1.0 / 3.0, 0.15), (0.99, 0.15)]
    {
        assert_eq!(parameters.by_occupancy(share), expected, "{share}");
    }
}

/// Equations 4.4 to 4.8: p_sred N^2 / 65536 up to 256 flows, p_sred beyond.
#[test]
fn probability_by_number_of_flows() {
    let parameters = SredParameters::default();
    for flows in [1.0, 2.0, 16.0, 100.0, 256.0, 257.0, 1e4, f64::INFINITY] {
        let got = parameters.drop_probability(0.5, 1.0 / flows, false);
        let expected = 0.15 * (flows * flows / 65_536.0).min(1.0);
        assert!((got - expected).abs() < 1e-12, "{flows}: {got}, not {expected}");
    }
}

/// Equation 5.1: a hit has 1 + 1/P times the drop probability, at most 1.
#[test]
fn probability_of_hits() {
    let parameters = SredParameters::default();
    let ratio = parameters.drop_probability(0.5, 0.1, true) / parameters.drop_probability(0.5, 0.1, false);
    assert!((ratio - 11.0).abs() < 1e-9, "{ratio}");
    assert_eq!(parameters.drop_probability(0.5, 1e-3, true), 1.0);
}

/// Equation 3.5: among N equal flows packets are hits with frequency 1/N. An average over the weight's 1000 packets has
/// the standard deviation sqrt(P (1 - P) / 2000).
#[test]
fn number_of_flows() {
    for flows in [1u32, 4, 20] {
        let mut bench = Bench::new(Sred::new(UNLIMITED, SredParameters::default()), 1);
        let (mut sum, mut samples) = (0.0, 0.0);
        for arrival in 0..100_000u64 {
            let flow = bench.random.index(u64::from(flows)) as u32;
            bench.enqueue(Time::ZERO, of_flow(flow, 0));
            bench.dequeue(Time::ZERO);
            if arrival > 20_000 && arrival % 2_000 == 0 {
                sum += bench.queue.hit_frequency();
                samples += 1.0;
            }
        }
        let (mean, expected) = (sum / samples, 1.0 / f64::from(flows));
        let deviation = (expected * (1.0 - expected) / 2_000.0f64).sqrt() / f64::sqrt(samples);
        assert!((mean - expected).abs() <= 4.0 * deviation + 1e-6, "{flows} flows: {mean}");
    }
}

/// Equation 5.2: a flow that sends the share s of all packets loses 1 + s / P times what it would without hits. With
/// one flow that sends half, and fifty that send 1 % each: P = 0.255, and the one loses 2.85 times as large a share of
/// its packets.
#[test]
fn unequal_flows() {
    let mut bench = Bench::new(Sred::new(Limit::Packets(100), SredParameters::default()), 1);
    // At an occupancy of at least a third.
    let mut sent = [0.0f64; 2];
    let mut counted = 0;
    let mut lost = [0.0f64; 2];
    for arrival in 0..3_000_000u64 {
        let flow = bench.random.index(100).saturating_sub(49) as u32;
        bench.enqueue(Time::ZERO, of_flow(flow, 0));
        if bench.queue.packets() > 50 {
            bench.dequeue(Time::ZERO);
        }
        if arrival >= 20_000 {
            sent[usize::from(flow == 0)] += 1.0;
            for dropped in &bench.outcome.dropped[counted..] {
                lost[usize::from(dropped.packet.flow == 0)] += 1.0;
            }
        }
        counted = bench.outcome.dropped.len();
    }
    assert!(bench.outcome.dropped.iter().all(|dropped| dropped.cause == DropCause::Early));
    let ratio = (lost[1] / sent[1]) / (lost[0] / sent[0]);
    let expected = (1.0 + 0.5 / 0.255) / (1.0 + 0.01 / 0.255);
    // About 180 and 60 packets per million are lost: a standard deviation of a twelfth.
    assert!((ratio / expected - 1.0).abs() < 0.25, "{ratio}, not {expected}: {lost:?} of {sent:?}");
}

/// ECN-capable packets are marked instead of dropped. The limit still applies.
#[test]
fn marks() {
    let run = |ecn: bool, ecn_flag: u8| {
        let parameters = SredParameters { ecn, ..SredParameters::default() };
        let mut bench = Bench::new(Sred::new(Limit::Packets(300), parameters), 1);
        for flow in 0..900 {
            bench.enqueue(Time::ZERO, of_flow(flow, ecn_flag));
        }
        (bench.drops(DropCause::Early), bench.drops(DropCause::Overflow), bench.outcome.marks)
    };
    // No drops below 50 packets, 0.0375 of 50 and 0.15 of 200: 32 on average.
    let (early, overflows, marks) = run(true, flags::ECT_0);
    assert!(early == 0 && overflows == 600 && (15..50).contains(&marks), "{early} {overflows} {marks}");
    for (ecn, flag) in [(true, 0), (false, flags::ECT_0)] {
        let (early, _, marks) = run(ecn, flag);
        assert!(early > 15 && marks == 0, "{early} {marks}");
    }
}
