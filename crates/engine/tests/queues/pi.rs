//! The PI controller: Hollot, Misra, Towsley and Gong 2001.

use serde_json::json;
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, Pi, PiParameters, QueueDiscipline};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, UNLIMITED, drive, packet};

/// p(k) = p(k-1) + a (q(k) - q_ref) - b (q(k-1) - q_ref), calculated by hand with a = 1.822e-5, b = 1.816e-5 and q_ref
/// = 50: a queue of 100 that arrives at once adds 50 a + 50 b, each update while it stays 50 (a - b), and so on down to
/// zero.
#[test]
fn equation() {
    let mut bench = Bench::new(Pi::new(UNLIMITED, PiParameters::default()), 1);
    assert_eq!(bench.queue.timer_interval(), Some(Duration(5_882_352_941)));
    let rows = [(100, 1.819e-3), (100, 1.822e-3), (20, 3.674e-4), (0, 1.2e-6), (0, 0.0), (50, 9.08e-4), (50, 9.08e-4)];
    for (index, (length, probability)) in rows.into_iter().enumerate() {
        while bench.queue.packets() < length {
            bench.enqueue(Time::ZERO, packet(1500, 0));
        }
        while bench.queue.packets() > length {
            bench.dequeue(Time::ZERO);
        }
        bench.queue.on_timer(Time::ZERO);
        let got = bench.queue.drop_probability();
        assert!((got - probability).abs() < 1e-12, "update {index}: {got} and {probability}");
    }
}

/// Law pie-track: under an unresponsive load rho the drop probability tends to 1 - 1/rho and the queue to its
/// reference, for any load: the steady-state error of an integral controller is zero (Hollot et al.). The gains are a
/// hundred times those of the paper's link, since without a round trip they need not be low.
#[test]
fn queue_reference() {
    let transmission = Duration::from_microseconds(120);
    let parameters: PiParameters =
        serde_json::from_value(json!({"a": 0.001822, "b": 0.001816, "reference": 200.0})).unwrap();
    for rho in [1.1, 1.2, 1.5, 2.0] {
        let mut bench = Bench::new(Pi::new(UNLIMITED, parameters.clone()), 1);
        let mut source = Random::stream(1, Purpose::Source, 0);
        let mean = Duration::from_seconds_f64(transmission.seconds() / rho);
        let arrivals = std::iter::successors(Some(Time::ZERO), |time| Some(*time + source.exponential(mean)));
        let warm_up = Time::ZERO + Duration::from_seconds(30);
        let end = Time::ZERO + Duration::from_seconds(90);
        let (mut probability, mut length, mut updates) = (0.0, 0.0, 0.0);
        drive(&mut bench, transmission, arrivals.map(|time| (time, packet(1500, 0))), end, |now, event, queue| {
            if matches!(event, Event::Timer) && now >= warm_up {
                probability += queue.drop_probability();
                length += queue.packets() as f64;
                updates += 1.0;
            }
        });
        let (probability, length, law) = (probability / updates, length / updates, 1.0 - 1.0 / rho);
        assert!((probability / law - 1.0).abs() < 0.02, "load {rho}: p {probability}, by the law {law}");
        assert!((length / 200.0 - 1.0).abs() < 0.05, "load {rho}: {length} packets");
    }
}

/// With ECN, ECN-capable packets are marked instead of dropped.
#[test]
fn marks() {
    let fates = |ecn: bool, ecn_flag: u8| {
        let parameters: PiParameters = serde_json::from_value(json!({"a": 1.0, "reference": 0, "ecn": ecn})).unwrap();
        let mut bench = Bench::new(Pi::new(UNLIMITED, parameters), 1);
        bench.enqueue(Time::ZERO, packet(1500, 0));
        bench.queue.on_timer(Time::ZERO);
        assert_eq!(bench.queue.drop_probability(), 1.0);
        bench.enqueue(Time::ZERO, packet(1500, ecn_flag));
        (bench.outcome.marks, bench.drops(DropCause::Early))
    };
    assert_eq!(fates(true, flags::ECT_0), (1, 0));
    assert_eq!(fates(true, 0), (0, 1));
    assert_eq!(fates(false, flags::ECT_0), (0, 1));
}
