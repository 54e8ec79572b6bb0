//! CoDel: RFC 8289 and results of ns-3's tests.

use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{CoDel, CoDelParameters, CoDelRules, DropCause, Limit, QueueDiscipline};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Bytes;

use super::bench::{
    Bench, Event, TRANSMISSION, UNLIMITED, constant, count, data, drive, milliseconds, number, packet, rows, seconds,
    vector,
};

/// CoDel's drop times (RFC 8289 section 5.5): none before the sojourn time was above the target for an interval, then
/// one, then the two that are due.
#[test]
fn worked_example_drops() {
    let row = vector("codel-basic_drop-1");
    let (inputs, expected) = (&row["inputs"], &row["expected"]);
    let parameters = CoDelParameters {
        target: milliseconds(&inputs["target_ms"]),
        interval: milliseconds(&inputs["interval_ms"]),
        ..CoDelParameters::default()
    };
    let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
    for _ in 0..count(&inputs["packets"]) {
        bench.enqueue(Time::ZERO, packet(count(&inputs["packet_bytes"]) as u16, 0));
    }
    for (index, instant) in rows(&inputs["dequeue_t_ms"]).iter().enumerate() {
        assert!(bench.dequeue(Time::ZERO + milliseconds(instant)).is_some());
        assert_eq!(bench.queue.packets(), count(&expected["queue_after"][index]), "queue at {instant} ms");
        assert_eq!(bench.drops(DropCause::Early), count(&expected["drops_after"][index]), "drops at {instant} ms");
    }
}

/// With ECN the packets that would be dropped are marked and sent, and no others are dropped instead. A packet that is
/// not ECN-capable is dropped.
#[test]
fn worked_example_marks() {
    let row = vector("codel-basic_mark-2");
    let (inputs, expected) = (&row["inputs"], &row["expected"]);
    let run = |ecn, ecn_flag: u8| {
        let parameters = CoDelParameters {
            target: milliseconds(&inputs["target_ms"]),
            interval: milliseconds(&inputs["interval_ms"]),
            ecn,
            ..CoDelParameters::default()
        };
        let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
        for _ in 0..count(&inputs["packets"]) {
            bench.enqueue(Time::ZERO, packet(1000, ecn_flag));
        }
        let mut seen = Vec::new();
        let mut carried = 0;
        for instant in rows(&inputs["dequeue_t_ms"]) {
            let sent = bench.dequeue(Time::ZERO + milliseconds(instant)).unwrap().packet;
            carried += u64::from(sent.is_marked());
            assert_eq!(carried, bench.outcome.marks, "marks counted are marks sent");
            seen.push((bench.queue.packets(), bench.drops(DropCause::Early), bench.outcome.marks));
        }
        seen
    };
    for (index, seen) in run(true, flags::ECT_0).into_iter().enumerate() {
        let figure = |name: &str| count(&expected[name][index]);
        assert_eq!(seen, (figure("queue_after"), figure("drops"), figure("marks_after")), "dequeue {index}");
    }
    assert_eq!(run(true, 0).last(), Some(&(13, 3, 0)), "not ECN-capable: as without ECN");
    assert_eq!(run(false, flags::ECT_0).last(), Some(&(13, 3, 0)), "ECN off");
}

/// With a mark threshold each ECN-capable packet that waited for longer is marked, once, and no other packet.
#[test]
fn mark_threshold() {
    for id in ["codel-ce_threshold-3", "codel-ce_threshold-4"] {
        let row = vector(id);
        let (inputs, expected) = (&row["inputs"], &row["expected"]);
        let parameters = CoDelParameters {
            target: milliseconds(&inputs["target_ms"]),
            interval: milliseconds(&inputs["interval_ms"]),
            ecn: true,
            ce_threshold: milliseconds(&inputs["ce_threshold_ms"]),
            ..CoDelParameters::default()
        };
        let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
        for index in 0..count(&inputs["packets"]) {
            let capable = index < count(&inputs["ecn_capable"]);
            bench.enqueue(Time::ZERO, packet(1000, if capable { flags::ECT_0 } else { 0 }));
        }
        for (index, instant) in rows(&inputs["dequeue_t_ms"]).iter().enumerate() {
            assert!(bench.dequeue(Time::ZERO + milliseconds(instant)).is_some());
            let figure = |name: &str| count(&expected[name][index]);
            let seen = (bench.queue.packets(), bench.drops(DropCause::Early), bench.outcome.marks);
            assert_eq!(seen, (figure("queue_after"), figure("drops"), figure("marks_after")), "{id} at {instant} ms");
        }
    }
}

/// Linux, include/net/codel_impl.h: a packet is marked if it waited for longer than the threshold, not for exactly as
/// long, with `ecn` on or off. A packet that arrives marked is not marked again.
#[test]
fn mark_threshold_bound() {
    for ecn in [false, true] {
        let parameters =
            CoDelParameters { ce_threshold: Duration::from_milliseconds(1), ecn, ..CoDelParameters::default() };
        let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
        for flag in [flags::ECT_0, flags::ECT_1, 0, flags::CONGESTION_EXPERIENCED] {
            bench.enqueue(Time::ZERO, packet(1000, flag));
        }
        let mut marked_at = |microseconds: u64| {
            let sent = bench.dequeue(Time::ZERO + Duration::from_microseconds(microseconds)).unwrap();
            (sent.packet.is_marked(), bench.outcome.marks)
        };
        assert_eq!(marked_at(1_000), (false, 0));
        assert_eq!(marked_at(1_001), (true, 1));
        assert_eq!(marked_at(1_001), (false, 1));
        assert_eq!(marked_at(1_001), (true, 1));
    }
}

/// RFC 8289 section 5.6: a sojourn time equal to the target counts as above it, and the interval ends at its last
/// instant.
#[test]
fn target_and_interval_bounds() {
    let drops_at = |above_us: u64, drop_us: u64| {
        let mut bench = Bench::new(CoDel::new(UNLIMITED, CoDelParameters::default()), 1);
        for _ in 0..10 {
            bench.enqueue(Time::ZERO, packet(1500, 0));
        }
        bench.dequeue(Time::ZERO + Duration::from_microseconds(above_us));
        bench.dequeue(Time::ZERO + Duration::from_microseconds(drop_us));
        bench.drops(DropCause::Early)
    };
    assert_eq!(drops_at(5_000, 105_000), 1);
    assert_eq!(drops_at(5_000, 104_999), 0);
    assert_eq!(drops_at(4_999, 105_000), 0);
}

/// Arrivals at a full buffer are dropped as overflow.
#[test]
fn overflow() {
    let row = vector("codel-overflow-3");
    let limit = Limit::Packets(count(&row["inputs"]["limit_packets"]));
    let mut bench = Bench::new(CoDel::new(limit, CoDelParameters::default()), 1);
    for _ in 0..count(&row["inputs"]["arrivals"]) {
        bench.enqueue(Time::ZERO, packet(1500, 0));
    }
    assert_eq!(bench.queue.packets(), count(&row["expected"]["queue"]));
    assert_eq!(bench.drops(DropCause::Overflow), count(&row["expected"]["drops"]));
}

/// The control law (RFC 8289 section 5.6) gives both tables of offsets, and applied repeatedly the table of drop times.
#[test]
fn control_law() {
    let data = data();
    let parameters = CoDelParameters::default();
    let start = Time(7_000_000_000_001);
    let offset_ms = |count| parameters.control_law(start, count).since(start).seconds() * 1e3;
    for row in rows(&data["rfc8289-codel"]["worked"]) {
        let (got, published) = (offset_ms(count(&row["count"])), number(&row["offset_ms"]));
        assert!((got - published).abs() <= 0.5e-4, "{row}: {got}");
    }
    let mut control_law_rows = 0;
    for row in rows(&data["vectors"]).iter().filter(|row| row["function"] == "control_law") {
        let (got, published) =
            (offset_ms(count(&row["inputs"]["count"])), number(&row["expected"]["next_drop_offset_ms"]));
        assert!((got - published).abs() <= 0.5e-6, "{row}: {got}");
        control_law_rows += 1;
    }
    assert_eq!(control_law_rows, 6);
    let mut time = Time::ZERO;
    for (index, published) in rows(&data["rfc8289-codel"]["drop_times_ms_from_first"]).iter().enumerate() {
        assert!((time.seconds() * 1e3 - number(published)).abs() <= 0.5e-3 + 1e-9, "{published} ms: {time:?}");
        time = parameters.control_law(time, index as u64 + 1);
    }
}

/// Times of early drops or marks with these arrivals.
fn codel_drop_times(arrivals: impl Iterator<Item = (Time, Packet)>, transmission: Duration, end: Time) -> Vec<Time> {
    let parameters = CoDelParameters { ecn: true, ..CoDelParameters::default() };
    let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
    let mut drops = Vec::new();
    drive(&mut bench, transmission, arrivals, end, |now, event, _| match event {
        Event::Dropped(DropCause::Early) | Event::Marked => drops.push(now),
        Event::Dropped(DropCause::Overflow) | Event::Timer => unreachable!("no limit, no timer"),
        Event::Sent(_) => {}
    });
    drops
}

/// Law codel-law: under unresponsive overload of 2 the n-th drop, or mark, is at t1 + I * (sum of 1/sqrt(k), k < n).
#[test]
fn unresponsive_overload() {
    let data = data();
    // 100 Mbit/s: a drop occurs when the link requests a packet, so the transmission time is the resolution.
    let transmission = Duration::from_microseconds(120);
    let end = Time::ZERO + Duration::from_seconds(6);
    for ecn_flag in [0, flags::ECT_0] {
        let arrivals = constant(Time::ZERO, end, Duration::from_microseconds(60));
        let drops = codel_drop_times(arrivals.map(|(time, _)| (time, packet(1500, ecn_flag))), transmission, end);
        let first = drops[0];
        // The target is exceeded when a packet leaves after 5 ms, at twice that time. The first drop is one interval
        // later.
        let late = first.seconds() - 0.110;
        assert!((0.0..360e-6).contains(&late), "first drop {late} s late");
        for (index, published) in rows(&data["rfc8289-codel"]["drop_times_ms_from_first"]).iter().enumerate() {
            let late = drops[index].since(first).seconds() - number(published) / 1e3;
            assert!((-1e-6..=120e-6).contains(&late), "drop {index} is {late} s late");
        }
        for row in rows(&data["laws"]["codel-law"]["worked"]) {
            let until = first + seconds(&row["t_s"]);
            let dropped = drops.iter().filter(|time| **time <= until).count() as u64;
            assert!(dropped.abs_diff(count(&row["drops"])) <= 1, "{row}: {dropped}");
        }
    }
}

/// RFC 8289 section 5.5: a dropping state that begins within 16 intervals of the last one resumes with the number of
/// drops that the last one added (`count - lastcount`). A later one starts with one.
#[test]
fn resumed_drop_rate() {
    let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
    // Bursts with a load of 1.25. The queue is empty well before the next burst.
    let drops_of_bursts = |first: u64, third: u64| {
        let bursts = [(at(0), at(first)), (at(1_000), at(1_500)), (at(third), at(third + 500))];
        let spacing = Duration::from_microseconds(960);
        let arrivals = bursts.into_iter().flat_map(move |(start, end)| constant(start, end, spacing));
        let drops = codel_drop_times(arrivals, TRANSMISSION, at(third + 1_000));
        let within = |start, end| drops.iter().copied().filter(|drop| (start..end).contains(drop)).collect::<Vec<_>>();
        [within(at(0), at(1_000)), within(at(1_000), at(third)), within(at(third), Time::NEVER)]
    };
    let starts_at_count = |burst: &[Time], count: usize| {
        let gap = burst[1].since(burst[0]).seconds();
        let late = gap - 0.1 / (count as f64).sqrt();
        assert!((-1e-9..=1200e-6).contains(&late), "a gap of {gap} s for count {count}");
    };

    // The last drop of the second burst was due at most 0.1 s after its end. The first of the third is 0.13 s after its
    // start.
    let [first, second, third] = drops_of_bursts(600, 2_900);
    assert!(first.len() > 3 && second.len() > 3, "{} and {} drops", first.len(), second.len());
    assert_ne!(first.len(), second.len(), "so that count and count - lastcount differ");
    starts_at_count(&first, 1);
    starts_at_count(&second, first.len() - 1);
    starts_at_count(&third, second.len() - 1);

    let [_, _, late] = drops_of_bursts(600, 3_200);
    starts_at_count(&late, 1);

    // At least two more drops are needed to resume.
    let [first, second, _] = drops_of_bursts(260, 2_900);
    assert_eq!(first.len(), 3);
    starts_at_count(&second, 2);
}

/// RFC 8289 section 5.6: a single packet below the target restarts the interval, so bursts shorter than the interval
/// lose nothing.
#[test]
fn short_bursts() {
    let drops = |burst: u64| {
        let bursts = (0..100).map(move |index| Time::ZERO + Duration::from_milliseconds(300 * index));
        // The packets of a burst arrive at once, so the queue is above the target for the burst's transmission time
        // less 5 ms.
        let arrivals = bursts.flat_map(move |start| (0..burst).map(move |_| (start, packet(1500, 0))));
        codel_drop_times(arrivals, TRANSMISSION, Time::ZERO + Duration::from_seconds(31)).len()
    };
    assert_eq!(drops(85), 0, "102 ms");
    assert!(drops(95) >= 100, "114 ms: {}", drops(95));
}

/// RFC 8289 section 5.6: no drop if at most one MTU remains queued, however long packets wait.
#[test]
fn last_mtu() {
    let drops = |mtu| {
        let parameters = CoDelParameters { mtu: Bytes(mtu), ..CoDelParameters::default() };
        let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
        // A packet leaves every 240 ms after a sojourn time of 360 ms, and one remains.
        for step in 0..100 {
            let now = Time::ZERO + Duration::from_milliseconds(240 * step);
            bench.enqueue(now, packet(1500, 0));
            if step > 0 {
                bench.dequeue(now + Duration::from_milliseconds(120));
            }
        }
        bench.drops(DropCause::Early)
    };
    assert_eq!(drops(1500), 0);
    assert!(drops(1499) > 0, "an MTU of a byte less lets it drop");
}

/// Linux takes one Newton step for each count (include/net/codel_impl.h, codel_Newton_step): from 1, 1/2, 9/16 and 125/256 of an
/// interval for counts of 1 to 4, by hand. The control law has 1, 1/sqrt 2, 1/sqrt 3 and 1/2.
#[test]
fn spacing_by_newton_steps() {
    for (rules, shares) in [
        ("linux", [1.0, 0.5, 0.5625, 0.488_037]),
        ("published", [1.0, std::f64::consts::FRAC_1_SQRT_2, 0.577_350, 0.5]),
    ] {
        let parameters = serde_json::from_value(serde_json::json!({"rules": rules})).unwrap();
        let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
        (0..10_000).for_each(|_| bench.enqueue(Time::ZERO, packet(1500, 0)));
        let mut drops = Vec::new();
        for tick in 100..8_000 {
            let before = bench.drops(DropCause::Early);
            let now = Time::ZERO + Duration::from_microseconds(100 * tick);
            bench.dequeue(now);
            drops.extend((before..bench.drops(DropCause::Early)).map(|_| now));
        }
        for (pair, share) in drops.windows(2).zip(shares) {
            let spacing = pair[1].since(pair[0]).seconds();
            assert!((spacing - 0.1 * share).abs() <= 0.000_2, "{rules}: {spacing} s, expected {share} of 0.1 s");
        }
    }
}

/// Nichols and Jacobson's queue/codel.cc for ns-2, dodeque and deque, by hand. Packets of two bursts leave one a millisecond. The first
/// is dropped from an interval after the target, at 105 ms, then every 100 / sqrt(count) ms, four in all. The second comes soon
/// after: its first drop is due 100 / sqrt(4) ms after the target, at 455 ms, and the next by a count of two.
#[test]
fn ns2_resumes_soon() {
    let parameters = CoDelParameters { rules: CoDelRules::Ns2, ..CoDelParameters::default() };
    let mut bench = Bench::new(CoDel::new(UNLIMITED, parameters), 1);
    let at = |milliseconds| Time::ZERO + Duration::from_milliseconds(milliseconds);
    (0..344).for_each(|_| bench.enqueue(at(0), packet(1500, 0)));
    let mut dropped = Vec::new();
    for now in 1..=600 {
        if now == 400 {
            (0..1000).for_each(|_| bench.enqueue(at(now), packet(1500, 0)));
        }
        let before = bench.drops(DropCause::Early);
        bench.dequeue(at(now));
        dropped.extend((before..bench.drops(DropCause::Early)).map(|_| now));
    }
    assert_eq!(dropped, [105, 205, 276, 334, 455, 526, 584]);
}
