//! AFpFT: Eshete and Jiang 2011, as far as published.

use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{Afpft, AfpftParameters, DropCause, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, UNLIMITED, packet};

fn bench(limit: Limit) -> Bench<Afpft> {
    Bench::new(Afpft::new(limit, AfpftParameters::default()), 1)
}

fn of(flow: u32, size: u16) -> Packet {
    Packet { flow, ..packet(size, 0) }
}

fn drain(bench: &mut Bench<Afpft>) -> Vec<u32> {
    std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.flow).collect()
}

/// Finish times calculated by hand: three packets of 1000 bytes of one flow finish at 1000, 2000 and 3000, two of 500
/// and 400 of another at 500 and 900. A flow that starts later starts at the time of the last packet sent.
#[test]
fn finish_time_order() {
    let mut bench = bench(UNLIMITED);
    for packet in [of(0, 1000), of(0, 1000), of(0, 1000), of(1, 500), of(1, 400)] {
        bench.enqueue(Time::ZERO, packet);
    }
    let first: Vec<u32> = (0..3).map(|_| bench.dequeue(Time::ZERO).unwrap().packet.flow).collect();
    assert_eq!(first, [1, 1, 0]);
    // At a virtual time of 1000, a packet of the third flow with tag 1900 precedes 2000, and one with 2800 is between
    // 2000 and 3000.
    bench.enqueue(Time::ZERO, of(2, 900));
    bench.enqueue(Time::ZERO, of(2, 900));
    assert_eq!(drain(&mut bench), [2, 0, 2, 0]);
}

/// At the limit the packet with the latest finish time is dropped, and its flow's time is restored. An arrival with the
/// latest finish time is dropped itself.
#[test]
fn drops_latest_finish_time() {
    let mut bench = bench(Limit::Packets(3));
    for packet in [of(0, 1000), of(0, 1000), of(0, 1000), of(1, 1500)] {
        bench.enqueue(Time::ZERO, packet);
    }
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (3, 3500));
    let dropped = bench.outcome.dropped.pop().unwrap();
    assert_eq!((dropped.packet.flow, dropped.cause), (0, DropCause::Overflow));
    assert!(dropped.queued_since.is_some());
    // Its tag is 3000 again, not 4000.
    bench.enqueue(Time::ZERO, of(0, 1000));
    assert!(bench.outcome.dropped.pop().unwrap().queued_since.is_none());
    bench.enqueue(Time::ZERO, of(2, 400));
    assert_eq!(drain(&mut bench), [2, 0, 1]);
}

/// Flows that are always backlogged, with any packet sizes, differ in bytes by at most a packet of each (Golestani
/// 1994, for equal weights).
#[test]
fn backlogged_flows() {
    let mut bench = bench(UNLIMITED);
    let sizes = [1500, 1000, 576, 40];
    let mut sent = [0u64; 4];
    for (flow, size) in sizes.into_iter().enumerate() {
        for _ in 0..600_000 / u64::from(size) {
            bench.enqueue(Time::ZERO, of(flow as u32, size));
        }
    }
    while sent.iter().all(|bytes| *bytes < 590_000) {
        let packet = bench.dequeue(Time::ZERO).unwrap().packet;
        sent[packet.flow as usize] += u64::from(packet.size);
        for (one, size_of_one) in sent.into_iter().zip(sizes) {
            for (other, size_of_other) in sent.into_iter().zip(sizes) {
                assert!(one.abs_diff(other) <= u64::from(size_of_one) + u64::from(size_of_other), "{sent:?}");
            }
        }
    }
}

/// Law fq-maxmin: with a buffer of 50 packets, flows at 2, 1, 0.3 and 0.1 times the link's rate get max-min shares:
/// those below the fair share get what they send, the others equal shares.
#[test]
fn max_min_shares() {
    let mut bench = bench(Limit::Packets(50));
    let transmission = Duration::from_milliseconds(1);
    let spacings = [500, 1000, 3333, 10_000].map(Duration::from_microseconds);
    let mut next = [Time::ZERO; 4];
    let mut sent = [0.0; 4];
    let packets = 60_000;
    for departure in 0..packets {
        let now = Time::ZERO + transmission * departure;
        for flow in 0..4 {
            while next[flow] <= now {
                bench.enqueue(now, of(flow as u32, 1500));
                next[flow] += spacings[flow];
            }
        }
        sent[bench.dequeue(now).unwrap().packet.flow as usize] += 1.0;
    }
    for (flow, law) in [0.3, 0.3, 0.3, 0.1].into_iter().enumerate() {
        let share = sent[flow] / packets as f64;
        assert!((share / law - 1.0).abs() < 0.01, "flow {flow}: {share}, by the law {law}");
    }
}
