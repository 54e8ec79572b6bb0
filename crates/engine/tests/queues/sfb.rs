//! SFB: Feng, Kandlur, Saha and Shin 2001, with the constants of Linux net/sched/sch_sfb.c.

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{DropCause, QueueDiscipline, Sfb, SfbParameters};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, UNLIMITED, packet};

fn of(flow: u32) -> Packet {
    Packet { flow, ..packet(1500, 0) }
}

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

/// The number of packets admitted of those that arrive together.
fn let_in(bench: &mut Bench<Sfb>, now: Time, packet: Packet, count: u64) -> u64 {
    let before = bench.queue.packets();
    for _ in 0..count {
        bench.enqueue(now, packet);
    }
    bench.queue.packets() - before
}

/// Parameters with which one increment makes a flow unresponsive: at the first arrival that finds bin_size packets of
/// its flow, here the 21st.
fn quick() -> SfbParameters {
    SfbParameters { increment: 1.0, maximum: 1_000_000, ..SfbParameters::default() }
}

/// No flow has more than 25 packets in the queue, for any number of flows. Until a bin has 20, nothing is dropped.
#[test]
fn packets_per_flow() {
    let mut bench = Bench::new(Sfb::new(UNLIMITED, SfbParameters::default()), 1);
    for flow in 0..10 {
        assert_eq!(let_in(&mut bench, Time::ZERO, of(flow), 20), 20);
    }
    assert_eq!(bench.drops(DropCause::Early), 0);
    for flow in 0..10 {
        let more = let_in(&mut bench, Time::ZERO, of(flow), 20);
        // Six arrivals at drop probabilities below 1 % may lose one of the five.
        assert!((4..=5).contains(&more), "{more} of flow {flow}");
    }
    for flow in 0..10 {
        assert!(let_in(&mut bench, Time::ZERO, of(flow), 20) <= 1, "flow {flow} has its 25");
    }
}

/// An unresponsive flow is admitted at the penalty rate: a burst of 20, then ten packets per second, with at most one
/// further burst accumulated. Other flows are admitted as before.
#[test]
fn penalty_rate() {
    let mut bench = Bench::new(Sfb::new(UNLIMITED, quick()), 1);
    assert_eq!(let_in(&mut bench, at(0), of(0), 20 + 30), 20 + 20);
    assert_eq!(let_in(&mut bench, at(0), of(1), 20), 20);
    assert_eq!(let_in(&mut bench, at(1000), of(0), 30), 10);
    assert_eq!(let_in(&mut bench, at(100_000), of(0), 30), 20);
    // At any arrival rate, at most a hundred packets are admitted in 10 s.
    let passed: u64 = (0..10_000).map(|millisecond| let_in(&mut bench, at(100_000 + millisecond), of(0), 1)).sum();
    assert!((98..=100).contains(&passed), "{passed}");
    assert_eq!(let_in(&mut bench, at(110_000), of(2), 20), 20);
}

/// An arrival that finds its bins empty lowers their drop probability by 1/6000: half of the flow's packets are
/// admitted after 3000 of them, all after 6000.
#[test]
fn probability_decrease() {
    let mut bench = Bench::new(Sfb::new(UNLIMITED, quick()), 1);
    let_in(&mut bench, at(0), of(0), 21);
    while bench.dequeue(at(0)).is_some() {}
    let mut passed = [0; 7];
    for arrival in 0..7000 {
        passed[arrival / 1000] += let_in(&mut bench, at(1), of(0), 1);
        bench.dequeue(at(1));
    }
    for (thousand, passed) in passed[..6].iter().enumerate() {
        // At most five standard deviations of the sum of a thousand draws.
        let law = 1000.0 * (thousand as f64 + 0.5) / 6.0;
        assert!((*passed as f64 - law).abs() < 80.0, "{passed} of the {thousand}. thousand, by the law {law}");
    }
    assert_eq!(passed[6], 1000);
}

/// Hashes change, and packets queued before are removed from the bins in which they were counted. The bins of the next
/// hash learn unresponsive flows while the previous hash is still in use. Without the warm-up such a flow starts again.
#[test]
fn hash_change() {
    let let_in_after = |warmup_time| {
        let parameters = SfbParameters {
            rehash_interval: Duration::from_seconds(1),
            warmup_time,
            penalty_rate: 0.0,
            penalty_burst: 40,
            ..quick()
        };
        let mut bench = Bench::new(Sfb::new(UNLIMITED, parameters), 1);
        assert_eq!(let_in(&mut bench, at(0), of(0), 20 + 1), 20 + 1);
        assert_eq!(let_in(&mut bench, at(600), of(0), 50), 39, "what is left of the burst");
        assert_eq!(let_in(&mut bench, at(700), of(0), 50), 0);
        let passed = let_in(&mut bench, at(1001), of(0), 10);
        while bench.dequeue(at(1002)).is_some() {}
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (0, 0));
        passed
    };
    assert_eq!(let_in_after(Duration::from_milliseconds(500)), 0);
    assert_eq!(let_in_after(Duration::ZERO), 10);
}

/// With ECN, ECN-capable packets are marked up to a drop probability of 1/2. Above, the share 2 p - 1 of all arrivals
/// is dropped and the rest of p marked.
#[test]
fn marks_and_drops_by_probability() {
    for (probability, ecn_flag) in [(0.25, flags::ECT_0), (0.5, flags::ECT_0), (0.75, flags::ECT_0), (0.75, 0)] {
        let parameters = SfbParameters {
            increment: probability,
            decrement: 0.0,
            maximum: 1_000_000,
            ecn: true,
            ..SfbParameters::default()
        };
        let mut bench = Bench::new(Sfb::new(UNLIMITED, parameters), 1);
        // The last of these increases the drop probability once.
        for _ in 0..21 {
            bench.enqueue(at(0), packet(1500, flags::ECT_0));
        }
        while bench.dequeue(at(0)).is_some() {}
        (bench.outcome.marks, bench.outcome.dropped) = (0, Vec::new());
        for _ in 0..10_000 {
            bench.enqueue(at(1), packet(1500, ecn_flag));
            bench.dequeue(at(1));
        }
        let (marks, drops) = (bench.outcome.marks as f64 / 1e4, bench.drops(DropCause::Early) as f64 / 1e4);
        let dropped = if ecn_flag == 0 { probability } else { f64::max(0.0, 2.0 * probability - 1.0) };
        // Five standard deviations.
        assert!((drops - dropped).abs() < 0.025, "p {probability}: {drops} dropped, {marks} marked");
        assert!((marks - (probability - dropped)).abs() < 0.025, "p {probability}: {drops} dropped, {marks} marked");
    }
}
