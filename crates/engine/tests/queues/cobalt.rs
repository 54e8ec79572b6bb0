//! COBALT: results of ns-3's tests, and the steps of BLUE.

use sojourn_engine::packet::flags;
use sojourn_engine::queue::{Cobalt, CobaltParameters, DropCause, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};

use super::bench::{
    Bench, Event, TRANSMISSION, UNLIMITED, constant, count, drive, milliseconds, number, packet, rows, vector,
};

/// BLUE's drop probability rises by a step with each packet that waited for longer than the threshold.
#[test]
fn probability_of_ns3() {
    let row = vector("cobalt-blue_pdrop-1");
    let inputs = &row["inputs"];
    let after = |blue_threshold: Duration| {
        let parameters = CobaltParameters { blue_threshold, ecn: true, ..CobaltParameters::default() };
        let mut bench = Bench::new(Cobalt::new(UNLIMITED, parameters), 1);
        for _ in 0..count(&inputs["packets"]) {
            bench.enqueue(Time::ZERO, packet(1500, flags::ECT_0));
        }
        for step in 1..=count(&inputs["dequeues"]) {
            let now = Time::ZERO + milliseconds(&inputs["dequeue_every_ms"]) * step;
            assert!(bench.dequeue(now).is_some());
        }
        (bench.queue.drop_probability(), bench.drops(DropCause::Early))
    };
    let (probability, drops) = after(milliseconds(&inputs["blue_threshold_ms"]));
    assert_eq!(probability, number(&row["expected"]["p_drop"]));
    assert_eq!(probability, count(&row["expected"]["steps"]) as f64 * number(&inputs["increment"]));
    assert!(drops > 0, "BLUE drops what could be marked");
    assert_eq!(after(Duration::ZERO), (0.0, 0), "without a threshold all is marked");
}

/// Law blue-step: a step of 1/256 up when the buffer is full and of 1/4096 down when the queue is empty, each at least
/// one target after the previous step.
#[test]
fn blue_steps() {
    let mut bench = Bench::new(Cobalt::new(Limit::Packets(1), CobaltParameters::default()), 1);
    let at = |milliseconds: u64| Time::ZERO + Duration::from_milliseconds(milliseconds);
    bench.enqueue(at(9), packet(1500, 0));
    for (time, steps) in [(10, 1.0), (14, 1.0), (15, 1.0), (16, 2.0), (22, 3.0)] {
        bench.enqueue(at(time), packet(1500, 0));
        assert_eq!(bench.queue.drop_probability(), steps / 256.0, "full at {time} ms");
    }
    assert!(bench.dequeue(at(23)).is_some(), "the last packet is sent, whatever the probability");
    for (time, steps) in [(24, 0.0), (27, 0.0), (28, 1.0), (30, 1.0), (34, 2.0)] {
        assert!(bench.dequeue(at(time)).is_none());
        assert_eq!(bench.queue.drop_probability(), 3.0 / 256.0 - steps / 4096.0, "empty at {time} ms");
    }
    for step in 0..100 {
        bench.dequeue(at(100 + 10 * step));
    }
    assert_eq!(bench.queue.drop_probability(), 0.0);
}

/// Marks are at CoDel's times. A packet that is not ECN-capable is dropped instead of marked.
#[test]
fn codel_marks_of_ns3() {
    let row = vector("cobalt-mark-2");
    let (inputs, expected) = (&row["inputs"], &row["expected"]);
    let run = |ecn_flag: u8| {
        let parameters = CobaltParameters { ecn: true, blue_threshold: Duration::ZERO, ..CobaltParameters::default() };
        let mut bench = Bench::new(Cobalt::new(UNLIMITED, parameters), 1);
        for _ in 0..count(&inputs["packets"]) {
            bench.enqueue(Time::ZERO, packet(1000, ecn_flag));
        }
        let mut seen = Vec::new();
        for instant in rows(&inputs["dequeue_t_ms"]) {
            assert!(bench.dequeue(Time::ZERO + milliseconds(instant)).is_some());
            seen.push((bench.queue.packets(), bench.outcome.marks, bench.drops(DropCause::Early)));
        }
        seen
    };
    for (index, (queued, marks, drops)) in run(flags::ECT_0).into_iter().enumerate() {
        let figure = |name: &str| count(&expected[name][index]);
        assert_eq!((queued, marks, drops), (figure("queue_after"), figure("marks_after"), 0), "dequeue {index}");
    }
    let (_, marks, drops) = run(0).pop().unwrap();
    assert!(marks == 0 && drops >= 3, "{drops} drops");
}

/// The purpose of BLUE: an unresponsive load of twice the link's rate. BLUE drops half of it and keeps the queue near
/// its threshold, while with CoDel alone it grows for a long time.
#[test]
fn unresponsive_load() {
    let longest = |blue_threshold: Duration| {
        let parameters = CobaltParameters { blue_threshold, ..CobaltParameters::default() };
        let mut bench = Bench::new(Cobalt::new(UNLIMITED, parameters), 1);
        let end = Time::ZERO + Duration::from_seconds(10);
        let arrivals = constant(Time::ZERO, end, Duration(TRANSMISSION.0 / 2));
        let mut longest = Duration::ZERO;
        drive(&mut bench, TRANSMISSION, arrivals, end, |now, event, _| {
            if let Event::Sent(waited) = event
                && now > Time::ZERO + Duration::from_seconds(5)
            {
                longest = longest.max(waited);
            }
        });
        longest
    };
    let (with, without) = (longest(Duration::from_milliseconds(400)), longest(Duration::ZERO));
    assert!(with < Duration::from_milliseconds(500), "{with:?}");
    assert!(without > Duration::from_seconds(2), "{without:?}");
}
