//! Stochastic fairness queueing: McKenney 1990 and Linux net/sched/sch_sfq.c.

use sojourn_engine::queue::{DropCause, Limit, QueueDiscipline, Sfq, SfqParameters};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, UNLIMITED};
use super::flows::{Tally, dropped, numbered};

fn bench(limit: Limit, parameters: SfqParameters) -> Bench<Sfq> {
    Bench::new(Sfq::new(limit, parameters), 1)
}

/// Backlogged queues get equal bytes: a flow with packets a fifth as large sends five times as many.
#[test]
fn shares_in_bytes() {
    let mut bench = bench(UNLIMITED, SfqParameters { depth: 10_000, ..SfqParameters::default() });
    for number in 0..1_000 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0));
    }
    for number in 0..5_000 {
        bench.enqueue(Time::ZERO, numbered(1, number, 300, 0));
    }
    let mut bytes = [0u64; 2];
    for _ in 0..3_000 {
        let packet = bench.dequeue(Time::ZERO).unwrap().packet;
        bytes[packet.flow as usize] += u64::from(packet.size);
        // Both exceed their credit by less than a packet and are at most one turn apart.
        assert!(bytes[0].abs_diff(bytes[1]) <= 1514 + 2 * 1500, "{bytes:?}");
    }
}

/// At the limit the longest queue loses its last packet. If no queue has two, the next packet to be sent is dropped.
#[test]
fn drops_from_longest_queue() {
    let mut bench = bench(Limit::Packets(6), SfqParameters::default());
    let mut tally = Tally([0; 10]);
    for (number, flow) in [0, 0, 0, 1, 2, 3].into_iter().enumerate() {
        tally.enqueue(&mut bench, Time::ZERO, numbered(flow, number as u64, 1500, 0));
    }
    for flow in 4..=5 {
        tally.enqueue(&mut bench, Time::ZERO, numbered(flow, 0, 1500, 0));
    }
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), [2, 1], "from the tail");
    assert_eq!(tally.0[..6], [1; 6]);
    tally.enqueue(&mut bench, Time::ZERO, numbered(6, 0, 1500, 0));
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), [2, 1, 0]);
    let order: Vec<u32> = (0..6).map(|_| tally.dequeue(&mut bench, Time::ZERO).unwrap().packet.flow).collect();
    assert_eq!(order, [1, 2, 3, 4, 5, 6], "a queue that becomes active goes last");
    assert!(bench.queue.is_at_rest());
}

/// A queue holds at most its depth, 127 packets, though the limit is much higher.
#[test]
fn queue_depth() {
    let mut bench = bench(UNLIMITED, SfqParameters::default());
    for number in 0..130 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0));
        bench.enqueue(Time::ZERO, numbered(1, number, 40, 0));
    }
    assert_eq!(bench.queue.packets(), 2 * 127);
    for flow in 0..2 {
        assert_eq!(dropped(&bench, flow, DropCause::Early), [127, 128, 129]);
    }
}

/// Perturbation changes which flows share a queue, so that no flow is limited to half a share for ever. Waiting packets
/// keep their order and their arrival times.
#[test]
fn perturbation() {
    let run = |perturbation: Duration| {
        // Three flows in two queues: two flows share one.
        let parameters = SfqParameters { queues: 2, depth: 1_000, perturbation, ..SfqParameters::default() };
        let mut bench = bench(UNLIMITED, parameters);
        let (mut sent, mut next, mut last) = ([0u64; 3], [0u64; 3], [None; 3]);
        for step in 0..30_000u64 {
            let now = Time::ZERO + Duration::from_milliseconds(step);
            for flow in 0..3 {
                while next[flow] < sent[flow] + 20 {
                    bench.enqueue(now, numbered(flow as u32, next[flow], 1500, 0));
                    next[flow] += 1;
                }
            }
            let packet = bench.dequeue(now).unwrap();
            let flow = packet.packet.flow as usize;
            assert!(last[flow] < Some((packet.since, packet.packet.number)), "order");
            last[flow] = Some((packet.since, packet.packet.number));
            sent[flow] += 1;
        }
        assert!(bench.outcome.dropped.is_empty());
        *sent.iter().max().unwrap() as f64 / *sent.iter().min().unwrap() as f64
    };
    assert!(run(Duration::ZERO) >= 1.9, "some flow has a queue for itself");
    // 300 hashes. In a quarter of them all three flows share one queue.
    let ratio = run(Duration::from_milliseconds(100));
    assert!(ratio < 1.3, "{ratio}");
}

/// 10^12 changes of the hash due at once have the cost and effect of one.
#[test]
fn perturbation_every_picosecond() {
    let mut bench = bench(UNLIMITED, SfqParameters { perturbation: Duration(1), ..SfqParameters::default() });
    for second in 1..=100 {
        let now = Time::ZERO + Duration::from_seconds(second);
        bench.enqueue(now, numbered(0, second, 1500, 0));
        assert_eq!(bench.dequeue(now).map(|queued| queued.packet.number), Some(second));
    }
}
