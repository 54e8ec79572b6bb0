//! CAKE: its shaper, its fairness between hosts and flows, and its hash.

use std::sync::Arc;

use serde_json::{Value, json};
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{
    Cake, CakeParameters, Cobalt, CobaltParameters, DropCause, FlowTable, FqCoDel, FqCoDelParameters, Limit,
    QueueDiscipline,
};
use sojourn_engine::specification::FlowSpecification;
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
fn shares(isolation: &str, hosts: &[(u64, u64)], packets: u64) -> Vec<u64> {
    let flows: Vec<FlowSpecification> = hosts
        .iter()
        .map(|(from, to)| {
            serde_json::from_value(json!({
                "count": 1, "from": from, "to": to, "group": "all", "start": 0, "start_within": 0, "size": null,
                "source": {"name": "newreno", "slow_start": "standard", "stack": 0},
            }))
            .unwrap()
        })
        .collect();
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
    let share_of_last = |isolation: &str, hosts: &[(u64, u64)]| {
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
    let by_source: Vec<(u64, u64)> = (0..11).map(|flow| (flow / 10, 2 + flow)).collect();
    // The same with sources and destinations swapped.
    let by_destination: Vec<(u64, u64)> = by_source.iter().map(|(from, to)| (*to, *from)).collect();
    // All flows go to one destination, so the busier host is the same for all.
    let to_one: Vec<(u64, u64)> = by_source.iter().map(|(from, _)| (*from, 2)).collect();
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
