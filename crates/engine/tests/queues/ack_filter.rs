//! ACK filters: RFC 3449 section 5.2.1, and the rules of Linux net/sched/sch_cake.c, `cake_ack_filter`.

use proptest::prelude::*;
use serde_json::json;
use sojourn_engine::packet::{AckOptions, OptionsHandle, OptionsPool, Packet, flags};
use sojourn_engine::queue::{
    Cake, CakeParameters, DropCause, FilteringFifo, FilteringFifoParameters, Limit, QueueDiscipline,
};
use sojourn_engine::time::Time;

use super::bench::{Bench, UNLIMITED, packet};

fn fifo(filter: &str, limit: Limit) -> Bench<FilteringFifo> {
    let parameters: FilteringFifoParameters = serde_json::from_value(json!({"filter": filter})).unwrap();
    Bench::new(FilteringFifo::new(limit, parameters), 1)
}

fn cake(filter: &str) -> Bench<Cake> {
    let parameters: CakeParameters = serde_json::from_value(json!({"ack_filter": filter})).unwrap();
    Bench::new(Cake::new(UNLIMITED, parameters), 1)
}

fn ack(flow: u32, number: u64, more: u8) -> Packet {
    Packet { flow, number, flags: flags::ACK | more, ..packet(52, 0) }
}

fn with_sack(ack: Packet) -> Packet {
    let options = OptionsPool::default().put(AckOptions { marks: Some(1), ..AckOptions::NONE });
    Packet { options, ..ack }
}

/// The numbers of the packets that leave after these have arrived.
fn left<Q: QueueDiscipline>(mut bench: Bench<Q>, arrivals: &[Packet]) -> Vec<u64> {
    for packet in arrivals {
        bench.enqueue(Time::ZERO, *packet);
    }
    std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.number).collect()
}

/// By hand after Linux: of acknowledgements in a row the aggressive filter leaves the newest, the conservative one two besides.
/// Duplicates, acknowledgements with options and those before a change of ECE stay, and other flows and data are not touched.
#[test]
fn rules_of_linux() {
    let row = |numbers: &[u64]| numbers.iter().map(|number| ack(0, *number, 0)).collect::<Vec<_>>();
    let cases = [
        ("a row", row(&[1, 2, 3, 4, 5]), vec![4, 5], vec![5]),
        ("duplicates", row(&[5, 5, 5, 5]), vec![5, 5, 5, 5], vec![5, 5, 5, 5]),
        ("duplicates of an older one", row(&[4, 4, 4, 5]), vec![4, 4, 5], vec![4, 4, 5]),
        (
            "with options",
            vec![with_sack(ack(0, 1, 0)), with_sack(ack(0, 2, 0)), ack(0, 3, 0)],
            vec![1, 2, 3],
            vec![1, 2, 3],
        ),
        (
            "a change of the echo",
            vec![ack(0, 1, 0), ack(0, 2, flags::ECN_ECHO), ack(0, 3, flags::ECN_ECHO)],
            vec![1, 2, 3],
            vec![1, 3],
        ),
        ("a SYN", vec![ack(0, 1, flags::SYN), ack(0, 3, 0)], vec![1, 3], vec![1, 3]),
    ];
    for (what, arrivals, conservative, aggressive) in cases {
        assert_eq!(left(fifo("off", UNLIMITED), &arrivals).len(), arrivals.len(), "{what}: off");
        assert_eq!(left(fifo("conservative", UNLIMITED), &arrivals), conservative, "{what}: conservative");
        assert_eq!(left(fifo("aggressive", UNLIMITED), &arrivals), aggressive, "{what}: aggressive");
        assert_eq!(left(cake("conservative"), &arrivals), conservative, "{what}: CAKE, conservative");
        assert_eq!(left(cake("aggressive"), &arrivals), aggressive, "{what}: CAKE, aggressive");
    }
    let others = [ack(0, 1, 0), ack(1, 7, 0), packet(1500, 0), ack(0, 2, 0), ack(1, 6, 0)];
    assert_eq!(left(fifo("aggressive", UNLIMITED), &others), [7, 0, 2, 6]);
}

/// An acknowledgement that takes an older one's place needs no room, and any other arrival at a full queue is dropped.
#[test]
fn room_of_older_ones() {
    let mut bench = fifo("aggressive", Limit::Packets(2));
    for arrival in [packet(1500, 0), ack(0, 1, 0), ack(0, 2, 0), ack(1, 1, 0)] {
        bench.enqueue(Time::ZERO, arrival);
    }
    assert_eq!((bench.drops(DropCause::Early), bench.drops(DropCause::Overflow)), (1, 1));
    assert_eq!(bench.outcome.dropped.last().unwrap().packet.flow, 1);
    assert_eq!((bench.queue.packets(), bench.queue.bytes()), (2, 1552));
}

proptest! {
    /// Whatever arrives, a filter removes plain acknowledgements only, each while a newer one of its flow and
    /// one with the same echo wait behind it, and keeps the order of all others.
    #[test]
    fn only_needless_ones(
        arrivals in prop::collection::vec((0..3u32, 0..8u64, 0..8u8), 1..60),
        filter in prop::sample::select(vec!["conservative", "aggressive"]),
    ) {
        let mut bench = fifo(filter, UNLIMITED);
        let mut waiting: Vec<Packet> = Vec::new();
        for (place, (flow, number, kind)) in arrivals.into_iter().enumerate() {
            let plain = ack(flow, number, if kind % 2 == 1 { flags::ECN_ECHO } else { 0 });
            let arrival = match kind {
                6 => Packet { flow, number, ..packet(1500, 0) },
                7 => with_sack(plain),
                _ => plain,
            };
            // The stamp tells packets apart.
            let arrival = Packet { stamp: Time(place as u64), ..arrival };
            waiting.push(arrival);
            bench.enqueue(Time::ZERO, arrival);
            for dropped in bench.outcome.dropped.drain(..) {
                let gone = dropped.packet;
                let position = waiting.iter().position(|packet| packet.stamp == gone.stamp).expect("it waited");
                waiting.remove(position);
                prop_assert!(gone.flags & (flags::DATA | flags::SYN) == 0 && gone.options == OptionsHandle::NONE);
                let mut newer = waiting[position..].iter().filter(|packet| packet.flow == gone.flow && packet.has(flags::ACK));
                let echo = |packet: &Packet| packet.flags & flags::ECN_ECHO;
                prop_assert!(newer.clone().any(|packet| packet.number > gone.number));
                prop_assert!(newer.any(|packet| echo(packet) == echo(&gone)));
            }
        }
        let stamps: Vec<Time> =
            std::iter::from_fn(|| bench.dequeue(Time::ZERO)).map(|sent| sent.packet.stamp).collect();
        prop_assert_eq!(stamps, waiting.iter().map(|packet| packet.stamp).collect::<Vec<_>>());
    }
}
