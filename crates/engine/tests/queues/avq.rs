//! AVQ: Kunniyur and Srikant 2004.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{Avq, AvqParameters, DropCause, Limit, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, Event, TRANSMISSION, drive, packet};

/// AVQ on a link of 12 Mbit/s, which sends 1500 bytes in 1 ms.
fn avq(limit: Limit, parameters: AvqParameters) -> Bench<Avq> {
    let mut avq = Avq::new(limit, parameters);
    avq.set_link_rate(Rate(12_000_000));
    Bench::new(avq, 1)
}

/// The algorithm calculated by hand: a virtual buffer of two packets and an initial virtual capacity of 0.8 * 1.5 MB/s.
/// Each packet admitted reduces it by 0.15 * 1500 and each millisecond restores 0.15 * 0.98 * 1500.
#[test]
fn equations() {
    let mut bench = avq(Limit::Packets(2), AvqParameters::default());
    assert_eq!(bench.queue.virtual_capacity(), 1_200_000.0);
    let rows = [
        (0, 1500.0, 1_199_775.0, 0),
        (0, 3000.0, 1_199_550.0, 0),
        // The virtual queue overflows although the link has taken a packet.
        (0, 3000.0, 1_199_550.0, 1),
        // 1199.55 bytes were served, 300.45 too few.
        (1, 1800.45, 1_199_770.5, 2),
        (2, 2_100.679_5, 1_199_766.0, 2),
        // The virtual queue became empty.
        (100, 1500.0, 1_199_766.0 + 98.0 * 220.5 - 225.0, 2),
        // The virtual capacity is at most that of the link.
        (100_000, 1500.0, 1_500_000.0 - 225.0, 2),
    ];
    for (index, (millisecond, virtual_queue, virtual_capacity, drops)) in rows.into_iter().enumerate() {
        let now = Time::ZERO + Duration::from_milliseconds(millisecond);
        bench.enqueue(now, packet(1500, 0));
        if bench.queue.packets() == 2 {
            bench.dequeue(now);
        }
        let got = (bench.queue.virtual_queue(), bench.queue.virtual_capacity());
        assert!((got.0 - virtual_queue).abs() < 1e-6, "arrival {index}: {got:?} and {virtual_queue}");
        assert!((got.1 - virtual_capacity).abs() < 1e-6, "arrival {index}: {got:?} and {virtual_capacity}");
        assert_eq!(bench.drops(DropCause::Early), drops, "arrival {index}");
    }
    assert_eq!(bench.drops(DropCause::Overflow), 0);
}

/// When the link's rate changes, the virtual capacity keeps its share of it.
#[test]
fn link_rate_change() {
    let mut bench = avq(Limit::Packets(2), AvqParameters::default());
    bench.enqueue(Time::ZERO, packet(1500, 0));
    bench.queue.set_link_rate(Rate(6_000_000));
    assert!((bench.queue.virtual_capacity() - 1_199_775.0 / 2.0).abs() < 1e-6);
}

/// Under an unresponsive overload the admitted rate tends to gamma times the link's, for any load and gamma. So the
/// link is never overloaded and queues only a few packets.
#[test]
fn desired_utilisation() {
    for (rho, gamma) in [(1.05, 0.98), (1.2, 0.98), (2.0, 0.98), (1.2, 0.9)] {
        let parameters = AvqParameters { gamma, ..AvqParameters::default() };
        let mut queue = Avq::new(Limit::Packets(100), parameters);
        queue.set_link_rate(Rate(10_000_000));
        let mut bench = Bench::new(queue, 1);
        let mut source = Random::stream(1, Purpose::Source, 0);
        let mean = Duration::from_seconds_f64(TRANSMISSION.seconds() / rho);
        let arrivals = std::iter::successors(Some(Time::ZERO), |time| Some(*time + source.exponential(mean)));
        let warm_up = Time::ZERO + Duration::from_seconds(100);
        let end = Time::ZERO + Duration::from_seconds(400);
        let (mut sent, mut waited, mut overflows) = (0.0, 0.0, 0);
        drive(
            &mut bench,
            TRANSMISSION,
            arrivals.map(|time| (time, packet(1500, 0))),
            end,
            |now, event, _| match event {
                Event::Sent(sojourn) if now >= warm_up => {
                    sent += 1.0;
                    waited += sojourn.seconds();
                }
                Event::Dropped(DropCause::Overflow) if now >= warm_up => overflows += 1,
                _ => {}
            },
        );
        let utilisation = sent * TRANSMISSION.seconds() / 300.0;
        assert!((utilisation - gamma).abs() < 0.005, "load {rho}: utilisation {utilisation}, desired {gamma}");
        let packets = waited / sent / TRANSMISSION.seconds();
        assert!(packets < 50.0 && overflows == 0, "load {rho}: {packets} packets, {overflows} lost to the limit");
    }
}

/// With ECN, ECN-capable packets are marked instead of dropped, and count as arrivals.
#[test]
fn marks() {
    let fates = |ecn: bool, ecn_flag: u8| {
        let mut bench = avq(Limit::Packets(1), AvqParameters { ecn, ..AvqParameters::default() });
        bench.enqueue(Time::ZERO, packet(1500, 0));
        bench.dequeue(Time::ZERO);
        bench.enqueue(Time::ZERO, packet(1500, ecn_flag));
        let taken = (1_200_000.0 - bench.queue.virtual_capacity()) / 225.0;
        (bench.outcome.marks, bench.drops(DropCause::Early), taken.round())
    };
    assert_eq!(fates(true, flags::ECT_0), (1, 0, 2.0));
    assert_eq!(fates(true, 0), (0, 1, 1.0));
    assert_eq!(fates(false, flags::ECT_0), (0, 1, 1.0));
}
