//! FQ-CoDel: RFC 8290 and results of ns-3's tests.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{CoDelParameters, DropCause, FqCoDel, FqCoDelParameters, Limit, QueueDiscipline, Rotation};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Bytes;

use super::bench::{Bench, TRANSMISSION, UNLIMITED, count, rows, vector};
use super::flows::{Tally, dropped, numbered};

/// Deficit round robin with new and old queues, step by step (RFC 8290 section 4.2): which queue is served, its
/// remaining credit and when a new queue becomes old.
#[test]
fn worked_example_turns() {
    let row = vector("fq-codel-deficit_drr-1");
    let (quantum, size) = (count(&row["inputs"]["quantum"]), count(&row["inputs"]["packet_bytes"]));
    let steps = rows(&row["expected"]["deficits"]);
    let mut rotation = Rotation::new(2);
    let check = |rotation: &Rotation, step: usize| {
        for (queue, flow) in ["f1", "f2"].into_iter().enumerate() {
            if let Some(credit) = steps[step][flow].as_i64() {
                assert_eq!(rotation.credit(queue), credit, "{}: {flow}", steps[step]["step"]);
            }
            if let Some(list) = steps[step][format!("{flow}_list")].as_str() {
                assert_eq!(rotation.is_new(queue), list == "new", "{}: {flow}", steps[step]["step"]);
            }
        }
    };
    let serve = |rotation: &mut Rotation, step: usize| {
        let queue = rotation.turn(quantum).unwrap();
        if let Some(served) = steps[step]["served"].as_str() {
            assert_eq!(["f1", "f2"][queue], served, "{}", steps[step]["step"]);
        }
        rotation.charge(queue, size);
        check(rotation, step);
    };
    rotation.join(0, quantum);
    check(&rotation, 0);
    serve(&mut rotation, 1);
    rotation.join(0, quantum);
    rotation.join(1, quantum);
    check(&rotation, 2);
    for step in 3..=6 {
        serve(&mut rotation, step);
    }
    // Both queues are now empty.
    while let Some(queue) = rotation.turn(quantum) {
        rotation.pass(queue);
    }
    check(&rotation, 7);
    assert!(rotation.is_empty() && !rotation.is_active(0) && !rotation.is_active(1));
}

/// The same script through the discipline: two flows take turns, and the flow that starts second is served before the
/// first's later packets.
#[test]
fn worked_example_order() {
    let row = vector("fq-codel-deficit_drr-1");
    let parameters =
        FqCoDelParameters { quantum: Bytes(count(&row["inputs"]["quantum"])), ..FqCoDelParameters::default() };
    let size = count(&row["inputs"]["packet_bytes"]) as u16;
    let mut bench = Bench::new(FqCoDel::new(UNLIMITED, parameters), 1);
    bench.enqueue(Time::ZERO, numbered(0, 0, size, 0));
    let mut served = vec![bench.dequeue(Time::ZERO).unwrap().packet.flow];
    for flow in [0, 0, 1, 1] {
        bench.enqueue(Time::ZERO, numbered(flow, 1, size, 0));
    }
    while let Some(sent) = bench.dequeue(Time::ZERO) {
        served.push(sent.packet.flow);
    }
    assert_eq!(served, [0, 1, 0, 1, 0]);
    assert!(bench.queue.is_at_rest());
}

/// A new queue that is found empty becomes old, and is removed only at its turn as an old one (section 4.2).
#[test]
fn empty_new_queue() {
    let mut rotation = Rotation::new(2);
    rotation.join(0, 100);
    rotation.charge(0, 150);
    assert_eq!(rotation.turn(100), Some(0), "old now, with a credit of 50");
    rotation.join(1, 100);
    assert_eq!(rotation.turn(100), Some(1), "new before old");
    rotation.pass(1);
    assert!(rotation.is_active(1) && !rotation.is_new(1));
    assert_eq!(rotation.turn(100), Some(0), "the old queue has its turn");
    rotation.pass(0);
    assert!(!rotation.is_active(0));
    assert_eq!(rotation.turn(100), Some(1));
    rotation.pass(1);
    assert!(rotation.is_empty());
}

/// Each queue has its own CoDel: ECN-capable flows are marked and lose nothing, the others lose packets until at most
/// an MTU remains in a queue. ns-3 drops four packets of each of the others, since its first Newton step takes
/// 1/sqrt(2) as 1/2. By the control law itself they are three, at 220, 330 and 440 ms of a flow's turn: the third is
/// due at 320 + 70.7 ms, the fourth would be at 448.4, and at 550 ms at most an MTU remains.
#[test]
fn marks_and_drops_of_ns3() {
    let row = vector("fq-codel-ecn_mark_vs_drop-2");
    let inputs = &row["inputs"];
    let flows = count(&inputs["flows"]) as u32;
    let capable: Vec<u64> = rows(&inputs["ect_flows"]).iter().map(count).collect();
    let is_capable = |flow: u32| capable.contains(&u64::from(flow));
    let parameters = FqCoDelParameters {
        quantum: Bytes(count(&inputs["quantum"])),
        codel: CoDelParameters { mtu: Bytes(count(&inputs["min_bytes"])), ecn: true, ..CoDelParameters::default() },
        ..FqCoDelParameters::default()
    };
    let mut bench = Bench::new(FqCoDel::new(UNLIMITED, parameters), 1);
    for flow in 0..flows {
        for number in 0..count(&inputs["packets_per_flow"]) {
            let ecn = if is_capable(flow) { flags::ECT_0 } else { 0 };
            bench.enqueue(Time::ZERO, numbered(flow, number, count(&inputs["packet_bytes"]) as u16, ecn));
        }
    }
    let mut marks = vec![0; flows as usize];
    for step in 1..=count(&inputs["dequeues"]) {
        let now = Time::ZERO + Duration::from_milliseconds(count(&inputs["dequeue_every_ms"]) * step);
        let sent = bench.dequeue(now).unwrap().packet;
        marks[sent.flow as usize] += u64::from(sent.is_marked());
    }
    for flow in 0..flows {
        let kind = if is_capable(flow) { "ect" } else { "notect" };
        let figure = |what: &str| count(&row["expected"][format!("{what}_per_{kind}_flow")]);
        let drops = dropped(&bench, flow, DropCause::Early).len() as u64;
        let exact = if is_capable(flow) { figure("drops") } else { figure("drops") - 1 };
        assert_eq!((marks[flow as usize], drops), (figure("marks"), exact), "flow {flow}");
    }
}

/// At the limit the queue with the most bytes loses packets from its head until half of its bytes are dropped (section
/// 4.1.3).
#[test]
fn drops_half_of_longest_queue() {
    let row = vector("fq-codel-flow_separation-3");
    let limit = Limit::Packets(count(&row["inputs"]["limit_packets"]));
    let mut bench = Bench::new(FqCoDel::new(limit, FqCoDelParameters::default()), 1);
    let mut tally = Tally([0; 2]);
    for (index, flow) in rows(&row["inputs"]["arrivals"]).iter().enumerate() {
        let flow = u32::from(flow == "f2");
        tally.enqueue(&mut bench, Time::ZERO, numbered(flow, index as u64, 100, 0));
        let figure = |name: &str| count(&row["expected"][name][index]);
        assert_eq!(bench.queue.packets(), figure("total_after"), "after {index}");
        assert_eq!(tally.0, [figure("f1_after"), figure("f2_after")], "after {index}");
    }
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), [0, 1], "from the head");
}

/// At most 64 packets are dropped at once. The longest queue is that with the most bytes, not the most packets.
#[test]
fn drop_batch() {
    let mut bench = Bench::new(FqCoDel::new(Limit::Packets(700), FqCoDelParameters::default()), 1);
    for number in 0..200 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0));
    }
    for number in 0..500 {
        bench.enqueue(Time::ZERO, numbered(1, number, 500, 0));
    }
    bench.enqueue(Time::ZERO, numbered(2, 0, 40, 0));
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), (0..64).collect::<Vec<_>>());
    assert_eq!(bench.queue.packets(), 700 + 1 - 64);
    assert_eq!(bench.queue.bytes(), 136 * 1500 + 500 * 500 + 40);
}

/// Law fq-sparse: with ten flows that fill the link, packets of sparse flows wait for the one in transmission and at
/// most one of each other sparse flow, never for the bulk flows.
#[test]
fn sparse_flows() {
    let (bulk, sparse) = (10, 4);
    let mut bench = Bench::new(FqCoDel::new(UNLIMITED, FqCoDelParameters::default()), 1);
    let (mut number, mut longest) = (0, Duration::ZERO);
    for slot in 0..20_000u64 {
        let start = Time::ZERO + TRANSMISSION * slot;
        // The transmitter is busy from now until the next slot.
        if let Some(sent) = bench.dequeue(start)
            && sent.packet.flow >= bulk
        {
            longest = longest.max(start.since(sent.since));
        }
        for flow in 0..bulk {
            if slot == 0 || slot % u64::from(bulk) == u64::from(flow) {
                bench.enqueue(start, numbered(flow, number, 1500, 0));
            }
        }
        if slot > 100 && slot % 50 == 0 {
            for flow in bulk..bulk + sparse {
                bench.enqueue(start + Duration::from_microseconds(1), numbered(flow, number, 1500, 0));
            }
        }
        number += 1;
    }
    assert!(bench.queue.packets() > 0, "the link is full");
    let bound = TRANSMISSION * (u64::from(sparse - 1) + 1);
    assert!(longest <= bound, "waited {longest:?}, bound {bound:?}");
    assert!(longest > TRANSMISSION * u64::from(sparse - 1), "{longest:?} proves nothing");
}

/// A flow with one packet at a time beside a long queue: Linux counts the backlog of all queues for the last MTU
/// (net/sched/sch_fq_codel.c, fq_codel_dequeue), and drops its packets that waited for too long.
#[test]
fn last_mtu_of_all_queues() {
    for (rules, drops) in [("linux", true), ("published", false)] {
        let parameters: FqCoDelParameters = serde_json::from_value(serde_json::json!({"rules": rules})).unwrap();
        let mut bench = Bench::new(FqCoDel::new(UNLIMITED, parameters), 1);
        (0..1_000).for_each(|number| bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0)));
        for step in 0..100 {
            let now = Time::ZERO + Duration::from_milliseconds(10 * step);
            bench.enqueue(now, numbered(1, step, 1500, 0));
            (0..2).for_each(|_| _ = bench.dequeue(now + Duration::from_milliseconds(8)));
        }
        assert_eq!(!dropped(&bench, 1, DropCause::Early).is_empty(), drops, "{rules}");
    }
}

/// Of several queues with the most bytes, Linux drops from the one with the lowest number (net/sched/sch_fq_codel.c, fq_codel_drop): where
/// all have one packet, those of the flows with the highest numbers stay, whichever came first.
#[test]
fn first_of_equally_long_queues() {
    let flows = 12;
    let left = |first: u32, rules: &str| {
        let parameters: FqCoDelParameters = serde_json::from_value(serde_json::json!({"rules": rules})).unwrap();
        let mut bench = Bench::new(FqCoDel::new(Limit::Packets(4), parameters), 1);
        for flow in 0..flows {
            bench.enqueue(Time::ZERO, numbered((first + flow) % flows, 0, 1500, 0));
        }
        let mut left: Vec<u32> =
            std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.flow).collect();
        left.sort_unstable();
        left
    };
    let stay = left(0, "linux");
    assert_eq!(stay.len(), 4);
    (1..flows).for_each(|first| assert_eq!(left(first, "linux"), stay, "from flow {first}"));
    assert!((1..flows).any(|first| left(first, "published") != left(0, "published")), "every rule would do");
}

/// Linux counts drops at the limit as CoDel's own (net/sched/sch_fq_codel.c, fq_codel_drop): after two of them, the next dropping state
/// begins with half an interval between drops and not with a whole one.
#[test]
fn drops_at_the_limit_count() {
    let at = |milliseconds: u64| Time::ZERO + Duration::from_milliseconds(milliseconds);
    let early = |rules: &str, limit: u64| {
        let parameters: FqCoDelParameters =
            serde_json::from_value(serde_json::json!({"rules": rules, "drop_batch": 1})).unwrap();
        let mut bench = Bench::new(FqCoDel::new(Limit::Packets(limit), parameters), 1);
        (0..100).for_each(|number| bench.enqueue(at(0), numbered(0, number, 1500, 0)));
        (1..=15).for_each(|step| _ = bench.dequeue(at(10 * step)));
        while bench.dequeue(at(160)).is_some() {}
        let before = bench.drops(DropCause::Early);
        assert_eq!(before, 1, "a dropping state with one drop");
        (0..302).for_each(|number| bench.enqueue(at(300), numbered(0, number, 1500, 0)));
        (1..=25).for_each(|step| _ = bench.dequeue(at(300 + 10 * step)));
        assert_eq!(bench.drops(DropCause::Overflow), if limit == 300 { 2 } else { 0 });
        bench.drops(DropCause::Early) - before
    };
    // From 410 ms on: 410, 460 and 516 ms, or 410 and 510 ms.
    assert_eq!(early("linux", 300), 3);
    for (rules, limit) in [("linux", 1000), ("published", 300), ("published", 1000)] {
        assert_eq!(early(rules, limit), 2, "{rules}, {limit}");
    }
}
