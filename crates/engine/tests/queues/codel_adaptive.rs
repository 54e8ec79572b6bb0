//! CoDel with a drop rate that depends on the mean sojourn time.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{
    CoDel, CoDelAdaptive, CoDelAdaptiveParameters, CoDelParameters, DropCause, Limit, QueueDiscipline,
};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, UNLIMITED, drive, packet};

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

/// Drop times under bursts of 2 % overload that end before the sojourn time reaches two targets.
fn drop_times<Q: QueueDiscipline>(queue: Q, watch: impl Fn(&Q)) -> Vec<Time> {
    let transmission = Duration::from_microseconds(102);
    let burst =
        |start| (0..4_200).map(move |index| (at(start) + Duration::from_microseconds(100) * index, packet(1500, 0)));
    let arrivals = (0..40).flat_map(|index| burst(500 * index));
    let mut drops = Vec::new();
    drive(&mut Bench::new(queue, 1), transmission, arrivals, at(20_000), |now, event, queue| {
        watch(queue);
        match event {
            Event::Dropped(DropCause::Early) => drops.push(now),
            Event::Dropped(DropCause::Overflow) | Event::Marked | Event::Timer => unreachable!("none is asked for"),
            Event::Sent(_) => {}
        }
    });
    drops
}

/// While the mean is below two targets the drops are CoDel's.
#[test]
fn codel_at_short_queues() {
    let adaptive = CoDelAdaptive::new(UNLIMITED, CoDelAdaptiveParameters::default());
    let adaptive = drop_times(adaptive, |queue| assert!(queue.mean_sojourn() < Duration::from_milliseconds(10)));
    let codel = drop_times(CoDel::new(UNLIMITED, CoDelParameters::default()), |_| {});
    assert_eq!(adaptive, codel);
    assert!(codel.len() >= 40, "{} drops", codel.len());
}

/// Calculated by hand: a standing queue from which the link takes a packet each millisecond, and in which all have
/// waited since the start. The mean of a ramp in steps of 1 ms with weight 1/101 is k - 100 + 100 (100/101)^k ms. The
/// first drop is due at 110 ms, when the mean is 43 ms: four targets of 10 ms, so four drops within CoDel's 100 ms. At
/// 210 ms it is 122 ms: twelve drops within 100 / sqrt(2) ms, one every 5.893 ms.
#[test]
fn evenly_spaced_drops() {
    let due = [110, 135, 160, 185, 210, 216, 222, 228, 234, 240, 246, 252];
    for (flag, ecn) in [(0, true), (flags::ECT_0, true), (flags::ECT_0, false)] {
        let target = Duration::from_milliseconds(10);
        let parameters =
            CoDelAdaptiveParameters { codel: CoDelParameters { target, ecn, ..CoDelParameters::default() } };
        let mut bench = Bench::new(CoDelAdaptive::new(UNLIMITED, parameters), 1);
        for _ in 0..1_000 {
            bench.enqueue(Time::ZERO, packet(1500, flag));
        }
        let mut seen = Vec::new();
        for k in 1..=252 {
            bench.dequeue(at(k)).unwrap();
            let mean = k as f64 - 100.0 + 100.0 * (100.0f64 / 101.0).powi(k as i32);
            assert!((bench.queue.mean_sojourn().seconds() * 1e3 - mean).abs() < 1e-6, "mean at {k} ms");
            let made = bench.drops(DropCause::Early) + bench.outcome.marks;
            seen.extend((seen.len() as u64..made).map(|_| k));
        }
        assert_eq!(seen, due, "ecn {ecn}, ECN field {flag}");
        assert_eq!(bench.outcome.marks > 0, ecn && flag != 0);
    }
}

/// An idle time counts in the mean as zero, with a weight by its length.
#[test]
fn mean_while_idle() {
    let mut bench = Bench::new(CoDelAdaptive::new(Limit::Packets(1), CoDelAdaptiveParameters::default()), 1);
    bench.enqueue(Time::ZERO, packet(1500, 0));
    bench.dequeue(at(100));
    assert_eq!(bench.queue.mean_sojourn(), Duration::from_milliseconds(50));
    assert!(bench.dequeue(at(300)).is_none(), "an empty queue tells nothing");
    bench.enqueue(at(1_000), packet(1500, 0));
    bench.enqueue(at(1_000), packet(1500, 0));
    assert_eq!(bench.drops(DropCause::Overflow), 1);
    bench.dequeue(at(1_000));
    assert_eq!(bench.queue.mean_sojourn(), Duration::from_milliseconds(5));
}
