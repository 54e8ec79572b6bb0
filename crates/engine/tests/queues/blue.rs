//! BLUE: Feng, Shin, Kandlur and Saha 2002.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{Blue, BlueParameters, DropCause, Limit};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, TRANSMISSION, count, drive, number, packet, vector};

fn at(milliseconds: u64) -> Time {
    Time::ZERO + Duration::from_milliseconds(milliseconds)
}

/// A full buffer of five packets at which one packet per millisecond is lost until `end`, in milliseconds.
fn overflowing(parameters: BlueParameters, end: u64) -> Bench<Blue> {
    let mut bench = Bench::new(Blue::new(Limit::Packets(5), parameters), 1);
    for millisecond in 0..end {
        bench.enqueue(at(millisecond), packet(1500, 0));
    }
    assert_eq!(bench.drops(DropCause::Early), 0, "what the limit takes is no choice of its own");
    bench
}

/// A loss more than freeze_time after the last change adds delta_1: with losses each millisecond at 101, 202, 303 ms
/// and so on, the 60th at 6060 ms. Law blue-step: 60 steps of 1/256 are 0.234375.
#[test]
fn increase_on_loss() {
    let row = vector("cobalt-blue_pdrop-1");
    let increment = number(&row["inputs"]["increment"]);
    let parameters = BlueParameters { increment, ..BlueParameters::default() };
    for steps in [0, 1, 2, count(&row["expected"]["steps"])] {
        // The last step is due to the loss in the last millisecond.
        let bench = overflowing(parameters.clone(), 101 * steps + 1);
        assert_eq!(bench.queue.drop_probability(), steps as f64 * increment, "{steps} steps");
        assert_eq!(
            overflowing(parameters.clone(), 101 * steps + 101).queue.drop_probability(),
            steps as f64 * increment
        );
    }
    let bench = overflowing(parameters, 6061);
    assert_eq!(bench.queue.drop_probability(), number(&row["expected"]["p_drop"]));
}

/// An idle link subtracts delta_2 once freeze_time has passed since the last change, and again after each freeze_time:
/// after the loss at 101 ms the first step is at 201 ms, whether the link was idle before or not.
#[test]
fn decrease_while_idle() {
    let parameters = BlueParameters { increment: 0.5, decrement: 0.0625, ..BlueParameters::default() };
    let after = |idle_from: u64, arrival: u64| {
        let mut bench = overflowing(parameters.clone(), 102);
        for _ in 0..6 {
            bench.dequeue(at(idle_from));
        }
        bench.enqueue(at(arrival), packet(1500, 0));
        (0.5 - bench.queue.drop_probability()) / 0.0625
    };
    assert_eq!(after(150, 201), 0.0);
    assert_eq!(after(150, 202), 1.0);
    assert_eq!(after(150, 300), 1.0);
    assert_eq!(after(150, 302), 2.0);
    assert_eq!(after(250, 251), 1.0, "at once if it is due");
    assert_eq!(after(250, 349), 1.0);
    assert_eq!(after(250, 351), 2.0);
    assert_eq!(after(250, 10_000), 8.0, "to zero");
}

/// While the link is busy, or the queue is empty with a packet in transmission, the drop probability is constant.
#[test]
fn constant_while_busy() {
    let mut bench = overflowing(BlueParameters::default(), 102);
    for _ in 0..5 {
        bench.dequeue(at(110));
    }
    // The link has taken the last packet and not requested another.
    bench.enqueue(at(10_000), packet(1500, 0));
    assert_eq!(bench.queue.drop_probability(), 0.0025);
}

/// Law pie-track applies to BLUE as to any discipline with one drop probability: under an unresponsive load rho it
/// settles at 1 - 1/rho, within two steps up. Losses and idle times are rare there, as its authors claim.
#[test]
fn steady_state() {
    for rho in [1.1, 1.5, 2.0] {
        let parameters = BlueParameters::default();
        let tolerance = 2.0 * parameters.increment;
        let mut bench = Bench::new(Blue::new(Limit::Packets(200), parameters), 1);
        let mut source = Random::stream(1, Purpose::Source, 0);
        let mean = Duration::from_seconds_f64(TRANSMISSION.seconds() / rho);
        let spacing = |time: &Time| Some(*time + source.exponential(mean));
        let arrivals = std::iter::successors(Some(Time::ZERO), spacing).map(|time| (time, packet(1500, 0)));
        let warm_up = Time::ZERO + Duration::from_seconds(100);
        let end = Time::ZERO + Duration::from_seconds(200);
        let (mut sum, mut events, mut sent, mut lost) = (0.0, 0.0, 0.0, 0.0);
        drive(&mut bench, TRANSMISSION, arrivals, end, |now, event, queue| {
            if now >= warm_up {
                sum += queue.drop_probability();
                events += 1.0;
                match event {
                    Event::Sent(_) => sent += 1.0,
                    Event::Dropped(DropCause::Overflow) => lost += 1.0,
                    _ => {}
                }
            }
        });
        let (probability, law) = (sum / events, 1.0 - 1.0 / rho);
        assert!((probability - law).abs() < tolerance, "load {rho}: p {probability}, by the law {law}");
        let utilisation = sent * TRANSMISSION.seconds() / 100.0;
        assert!(utilisation > 0.99, "load {rho}: utilisation {utilisation}");
        assert!(lost / sent < 0.01, "load {rho}: {lost} lost to the limit of {sent} sent");
    }
}

/// With ECN, ECN-capable packets are marked instead of dropped early. The limit still drops.
#[test]
fn marks() {
    let fates = |ecn, ecn_flag: u8| {
        let parameters = BlueParameters { increment: 1.0, decrement: 0.0, ecn, ..BlueParameters::default() };
        let mut bench = overflowing(parameters, 102);
        bench.outcome.dropped.clear();
        bench.dequeue(at(102));
        bench.enqueue(at(102), packet(1500, ecn_flag));
        bench.enqueue(at(102), packet(1500, ecn_flag));
        (bench.outcome.marks, bench.drops(DropCause::Early), bench.drops(DropCause::Overflow))
    };
    assert_eq!(fates(true, flags::ECT_0), (1, 0, 1));
    assert_eq!(fates(true, 0), (0, 2, 0));
    assert_eq!(fates(false, flags::ECT_0), (0, 2, 0));
}
