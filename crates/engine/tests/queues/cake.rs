//! CAKE: its shaper, its fairness between hosts and flows, and its hash.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_engine::numbers::FlowGroup;
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{
    Cake, CakeParameters, Cobalt, CobaltParameters, DropCause, FlowTable, FqCoDel, FqCoDelParameters, Limit,
    QueueDiscipline,
};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, TRANSMISSION, UNLIMITED, packet};
use super::flows::{dropped, numbered};

fn cake(parameters: Value) -> Bench<Cake> {
    Bench::new(Cake::new(UNLIMITED, serde_json::from_value(parameters).unwrap()), 1)
}

/// The shaper has no bursts: the spacing of packets is exactly the time that their sizes and overheads take at its
/// bandwidth, also after an idle time.
#[test]
fn shaper_spacing() {
    for overhead in [0, 38] {
        let bandwidth = Rate(12_345_678);
        let mut bench = cake(json!({"bandwidth": bandwidth.0, "overhead": overhead}));
        let mut start = Time::ZERO + Duration::from_seconds(1);
        for _ in 0..2 {
            for number in 0..100 {
                bench.enqueue(start, numbered(0, number, 1500 - 10 * number as u16, 0));
            }
            let mut due = start;
            while bench.queue.packets() > 0 {
                assert_eq!(bench.queue.release_time(), Some(due).filter(|due| *due > start), "none before it is due");
                if due > start {
                    assert!(bench.dequeue(Time(due.0 - 1)).is_none());
                }
                let sent = bench.dequeue(due).expect("it is due");
                due += bandwidth.transmission_time(u64::from(sent.packet.size) + overhead);
            }
            start = due + Duration::from_seconds(3);
        }
    }
}

/// The bytes sent of each flow while all are backlogged. Each flow has a source and a destination host.
fn shares(isolation: &str, hosts: &[(u32, u32)], packets: u64) -> Vec<u64> {
    let flow = |&(from, to): &(u32, u32)| FlowGroup { count: 1, from, to, ..FlowGroup::default() };
    let flows: Vec<FlowGroup> = hosts.iter().map(flow).collect();
    let mut bench = cake(json!({"isolation": isolation, "target": 1_000_000_000_000_000_u64}));
    bench.queue.set_flows(&Arc::new(FlowTable::new(&flows))).unwrap();
    let mut bytes = vec![0; hosts.len()];
    for flow in 0..hosts.len() {
        for number in 0..20 {
            bench.enqueue(Time::ZERO, numbered(flow as u32, number, 1500, 0));
        }
    }
    for step in 0..packets {
        let now = Time::ZERO + TRANSMISSION * step;
        let sent = bench.dequeue(now).unwrap().packet;
        bytes[sent.flow as usize] += u64::from(sent.size);
        bench.enqueue(now, numbered(sent.flow, 20 + step, 1500, 0));
    }
    bytes
}

/// A host with ten flows and one with a single flow: each isolation mode divides the link as specified.
#[test]
fn host_isolation() {
    let share_of_last = |isolation: &str, hosts: &[(u32, u32)]| {
        let bytes = shares(isolation, hosts, 40_000);
        let (last, others) = bytes.split_last().unwrap();
        let (least, most) = (others.iter().min().unwrap(), others.iter().max().unwrap());
        assert!(
            *most as f64 / *least as f64 <= 1.03 || isolation == "src_host" || isolation == "dst_host",
            "{bytes:?}"
        );
        *last as f64 / bytes.iter().sum::<u64>() as f64
    };
    let close = |share: f64, expected: f64, what: &str| {
        assert!((share - expected).abs() <= 0.01 * expected, "{what}: {share}, expected {expected}");
    };
    // Hosts 0 and 1 send, one with ten flows and the other with one, each flow to a different host.
    let by_source: Vec<(u32, u32)> = (0..11).map(|flow| (flow / 10, 2 + flow)).collect();
    // The same with sources and destinations swapped.
    let by_destination: Vec<(u32, u32)> = by_source.iter().map(|(from, to)| (*to, *from)).collect();
    // All flows go to one destination, so the busier host is the same for all.
    let to_one: Vec<(u32, u32)> = by_source.iter().map(|(from, _)| (*from, 2)).collect();
    for (isolation, from, to, one) in [
        ("flows", 11.0, 11.0, 11.0),
        ("dual_src_host", 2.0, 11.0, 2.0),
        ("dual_dst_host", 11.0, 2.0, 11.0),
        ("triple", 2.0, 2.0, 11.0),
        ("src_host", 2.0, 11.0, 2.0),
        ("dst_host", 11.0, 2.0, 1.0),
    ] {
        close(share_of_last(isolation, &by_source), 1.0 / from, &format!("{isolation} from"));
        close(share_of_last(isolation, &by_destination), 1.0 / to, &format!("{isolation} to"));
        if one > 1.0 {
            close(share_of_last(isolation, &to_one), 1.0 / one, &format!("{isolation} to one"));
        }
    }
}

/// Flows that share a queue get less. Among 1024 queues a plain hash has 100 flows share in expectation 100 (1 - (1 -
/// 1/1024)^99) = 9.2 of them. Sets of eight avoid nearly all collisions (Høiland-Jørgensen et al. 2018, figure on
/// collisions).
#[test]
fn hash_collisions() {
    fn sharing<Q: QueueDiscipline>(bench: &mut Bench<Q>) -> usize {
        for number in 0..100 {
            for flow in 0..100 {
                bench.enqueue(Time::ZERO, numbered(flow, number, 1500, 0));
            }
        }
        let mut sent = [0; 100];
        for _ in 0..2_000 {
            sent[bench.dequeue(Time::ZERO).unwrap().packet.flow as usize] += 1;
        }
        let most = sent.iter().max().unwrap();
        sent.iter().filter(|packets| **packets * 4 < most * 3).count()
    }
    let (mut plain, mut sets) = (0, 0);
    for seed in 0..20 {
        plain += sharing(&mut Bench::new(FqCoDel::new(UNLIMITED, FqCoDelParameters::default()), seed));
        sets += sharing(&mut Bench::new(Cake::new(UNLIMITED, CakeParameters::default()), seed));
    }
    // The expectation is 184.
    assert!((120..250).contains(&plain), "{plain} with a plain hash");
    assert_eq!(sets, 0);
}

/// A sparse flow is served before bulk flows: law fq-sparse with ten bulk flows.
#[test]
fn sparse_flows() {
    let mut bench = cake(json!({"isolation": "flows", "target": 1_000_000_000_000_000_u64}));
    let mut longest = Duration::ZERO;
    for slot in 0..5_000u64 {
        let start = Time::ZERO + TRANSMISSION * slot;
        if let Some(sent) = bench.dequeue(start)
            && sent.packet.flow >= 10
        {
            longest = longest.max(start.since(sent.since));
        }
        bench.enqueue(start, numbered(slot as u32 % 10, slot, 1500, 0));
        bench.enqueue(start, numbered((slot as u32 + 5) % 10, slot, 1500, 0));
        if slot > 100 && slot % 50 == 0 {
            for flow in 10..12 {
                bench.enqueue(start + Duration::from_microseconds(1), numbered(flow, slot, 1500, 0));
            }
        }
    }
    assert!(longest <= TRANSMISSION * 2 && longest > TRANSMISSION, "{longest:?}");
}

/// At low bandwidths the target is the transmission time of one and a half packets, and nothing is dropped within four
/// packets of delay (Linux, net/sched/sch_cake.c): 18 and 48 ms at 1 Mbit/s.
#[test]
fn low_bandwidths() {
    let drops = |bandwidth: u64, packets: u64| {
        let mut bench = cake(json!({"bandwidth": bandwidth}));
        let spacing = Rate(1_000_000).transmission_time(1500);
        for step in 0..2_000u64 {
            // The number of queued packets is constant.
            let now = Time::ZERO + spacing * step;
            while bench.queue.packets() < packets {
                bench.enqueue(now, packet(1500, 0));
            }
            bench.dequeue(now);
        }
        bench.drops(DropCause::Early)
    };
    assert_eq!(drops(1_000_000, 4), 0, "at most 48 ms");
    assert!(drops(1_000_000, 6) > 10);
    assert!(drops(0, 4) > 10, "without a bandwidth 5 ms is the target");
}

/// ECN-capable packets are marked instead of CoDel's drops. At the limit the longest queue loses packets from its head.
#[test]
fn marks_and_overflow() {
    for (ecn, flag) in [(false, flags::ECT_0), (true, flags::ECT_0), (true, 0)] {
        let mut bench = cake(json!({"ecn": ecn}));
        for step in 0..1_000u64 {
            let now = Time::ZERO + TRANSMISSION * step;
            bench.enqueue(now, packet(1500, flag));
            if step > 20 {
                bench.dequeue(now);
            }
        }
        let marks = ecn && flag != 0;
        assert_eq!((bench.outcome.marks > 0, bench.drops(DropCause::Early) > 0), (marks, !marks), "{ecn} {flag}");
    }
    let mut bench = Bench::new(Cake::new(Limit::Packets(5), CakeParameters::default()), 1);
    for number in 0..4 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0));
        bench.enqueue(Time::ZERO, numbered(1, number, 100, 0));
    }
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), [0, 1, 2]);
    assert_eq!(bench.queue.packets(), 5);
}

/// In Linux the spacing of signals is zero until their count first changes (net/sched/sch_cake.c, cobalt_vars_init): the second
/// packet above the target is dropped. COBALT waits for an interval.
#[test]
fn first_signal_at_once() {
    fn first_drop<Q: QueueDiscipline>(mut bench: Bench<Q>) -> Option<u64> {
        (0..200).for_each(|number| bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0)));
        for milliseconds in (0..1).chain(10..100) {
            bench.dequeue(Time::ZERO + Duration::from_milliseconds(milliseconds));
        }
        dropped(&bench, 0, DropCause::Early).first().copied()
    }
    assert_eq!(first_drop(cake(json!({}))), Some(2));
    assert_eq!(first_drop(Bench::new(Cobalt::new(UNLIMITED, CobaltParameters::default()), 1)), None);
}

/// A CAKE with a flow of each codepoint, in this order.
fn sorted(mut parameters: Value, codepoints: &[u8]) -> Bench<Cake> {
    parameters["target"] = json!(1_000_000_000_000_000_u64);
    let flow = |&dscp: &u8| FlowGroup { count: 1, to: 1, dscp, ..FlowGroup::default() };
    let flows: Vec<FlowGroup> = codepoints.iter().map(flow).collect();
    let mut bench = cake(parameters);
    bench.queue.set_flows(&Arc::new(FlowTable::new(&flows))).unwrap();
    bench
}

/// The share of each flow in the bytes sent while all are backlogged, as fast as the discipline lets them.
fn shares_of_tins(mut bench: Bench<Cake>, flows: u32, packets: u64) -> Vec<f64> {
    let mut now = Time::ZERO + Duration::from_seconds(1);
    let mut sent = vec![0.0; flows as usize];
    for flow in 0..flows {
        (0..4).for_each(|number| bench.enqueue(now, numbered(flow, number, 1500, 0)));
    }
    for number in 0..packets {
        now = bench.queue.release_time().unwrap_or(now);
        let packet = bench.dequeue(now).expect("it is due").packet;
        sent[packet.flow as usize] += 1.0 / packets as f64;
        bench.enqueue(now, numbered(packet.flow, 4 + number, 1500, 0));
    }
    sent
}

/// The tins of codepoints by tc-cake(8): under a bandwidth all tins but the lowest get their thresholds of it, and the lowest
/// what is left. diffserv3 has 6.25 % for bulk (CS1, LE) and 25 % for voice (CS7, CS6, EF, VA, TOS4); diffserv4 besides 50 % for
/// video (AF4x, AF3x, CS3, AF2x, CS2, TOS4), with CS5 and CS4 in voice.
#[test]
fn thresholds_of_tins() {
    let bulk: &[u8] = &[8, 1];
    let three: &[(f64, &[u8])] = &[(0.0625, bulk), (0.25, &[56, 48, 46, 44, 4])];
    let four: &[(f64, &[u8])] =
        &[(0.0625, bulk), (0.5, &[34, 36, 38, 26, 28, 30, 24, 18, 20, 22, 16, 4]), (0.25, &[56, 48, 46, 44, 40, 32])];
    for (tins, thresholds) in [("diffserv3", three), ("diffserv4", four)] {
        for codepoint in 0..64 {
            let in_tin = |codepoints: &&(f64, &[u8])| codepoints.1.contains(&codepoint);
            let expected = thresholds.iter().find(in_tin).map_or(1.0, |(share, _)| *share);
            let bench = sorted(json!({"bandwidth": 8_000_000, "tins": tins}), &[codepoint, 0]);
            // A tin beside best effort gets its threshold. Another flow of best effort has half.
            let share = shares_of_tins(bench, 2, 800)[0];
            let expected = if expected == 1.0 { 0.5 } else { expected };
            assert!((share - expected).abs() < 0.01, "{tins}, codepoint {codepoint}: {share}, not {expected}");
        }
        let codepoints: Vec<u8> = thresholds.iter().map(|(_, codepoints)| codepoints[0]).chain([0]).collect();
        let bench = sorted(json!({"bandwidth": 8_000_000, "tins": tins}), &codepoints);
        let shares = shares_of_tins(bench, codepoints.len() as u32, 8_000);
        let left = 1.0 - thresholds.iter().map(|(share, _)| share).sum::<f64>();
        for (share, expected) in shares.iter().zip(thresholds.iter().map(|(share, _)| *share).chain([left])) {
            assert!((share - expected).abs() < 0.003, "{tins}: {shares:?}");
        }
    }
}

/// Eight tins have seven eighths of the threshold of the one before (Linux, cake_config_diffserv8 and cake_config_precedence): the
/// three highest use up the link, and lower ones wait. Codepoints of the precedences 7, 6, 5 and 0 are in these tins either way.
#[test]
fn eight_tins() {
    for tins in ["diffserv8", "precedence"] {
        let codepoints = if tins == "precedence" { [56, 48, 40, 0] } else { [56, 46, 16, 0] };
        let shares = shares_of_tins(sorted(json!({"bandwidth": 8_000_000, "tins": tins}), &codepoints), 4, 8_000);
        let (highest, next) = ((7.0f64 / 8.0).powi(7), (7.0f64 / 8.0).powi(6));
        let expected = [highest, next, 1.0 - highest - next, 0.0];
        for (share, expected) in shares.iter().zip(expected) {
            assert!((share - expected).abs() < 0.003, "{tins}: {shares:?}, not {expected:?}");
        }
    }
    // TOS2, CS1 and AF1x are of high throughput, LE is background (the comment in cake_config_diffserv8): alone with best effort,
    // which keeps to its higher tin, they get what its threshold of (7/8)^2 leaves.
    for codepoint in [1, 2, 8, 10, 12, 14] {
        let shares =
            shares_of_tins(sorted(json!({"bandwidth": 8_000_000, "tins": "diffserv8"}), &[codepoint, 0]), 2, 4_000);
        assert!((shares[1] - 49.0 / 64.0).abs() < 0.003, "{codepoint}: {shares:?}");
    }
}

/// Without a bandwidth tins take turns by their weights, 16 to 1 to 4 in diffserv3 (Linux, cake_config_diffserv3: 1024, 64, 256).
#[test]
fn weights_of_tins() {
    let shares = shares_of_tins(sorted(json!({}), &[0, 8, 46]), 3, 8_400);
    for (share, weight) in shares.iter().zip([16.0, 1.0, 4.0]) {
        assert!((share - weight / 21.0).abs() < 0.002, "{shares:?}");
    }
    let shares = shares_of_tins(sorted(json!({"tins": "besteffort"}), &[0, 8, 46]), 3, 8_400);
    assert!(shares.iter().all(|share| (share - 1.0 / 3.0).abs() < 0.002), "{shares:?}");
}

/// A tin's target is the time of one and a half packets at its threshold (Linux, cake_set_rate): at 10 Mbit/s bulk has 625 kbit/s
/// and so 29 ms, and best effort 5 ms. Each flow has a steady queue of 20 ms.
#[test]
fn targets_of_tins() {
    let drops = |codepoint: u8| {
        let flow = FlowGroup { count: 1, to: 1, dscp: codepoint, ..FlowGroup::default() };
        let mut bench = cake(json!({"bandwidth": 10_000_000}));
        bench.queue.set_flows(&Arc::new(FlowTable::new(&[flow]))).unwrap();
        let spacing = Rate(10_000_000).transmission_time(1500);
        for step in 0..2_000u64 {
            let now = Time::ZERO + spacing * step;
            while bench.queue.packets() < 17 {
                bench.enqueue(now, packet(1500, 0));
            }
            bench.dequeue(now);
        }
        bench.drops(DropCause::Early)
    };
    assert_eq!(drops(8), 0);
    assert!(drops(0) > 3, "{}", drops(0));
}

/// The shaper allows for the cells of its link: 1500 bytes with 40 of overhead are 33 cells of 53 bytes, and an acknowledgement of
/// 40 bytes two.
#[test]
fn shaper_with_cells() {
    let bandwidth = Rate(1_000_000);
    for (framing, size, bytes) in [("atm", 1500, 1749), ("atm", 40, 106), ("ptm", 1500, 1565), ("noatm", 40, 90)] {
        let mut bench = cake(json!({"bandwidth": bandwidth.0, "overhead": 40, "mpu": 90, "framing": framing}));
        for number in 0..3 {
            bench.enqueue(Time::ZERO, numbered(0, number, size, 0));
        }
        bench.dequeue(Time::ZERO).expect("it is due");
        let due = Time::ZERO + bandwidth.transmission_time(bytes);
        assert_eq!(bench.queue.release_time(), Some(due), "{framing}, {size} bytes");
    }
}

/// In ingress mode what is dropped counts as sent (tc-cake(8); Linux, cake_advance_shaper): under unresponsive flows that overflow
/// its queues the bytes sent and dropped are those of the bandwidth, or the link sends two thirds of it if that would stop it
/// (failsafe_next_packet). Without it the link sends all of the bandwidth.
#[test]
fn ingress() {
    let bandwidth = Rate(12_000_000);
    let sent_and_dropped = |ingress: bool, spacing: u64| {
        let parameters = json!({"bandwidth": bandwidth.0, "ingress": ingress});
        let parameters = serde_json::from_value(parameters).unwrap();
        let mut bench = Bench::new(Cake::new(Limit::Packets(20), parameters), 1);
        let (mut sent, mut room) = (0, Time::ZERO);
        // Packets arrive in hundredths of a packet's time at the bandwidth.
        let tick = Duration(bandwidth.transmission_time(1500).0 / 100);
        for step in 0..1_000_000u64 {
            let now = Time::ZERO + tick * step;
            if step % spacing == 0 {
                bench.enqueue(now, numbered(0, step, 1500, 0));
            }
            if now >= room && bench.dequeue(now).is_some() {
                sent += 1;
                room = now + tick;
            }
        }
        (sent as f64 / 10_000.0, bench.outcome.dropped.len() as f64 / 10_000.0)
    };
    let (sent, dropped) = sent_and_dropped(false, 80);
    assert!((sent - 1.0).abs() < 0.01 && (dropped - 0.25).abs() < 0.01, "{sent} {dropped}");
    for spacing in [80, 90] {
        let (sent, dropped) = sent_and_dropped(true, spacing);
        let arrived = 100.0 / spacing as f64;
        assert!((sent + dropped - arrived).abs() < 0.01, "{sent} {dropped}");
        // What arrives is more than the bandwidth, so the drops that count hold the link back until the failsafe lets it go.
        assert!((sent - 2.0 / 3.0).abs() < 0.01, "{sent} of the bandwidth with {arrived} of it offered");
    }
}
