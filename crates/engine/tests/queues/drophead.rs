//! Head drop: Lakshman, Neidhardt and Ott 1996.

use sojourn_engine::packet::Packet;
use sojourn_engine::queue::{DropCause, DropHead, DropHeadParameters, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, TRANSMISSION, constant, drive, packet};

fn holding(limit: Limit, packets: u64) -> Bench<DropHead> {
    let mut bench = Bench::new(DropHead::new(limit, DropHeadParameters::default()), 1);
    for number in 0..packets {
        bench.enqueue(Time::ZERO, Packet { number, ..packet(1500, 0) });
    }
    bench
}

/// The packet sent after a loss is the one behind it, so that the receiver detects the gap immediately and not one
/// buffer later, which is the purpose of head drop.
#[test]
fn gap_at_head() {
    let mut bench = holding(Limit::Packets(50), 51);
    assert_eq!(bench.queue.packets(), 50);
    let dropped: Vec<u64> = bench.outcome.dropped.iter().map(|dropped| dropped.packet.number).collect();
    assert_eq!(dropped, [0]);
    let sent: Vec<u64> = std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.number).collect();
    assert_eq!(sent, (1..=50).collect::<Vec<u64>>());
}

/// With a limit in bytes as many packets are dropped as the arrival needs room for. An arrival that does not fit into
/// an empty queue is dropped itself.
#[test]
fn room_in_bytes() {
    let mut bench = holding(Limit::Bytes(3000), 0);
    for size in [100, 200, 300, 2400] {
        bench.enqueue(Time::ZERO, packet(size, 0));
    }
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.drops(DropCause::Overflow)), (4, 3000, 0));
    bench.enqueue(Time::ZERO, packet(250, 0));
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.drops(DropCause::Overflow)), (3, 2950, 2));
    bench.enqueue(Time::ZERO, packet(3001, 0));
    assert_eq!((bench.queue.packets(), bench.queue.bytes(), bench.drops(DropCause::Overflow)), (3, 2950, 3));
    assert_eq!(bench.outcome.dropped.last().unwrap().queued_since, None);
}

/// With a constant rate of rho > 1 the loss is that of tail drop, 1 - 1/rho, but departures have waited only as long as
/// the buffer takes at rho times the link's rate, since packets leave the queue at the rate of arrivals.
#[test]
fn loss_and_delay() {
    for rho in [1.1, 1.5, 2.0, 3.0] {
        let spacing = Duration::from_seconds_f64(TRANSMISSION.seconds() / rho);
        let mut bench = holding(Limit::Packets(50), 0);
        let warm_up = Time::ZERO + Duration::from_seconds(5);
        let end = Time::ZERO + Duration::from_seconds(65);
        let (mut sent, mut dropped, mut waited) = (0.0, 0.0, 0.0);
        drive(&mut bench, TRANSMISSION, constant(Time::ZERO, end, spacing), end, |now, event, _| match event {
            _ if now < warm_up => {}
            Event::Dropped(_) => dropped += 1.0,
            Event::Sent(sojourn) => {
                sent += 1.0;
                waited += sojourn.seconds();
            }
            Event::Timer | Event::Marked => unreachable!("head drop has no timer and does not mark"),
        });
        let loss = dropped / (sent + dropped);
        assert!((loss - (1.0 - 1.0 / rho)).abs() < 0.005 * (1.0 - 1.0 / rho), "load {rho}: loss {loss}");
        // The last vacant place is one arrival spacing less than the whole buffer.
        let (mean, law) = (waited / sent, 50.0 * spacing.seconds());
        assert!((law - mean).abs() <= spacing.seconds(), "load {rho}: waited {mean} s, by the law {law} s");
    }
}
