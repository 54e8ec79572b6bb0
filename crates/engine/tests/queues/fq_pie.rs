//! FQ-PIE: each queue's probability is PIE's.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, FqPie, FqPieParameters, Limit, Pie, PieParameters, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, TRANSMISSION, UNLIMITED, packet};
use super::flows::{dropped, numbered};

/// With a single flow FQ-PIE is PIE: the same arrivals cause equally many drops in each interval, within random
/// variation. A skipped update would be visible in them.
#[test]
fn pie_for_single_flow() {
    // Loads of 1.2 and 0.5 in turn, so that the queue becomes empty and the drop probability decays.
    let arrivals = || {
        let mut now = Time::ZERO;
        (0..100_000u64).map(move |index| {
            let spacing = if index / 10_000 % 2 == 0 { TRANSMISSION.0 * 10 / 12 } else { TRANSMISSION.0 * 2 };
            now += Duration(spacing);
            now
        })
    };
    fn run<Q: QueueDiscipline>(queue: Q, arrivals: impl Iterator<Item = Time>) -> Vec<u64> {
        let mut bench = Bench::new(queue, 1);
        // FQ-PIE draws once for its hash, so both draw once.
        let (mut free, mut timer) = (Time::ZERO, Time::ZERO);
        let interval = bench.queue.timer_interval().unwrap();
        let mut drops = vec![0; 10];
        for (index, now) in arrivals.enumerate() {
            loop {
                let asks = if bench.queue.packets() > 0 { free } else { Time::NEVER };
                let next = asks.min(timer);
                if next > now {
                    break;
                }
                if timer <= asks {
                    bench.queue.on_timer(timer);
                    timer += interval;
                } else {
                    assert!(bench.dequeue(free).is_some());
                    free += TRANSMISSION;
                }
            }
            let before = bench.outcome.dropped.len();
            bench.enqueue(now, packet(1500, 0));
            free = free.max(now);
            drops[index / 10_000] += (bench.outcome.dropped.len() - before) as u64;
        }
        drops
    }
    let pie = run(Pie::new(UNLIMITED, PieParameters::default()), arrivals());
    let fq_pie = run(FqPie::new(UNLIMITED, FqPieParameters::default()), arrivals());
    for (interval, (one, other)) in pie.iter().zip(&fq_pie).enumerate() {
        // Five standard deviations of the difference of two binomials, assuming independent drops.
        let spread = 5.0 * (2.0 * (*one.max(other) as f64)).sqrt();
        assert!((*one as f64 - *other as f64).abs() <= spread, "interval {interval}: {pie:?} and {fq_pie:?}");
    }
    assert!(fq_pie[0] > 500 && fq_pie[9] < 50, "{fq_pie:?}");
}

/// Each queue has its own drop probability: a flow below its share loses nothing beside one far above.
#[test]
fn flow_below_its_share() {
    for ecn in [false, true] {
        let parameters = FqPieParameters {
            pie: PieParameters { ecn, mark_threshold: 1.0, ..PieParameters::default() },
            ..FqPieParameters::default()
        };
        let mut bench = Bench::new(FqPie::new(UNLIMITED, parameters), 1);
        let flag = if ecn { flags::ECT_0 } else { 0 };
        let mut timer = Time::ZERO;
        for slot in 0..50_000u64 {
            let now = Time::ZERO + TRANSMISSION * slot;
            while timer <= now {
                bench.queue.on_timer(timer);
                timer += bench.queue.timer_interval().unwrap();
            }
            bench.dequeue(now);
            // One flow sends at the link's rate, the other at a third of it.
            bench.enqueue(now, numbered(0, slot, 1500, flag));
            if slot % 3 == 0 {
                bench.enqueue(now, numbered(1, slot, 1500, flag));
            }
        }
        let drops = [dropped(&bench, 0, DropCause::Early).len(), dropped(&bench, 1, DropCause::Early).len()];
        if ecn {
            // Its packets are marked until the drop probability exceeds the threshold.
            assert!(drops[1] == 0 && bench.outcome.marks > 1_000, "{drops:?}, {} marks", bench.outcome.marks);
        } else {
            // A third of its packets exceeds its share.
            assert!(drops[1] == 0 && drops[0].abs_diff(50_000 / 3) < 1_700, "{drops:?}");
        }
    }
}

/// At the limit, which applies to all queues together, arrivals are dropped.
#[test]
fn overflow() {
    let mut bench = Bench::new(FqPie::new(Limit::Packets(5), FqPieParameters::default()), 1);
    for number in 0..4 {
        bench.enqueue(Time::ZERO, numbered(0, number, 1500, 0));
    }
    for number in 0..3 {
        bench.enqueue(Time::ZERO, numbered(1, number, 1500, 0));
    }
    assert_eq!(bench.queue.packets(), 5);
    assert_eq!(dropped(&bench, 1, DropCause::Overflow), [1, 2]);
}
