//! DualPI2: RFC 9332.

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{
    DropCause, DualPi2, DualPi2Parameters, DualQueueScheduler, Limit, QueueDiscipline, QueueRules,
};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, TRANSMISSION, UNLIMITED, constant, drive, packet};

fn at(microseconds: u64) -> Time {
    Time::ZERO + Duration::from_microseconds(microseconds)
}

fn bench(parameters: DualPi2Parameters) -> Bench<DualPi2> {
    Bench::new(DualPi2::new(UNLIMITED, parameters), 1)
}

const L4S: u8 = flags::ECT_1;
const NOT_ECT: u8 = 0;

/// A bench with this base probability, which results from one change of the delay by 10 ms.
fn bench_at(base_probability: f64) -> Bench<DualPi2> {
    let mut bench = bench(DualPi2Parameters { alpha: 0.0, beta: base_probability / 0.010, ..Default::default() });
    bench.enqueue(at(0), packet(1500, NOT_ECT));
    bench.queue.on_timer(at(10_000));
    bench.dequeue(at(10_000));
    assert!((bench.queue.base_probability() - base_probability).abs() < 1e-12);
    assert!(bench.outcome.is_empty());
    bench
}

/// Sends packets with this ECN field one at a time, so that none waits. Returns the numbers of marks and drops.
fn pass(bench: &mut Bench<DualPi2>, packets: u64, ecn: u8) -> (u64, u64) {
    let before = (bench.outcome.marks, bench.drops(DropCause::Early));
    for _ in 0..packets {
        bench.enqueue(at(10_000), packet(1500, ecn));
        bench.dequeue(at(10_000));
    }
    (bench.outcome.marks - before.0, bench.drops(DropCause::Early) - before.1)
}

/// Appendix A, `dualpi2_update`, by hand: a delay of 30 ms after none adds 0.15 * 0.015 + 3 * 0.030 = 0.09225, one of
/// 45 ms after that 0.15 * 0.030 + 3 * 0.015 = 0.0495. Then 0 ms: 0.15 * -0.015 - 3 * 0.045 = -0.13725, with a minimum
/// of zero. The delay is that of the longer queue.
#[test]
fn base_probability() {
    for ecn in [NOT_ECT, L4S] {
        let mut bench = bench(DualPi2Parameters::default());
        bench.enqueue(at(0), packet(1500, ecn));
        let mut updated = |time| {
            bench.queue.on_timer(time);
            bench.queue.base_probability()
        };
        assert!((updated(at(30_000)) - 0.09225).abs() < 1e-12);
        assert!((updated(at(45_000)) - 0.14175).abs() < 1e-12);
        assert!((bench.queue.coupled_probability() - 0.2835).abs() < 1e-12, "p_CL = k p'");
        assert!((bench.queue.classic_probability() - 0.14175 * 0.14175).abs() < 1e-12, "p_C = p'^2");
        bench.dequeue(at(46_000));
        bench.queue.on_timer(at(60_000));
        assert!((bench.queue.base_probability() - 0.0045).abs() < 1e-12);
        bench.queue.on_timer(at(75_000));
        assert!((bench.queue.base_probability() - 0.00225).abs() < 1e-12, "no delay, and none before");
        for update in 0..10 {
            bench.queue.on_timer(at(90_000 + 15_000 * update));
        }
        assert_eq!(bench.queue.base_probability(), 0.0);
        assert_eq!(bench.queue.timer_interval(), Some(Duration::from_milliseconds(15)));
    }
}

/// At p' = 0.2 and k = 2, 40 % of L4S packets are marked. 4 % of Classic packets are marked if they are ECN-capable,
/// and dropped otherwise.
#[test]
fn coupled_probabilities() {
    let mut bench = bench_at(0.2);
    assert_near(pass(&mut bench, 1000, L4S), (400, 0));
    assert_near(pass(&mut bench, 1000, flags::ECT_0), (40, 0));
    assert_near(pass(&mut bench, 1000, NOT_ECT), (0, 40));
}

/// Compares counts, which may differ by one because of the accumulated probabilities.
fn assert_near(seen: (u64, u64), expected: (u64, u64)) {
    assert!(seen.0.abs_diff(expected.0) <= 1 && seen.1.abs_diff(expected.1) <= 1, "{seen:?}, not {expected:?}");
}

/// Packets that arrive marked are queued as L4S and not counted as marks again.
#[test]
fn packets_arriving_marked() {
    let mut bench = bench_at(0.2);
    assert_eq!(pass(&mut bench, 1000, flags::CONGESTION_EXPERIENCED), (0, 0));
    bench.enqueue(at(10_000), packet(1500, NOT_ECT));
    bench.enqueue(at(10_000), packet(1500, flags::ECT_0));
    bench.enqueue(at(10_000), packet(1500, flags::CONGESTION_EXPERIENCED));
    bench.enqueue(at(10_000), packet(1500, L4S));
    let order: Vec<u8> = (0..4).map(|_| bench.dequeue(at(10_000)).unwrap().packet.flags & flags::ECT_1).collect();
    assert_eq!(order, [L4S, 0, L4S, 0], "L4S first, then in turns as the weights say");
}

/// Appendix A: from k p' = 1 on L4S packets are dropped with p'^2 like Classic ones, before the rest is marked, and
/// ECN-capable Classic packets are dropped too. Below that no ECN-capable packet is dropped.
#[test]
fn overload() {
    let mut below = bench_at(0.499);
    assert_near(pass(&mut below, 1000, L4S), (998, 0));
    assert_near(pass(&mut below, 1000, flags::ECT_0), (249, 0));
    let mut at_overload = bench_at(0.5);
    assert_near(pass(&mut at_overload, 1000, L4S), (750, 250));
    assert_near(pass(&mut at_overload, 1000, flags::ECT_0), (0, 250));
    assert_near(pass(&mut at_overload, 1000, NOT_ECT), (0, 250));
    let mut above = bench_at(0.8);
    assert_near(pass(&mut above, 1000, L4S), (360, 640));
    assert_near(pass(&mut above, 1000, flags::ECT_0), (0, 640));
}

/// Appendix A, `laqm`: an L4S packet that waited 800 us is not marked, one that waited 1 ms is with probability 1/2,
/// one that waited 1.2 ms always. Without a range the ramp is a step. No packet is marked if at most one remains
/// queued.
#[test]
fn l4s_mark_ramp() {
    let marked = |waited: u64, behind: usize, range: u64| {
        let mut bench = bench(DualPi2Parameters { range: Duration::from_microseconds(range), ..Default::default() });
        for index in 0..100 {
            let arrival = 2_000 * index;
            for _ in 0..=behind {
                bench.enqueue(at(arrival), packet(1500, L4S));
            }
            bench.dequeue(at(arrival + waited));
            // The other packets leave at most one packet behind, or have not waited.
            while bench.queue.packets() > 0 {
                bench.dequeue(at(arrival));
            }
        }
        bench.outcome.marks
    };
    assert_eq!(marked(800, 2, 400), 0);
    assert!(marked(1_000, 2, 400).abs_diff(50) <= 1, "{}", marked(1_000, 2, 400));
    assert!(marked(900, 2, 400).abs_diff(25) <= 1, "{}", marked(900, 2, 400));
    assert!(marked(1_200, 2, 400) >= 99);
    assert_eq!(marked(1_200, 1, 400), 0);
    assert_eq!(marked(800, 2, 0), 0);
    assert!(marked(801, 2, 0) >= 99);
}

/// Bytes sent from each queue while both are backlogged, with these packet sizes.
fn served(parameters: DualPi2Parameters, l4s_size: u16, classic_size: u16) -> (f64, f64) {
    let mut bench = bench(parameters);
    for _ in 0..2_000 {
        bench.enqueue(at(0), packet(l4s_size, L4S));
        bench.enqueue(at(0), packet(classic_size, NOT_ECT));
    }
    let (mut l4s, mut classic) = (0.0, 0.0);
    for _ in 0..1_500 {
        let sent = bench.dequeue(at(0)).unwrap().packet;
        let of = if sent.has(flags::ECT_1) { &mut l4s } else { &mut classic };
        *of += f64::from(sent.size);
    }
    (l4s, classic)
}

/// With weighted round robin the Classic queue gets its share of the bytes, for any packet sizes.
#[test]
fn classic_share() {
    for (l4s_size, classic_size) in [(1500, 1500), (1500, 100), (100, 1500)] {
        for share in [0.1, 0.5] {
            let parameters = DualPi2Parameters { classic_share: share, ..Default::default() };
            let (l4s, classic) = served(parameters, l4s_size, classic_size);
            let got = classic / (l4s + classic);
            assert!((got - share).abs() < 0.01, "{got} of {share}, packets of {l4s_size} and {classic_size} bytes");
        }
    }
}

/// Packets sent while the other queue is empty do not count in the turn.
#[test]
fn turns_while_other_queue_empty() {
    for (first, other) in [(L4S, NOT_ECT), (NOT_ECT, L4S)] {
        let mut bench = bench(DualPi2Parameters::default());
        for _ in 0..20 {
            bench.enqueue(at(0), packet(1500, first));
        }
        for _ in 0..10 {
            bench.dequeue(at(0));
        }
        bench.enqueue(at(0), packet(1500, other));
        assert_eq!(bench.dequeue(at(0)).unwrap().packet.flags & flags::ECT_1, L4S, "L4S is served first");
        assert_eq!(bench.dequeue(at(0)).unwrap().packet.flags & flags::ECT_1, NOT_ECT, "one packet a turn of 10 %");
    }
    // An empty queue resets the credit.
    let mut bench = bench(DualPi2Parameters::default());
    for _ in 0..3 {
        bench.enqueue(at(0), packet(1500, NOT_ECT));
        bench.enqueue(at(0), packet(1500, L4S));
        assert_eq!(bench.dequeue(at(0)).unwrap().packet.flags & flags::ECT_1, L4S);
        bench.dequeue(at(0));
    }
}

/// A time-shifted FIFO serves the L4S queue first, until the head of the Classic queue has waited longer by more than
/// the shift.
#[test]
fn time_shifted_fifo() {
    let scheduler = DualQueueScheduler::TimeShiftedFifo;
    let first = |l4s_since: u64| {
        let mut bench = bench(DualPi2Parameters { scheduler, ..Default::default() });
        bench.enqueue(at(0), packet(1500, NOT_ECT));
        bench.enqueue(at(l4s_since), packet(1500, L4S));
        bench.dequeue(at(100_000)).unwrap().packet.flags & flags::ECT_1
    };
    assert_eq!(first(50_000), L4S, "50 ms later is as long");
    assert_eq!(first(50_001), 0);
}

/// The limit applies to both queues together. Overflows are dropped for any ECN field.
#[test]
fn shared_limit() {
    for limit in [Limit::Packets(4), Limit::Bytes(6_100)] {
        let mut bench = Bench::new(DualPi2::new(limit, DualPi2Parameters::default()), 1);
        for ecn in [L4S, NOT_ECT, L4S, flags::ECT_0, L4S, NOT_ECT] {
            bench.enqueue(at(0), packet(1500, ecn));
        }
        assert_eq!((bench.queue.packets(), bench.queue.bytes()), (4, 6_000));
        assert_eq!(bench.drops(DropCause::Overflow), 2);
        assert!((0..4).all(|_| bench.dequeue(at(0)).is_some()) && bench.dequeue(at(0)).is_none());
        assert!(bench.queue.is_at_rest());
    }
}

/// Each queue keeps the order of its packets, and all arrivals are sent or dropped.
#[test]
fn order_and_conservation() {
    let mut bench = bench(DualPi2Parameters::default());
    let (mut sent, mut number) = ([Vec::new(), Vec::new()], 0);
    for step in 0..20_000u64 {
        let now = at(500 * step);
        if step % 30 == 0 {
            bench.queue.on_timer(now);
        }
        for _ in 0..=(step / 1_000 % 2) {
            let ecn = [NOT_ECT, L4S, flags::ECT_0, L4S, L4S][(number % 5) as usize];
            bench.enqueue(now, Packet { number, ..packet(1500, ecn) });
            number += 1;
        }
        if let Some(queued) = bench.dequeue(now) {
            let is_l4s = [1, 3, 4].contains(&(queued.packet.number % 5));
            sent[usize::from(is_l4s)].push(queued.packet.number);
        }
    }
    assert!(sent.iter().all(|numbers| numbers.is_sorted() && numbers.len() > 1_000));
    let total = sent[0].len() as u64 + sent[1].len() as u64 + bench.drops(DropCause::Early) + bench.queue.packets();
    assert_eq!(total, number);
    assert!(bench.outcome.marks > 0 && bench.drops(DropCause::Early) > 0);
}

/// In either queue, and even if an unresponsive overload is ECN-capable, enough of it is dropped for the rest to fit
/// into the link, and the delay stays at the target.
#[test]
fn unresponsive_overload() {
    let (warm_up, end) = (at(20_000_000), at(80_000_000));
    for ecn in [NOT_ECT, flags::ECT_0, L4S] {
        let arrivals = constant(at(0), end, Duration(TRANSMISSION.0 / 2)).map(|(time, _)| (time, packet(1500, ecn)));
        let (mut sent, mut dropped, mut waited) = (0.0, 0.0, 0.0);
        drive(&mut bench(DualPi2Parameters::default()), TRANSMISSION, arrivals, end, |now, event, _| match event {
            _ if now < warm_up => {}
            Event::Sent(delay) => {
                sent += 1.0;
                waited += delay.seconds();
            }
            Event::Dropped(cause) => {
                assert_eq!(cause, DropCause::Early);
                dropped += 1.0;
            }
            Event::Marked | Event::Timer => {}
        });
        let (loss, delay) = (dropped / (sent + dropped), waited / sent);
        assert!((loss - 0.5).abs() < 0.005, "ECN field {ecn}: {loss} lost at twice the link's rate");
        assert!((delay - 0.015).abs() < 0.001, "ECN field {ecn}: a mean delay of {delay} s");
    }
}

/// The rules of sch_dualpi2.c, with what these parameters say.
fn linux(parameters: DualPi2Parameters) -> Bench<DualPi2> {
    bench(DualPi2Parameters { rules: QueueRules::Linux, ..parameters })
}

/// Takes so many packets with this ECN field while `behind` others are left. Returns the numbers of marks and drops.
fn pass_by_chance(base_probability: f64, packets: u64, ecn: u8, behind: u64) -> (u64, u64) {
    let mut bench = linux(DualPi2Parameters { alpha: 0.0, beta: base_probability / 0.010, ..Default::default() });
    bench.enqueue(at(0), packet(1500, NOT_ECT));
    bench.queue.on_timer(at(10_000));
    bench.dequeue(at(10_000));
    for _ in 0..packets {
        while bench.queue.packets() <= behind {
            bench.enqueue(at(10_000), packet(1500, ecn));
        }
        // After one that is dropped another is taken, which leaves fewer.
        bench.dequeue(at(10_000));
    }
    (bench.outcome.marks, bench.drops(DropCause::Early))
}

/// Compares counts of so many draws, within four standard deviations.
fn assert_drawn(seen: u64, draws: u64, share: f64) {
    let (expected, deviation) = (draws as f64 * share, libm::sqrt(draws as f64 * share * (1.0 - share)));
    assert!((seen as f64 - expected).abs() <= 4.0 * deviation, "{seen} of {draws}, not {share}");
}

/// must_drop of Linux 7.3's sch_dualpi2.c: with two packets left, a base probability of 0.2 marks L4S packets with 0.4 and marks or
/// drops Classic ones with 0.04; with fewer left, none. Over 0.5 it is overload: 0.6 drops all kinds with 0.36, and the rest of the
/// L4S packets is marked. Packets are chosen at random: equal counts of runs are not.
#[test]
fn marks_of_linux() {
    const PACKETS: u64 = 10_000;
    for (ecn, probability, marks, drops) in [
        (L4S, 0.2, 0.4, 0.0),
        (flags::ECT_0, 0.2, 0.04, 0.0),
        (NOT_ECT, 0.2, 0.0, 0.04),
        (L4S, 0.6, 0.64, 0.36),
        (flags::ECT_0, 0.6, 0.0, 0.36),
    ] {
        let seen = pass_by_chance(probability, PACKETS, ecn, 2);
        assert_drawn(seen.0, PACKETS, marks);
        assert_drawn(seen.1, PACKETS, drops);
        assert_eq!(pass_by_chance(probability, PACKETS, ecn, 1), (0, 0), "one packet is left");
    }
}

/// do_step_aqm: an L4S packet that waited longer than the threshold is marked if it met at least so many others when it arrived
/// (min_qlen_step), even if none is left: by default of Linux 7.3 always.
#[test]
fn step_of_linux() {
    for (least, met, waited, marks) in [(0, 0, 801, 1), (0, 0, 800, 0), (2, 1, 801, 0), (2, 2, 801, 1)] {
        let range = Duration::ZERO;
        let mut bench = linux(DualPi2Parameters { minimum_packets: least, range, ..Default::default() });
        for _ in 0..met {
            bench.enqueue(at(0), packet(1500, L4S));
        }
        bench.enqueue(at(0), packet(1500, L4S));
        for _ in 0..met {
            bench.dequeue(at(0));
        }
        bench.dequeue(at(waited));
        assert_eq!(bench.outcome.marks, marks, "{met} others, {least} are needed, {waited} us");
    }
}

/// dualpi2_calculate_c_protection: the credit of an idle link lets nine full L4S packets pass before the first Classic one, of which
/// every tenth byte is one's share; a turn is remembered while a queue is empty.
#[test]
fn turns_of_linux() {
    let mut bench = linux(DualPi2Parameters::default());
    let mut turn = |l4s: u64, classic: u64| {
        for (ecn, packets) in [(L4S, l4s), (NOT_ECT, classic)] {
            (0..packets).for_each(|_| bench.enqueue(at(0), packet(1500, ecn)));
        }
        let mut before_classic = 0;
        while bench.dequeue(at(0)).is_some_and(|sent| sent.packet.has(flags::ECT_1)) {
            before_classic += 1;
        }
        before_classic
    };
    assert_eq!(turn(30, 3), 9, "the credit of -0.8 packets grows by 0.1 with each, and serves L4S up to zero");
}
