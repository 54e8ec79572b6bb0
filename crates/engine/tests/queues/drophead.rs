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

/// The packet sent after a loss is the one behind it, so that the receiver sees the gap at once and not after the whole
/// buffer: what the strategy is for.
#[test]
fn the_next_packet_sent_follows_the_one_dropped() {
    let mut bench = holding(Limit::Packets(50), 51);
    assert_eq!(bench.queue.packets(), 50);
    let dropped: Vec<u64> = bench.outcome.dropped.iter().map(|dropped| dropped.packet.number).collect();
    assert_eq!(dropped, [0]);
    let sent: Vec<u64> = std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.number).collect();
    assert_eq!(sent, (1..=50).collect::<Vec<u64>>());
}

/// With a limit in bytes as many packets go as the arrival takes the place of; one that would not fit into an empty
/// queue takes nobody's.
#[test]
fn as_many_packets_go_as_make_room() {
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

/// Overloaded by a constant rate rho, as much is lost as with tail drop, 1 - 1/rho, but what is sent waited only as long
/// as rho times the link's rate takes for the buffer: places in line are vacated at the rate of the arrivals.
#[test]
fn drophead_loses_as_tail_drop_and_delays_less() {
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
        // The place that is vacated last is one arrival's spacing short of the whole buffer.
        let (mean, law) = (waited / sent, 50.0 * spacing.seconds());
        assert!((law - mean).abs() <= spacing.seconds(), "load {rho}: waited {mean} s, by the law {law} s");
    }
}
