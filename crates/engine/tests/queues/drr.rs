//! Deficit round robin: Shreedhar and Varghese 1995.

use sojourn_engine::queue::{DropCause, Drr, DrrParameters, Limit, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::Time;
use sojourn_engine::units::Bytes;

use super::bench::{Bench, UNLIMITED};
use super::flows::{dropped, numbered};

/// Law drr-bound: the bytes sent of flows that are backlogged from the same time on differ by at most a quantum and the
/// largest packet, at any time and for any packet sizes, whether or not packets fit into a quantum.
#[test]
fn fairness_bound() {
    for quantum in [100, 1500, 5000] {
        let parameters = DrrParameters { quantum: Bytes(quantum), ..DrrParameters::default() };
        let mut bench = Bench::new(Drr::new(UNLIMITED, parameters), 1);
        let mut random = Random::stream(7, Purpose::Source, 0);
        let mut sent = [0u64; 5];
        let mut greatest = 0;
        // Flow 0 has only large packets, flow 1 only small ones.
        let mut size = |flow: u32| match flow {
            0 => 1500,
            1 => 40,
            _ => 40 + random.index(1461) as u16,
        };
        for flow in 0..5 {
            for number in 0..200 {
                bench.enqueue(Time::ZERO, numbered(flow, number, size(flow), 0));
            }
        }
        for number in 200..50_000 {
            let packet = bench.dequeue(Time::ZERO).unwrap().packet;
            sent[packet.flow as usize] += u64::from(packet.size);
            bench.enqueue(Time::ZERO, numbered(packet.flow, number, size(packet.flow), 0));
            let difference = sent.iter().max().unwrap() - sent.iter().min().unwrap();
            greatest = greatest.max(difference);
            assert!(difference <= quantum + 1500, "quantum {quantum}: {sent:?}");
        }
        assert!(greatest > quantum, "quantum {quantum}: {greatest} proves nothing");
    }
}

/// Section 3 of the paper: a queue keeps its unused deficit for the next turn, and loses it when it is empty.
#[test]
fn deficit() {
    let parameters = DrrParameters { quantum: Bytes(500), ..DrrParameters::default() };
    let mut bench = Bench::new(Drr::new(UNLIMITED, parameters), 1);
    // Figures 2 and 3 of the paper: 200 of 500 bytes leave a deficit of 300, and with 500 more a packet of 750 fits.
    for (number, size) in [200, 750].into_iter().enumerate() {
        bench.enqueue(Time::ZERO, numbered(0, number as u64, size, 0));
    }
    for (number, size) in [500, 500].into_iter().enumerate() {
        bench.enqueue(Time::ZERO, numbered(1, number as u64, size, 0));
    }
    let mut order: Vec<(u32, u16)> = Vec::new();
    while let Some(sent) = bench.dequeue(Time::ZERO) {
        order.push((sent.packet.flow, sent.packet.size));
    }
    assert_eq!(order, [(0, 200), (1, 500), (0, 750), (1, 500)]);
    // A deficit of 50 bytes was left when flow 0's queue became empty. With it, 550 bytes would fit at once.
    bench.enqueue(Time::ZERO, numbered(0, 2, 550, 0));
    bench.enqueue(Time::ZERO, numbered(1, 2, 500, 0));
    assert_eq!(bench.dequeue(Time::ZERO).unwrap().packet.flow, 1);
    assert_eq!(bench.dequeue(Time::ZERO).unwrap().packet.flow, 0);
}

/// At the limit the longest queue loses packets, for an arrival of any flow. A packet larger than the limit displaces
/// none.
#[test]
fn drops_from_longest_queue() {
    let mut bench = Bench::new(Drr::new(Limit::Bytes(6_000), DrrParameters::default()), 1);
    for number in 0..4 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1000, 0));
    }
    for number in 0..10 {
        bench.enqueue(Time::ZERO, numbered(1, number, 100, 0));
    }
    bench.enqueue(Time::ZERO, numbered(1, 10, 1500, 0));
    assert_eq!(dropped(&bench, 0, DropCause::Overflow), [0], "4000 bytes against 2500");
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (14, 5_500));
    bench.enqueue(Time::ZERO, numbered(2, 0, 6_001, 0));
    assert_eq!(dropped(&bench, 2, DropCause::Overflow), [0]);
    assert_eq!(bench.queue.packets(), 14);
}
