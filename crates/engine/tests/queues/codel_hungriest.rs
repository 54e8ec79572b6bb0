//! CoDel that drops from the hungriest connection, configured or estimated: Hanai, Yamaguchi and Kobayashi 2016.

use std::sync::Arc;

use sojourn_engine::numbers::FlowGroup;
use sojourn_engine::packet::{Packet, flags};
use sojourn_engine::queue::{
    CoDelDynamic, CoDelDynamicParameters, CoDelParameters, CoDelStatic, CoDelStaticParameters, ConnectionKind,
    DropCause, FlowTable, GuessParameters, Limit, QueueDiscipline,
};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, UNLIMITED, constant, count, data, milliseconds, number, packet, rows, vector};

/// Two flows of group "big" between one pair of hosts and two of group "small" between another.
fn flows() -> Arc<FlowTable> {
    let group = |name: &str, from| FlowGroup { count: 2, from, to: 9, name: name.to_owned(), ..FlowGroup::default() };
    Arc::new(FlowTable::new(&[group("big", 0), group("small", 1)]))
}

fn told(hungriest: &str, parameters: CoDelStaticParameters) -> CoDelStatic {
    let mut queue =
        CoDelStatic::new(UNLIMITED, CoDelStaticParameters { hungriest: hungriest.to_owned(), ..parameters });
    queue.set_flows(&flows()).unwrap();
    queue
}

fn of(flow: u32, packet: Packet) -> Packet {
    Packet { flow, ..packet }
}

/// If all packets are of the hungriest, it is CoDel: the worked example, with drops and with marks.
#[test]
fn codel_for_hungriest() {
    for (id, ecn) in [("codel-basic_drop-1", false), ("codel-basic_mark-2", true)] {
        let row = vector(id);
        let (inputs, expected) = (&row["inputs"], &row["expected"]);
        let parameters = CoDelStaticParameters {
            codel: CoDelParameters {
                target: milliseconds(&inputs["target_ms"]),
                interval: milliseconds(&inputs["interval_ms"]),
                ecn,
                ..CoDelParameters::default()
            },
            ..CoDelStaticParameters::default()
        };
        let mut bench = Bench::new(told("big", parameters), 1);
        for index in 0..count(&inputs["packets"]) {
            bench.enqueue(Time::ZERO, of(index as u32 % 2, packet(1000, flags::ECT_0)));
        }
        for (index, instant) in rows(&inputs["dequeue_t_ms"]).iter().enumerate() {
            assert!(bench.dequeue(Time::ZERO + milliseconds(instant)).is_some());
            assert_eq!(bench.queue.packets(), count(&expected["queue_after"][index]), "{id} at {instant} ms");
            let seen = if ecn { bench.outcome.marks } else { bench.drops(DropCause::Early) };
            let published = if ecn { &expected["marks_after"] } else { &expected["drops_after"] };
            assert_eq!(seen, count(&published[index]), "{id} at {instant} ms");
        }
    }
}

/// Times of drops or marks, since the time at which CoDel's first drop is due, under unresponsive overload of 2 at 100
/// Mbit/s. The first drop is due one interval after a packet leaves with a sojourn time of 5 ms, at 10 ms.
fn drop_times<Q: QueueDiscipline>(queue: Q, flow_of: impl Fn(u64) -> u32, flag: u8) -> Vec<(f64, u32)> {
    let end = Time::ZERO + Duration::from_seconds(2);
    let arrivals = constant(Time::ZERO, end, Duration::from_microseconds(60));
    let arrivals = (0..).zip(arrivals).map(|(index, (time, _))| (time, of(flow_of(index), packet(1500, flag))));
    let mut bench = Bench::new(queue, 1);
    let mut times = Vec::new();
    let mut free_at = Time::ZERO;
    for (time, packet) in arrivals {
        while free_at <= time && bench.queue.packets() > 0 {
            let sent = bench.dequeue(free_at).unwrap();
            let since = |time: Time| time.seconds() - 0.110;
            times.extend(bench.outcome.dropped.drain(..).map(|dropped| (since(free_at), dropped.packet.flow)));
            if std::mem::take(&mut bench.outcome.marks) > 0 {
                assert!(sent.packet.is_marked());
                times.push((since(free_at), sent.packet.flow));
            }
            free_at += Duration::from_microseconds(120);
        }
        bench.enqueue(time, packet);
        free_at = free_at.max(time);
    }
    times
}

/// Sections II.H and IV.B: one in three of CoDel's drops is made if the packet is of another connection. CoDel's drop
/// times (RFC 8289 section 5.6) do not depend on whether the drop is made.
#[test]
fn drops_of_others() {
    let data = data();
    for flag in [0, flags::ECT_0] {
        let parameters = CoDelStaticParameters {
            codel: CoDelParameters { ecn: true, ..CoDelParameters::default() },
            ..CoDelStaticParameters::default()
        };
        let times = drop_times(told("big", parameters), |_| 2, flag);
        let published = rows(&data["rfc8289-codel"]["drop_times_ms_from_first"]);
        for (time, published) in times.iter().zip(published.iter().skip(2).step_by(3)) {
            let late = time.0 - number(published) / 1e3;
            // The first drop is up to 360 us late, and each drop waits for a request of the link, every 120 us.
            assert!((0.0..=480e-6).contains(&late), "drop due at {published} ms is {late} s late");
        }
        assert!(times.len() >= published.len() / 3);
    }
}

/// The probability for others is the share of their drops that are made. At 1 all are, which is CoDel.
#[test]
fn probability_parameter() {
    let made = |probability| {
        let parameters = CoDelStaticParameters { others_drop_probability: probability, ..Default::default() };
        drop_times(told("big", parameters), |_| 2, 0).len() as f64
    };
    let all = made(1.0);
    assert!(all > 50.0, "{all} drops");
    for probability in [0.0, 0.1, 0.25, 0.5] {
        assert!((made(probability) - probability * all).abs() <= 1.0, "{} of {all}", made(probability));
    }
}

/// If both send equally, three in four drops are from the hungriest. Named or guessed, by hosts or by flows, it is the
/// same connection. Before the first guess there is no hungriest.
#[test]
fn drops_of_hungriest() {
    let dynamic = |connection| {
        let mut queue = CoDelDynamic::new(
            UNLIMITED,
            CoDelDynamicParameters {
                guess: GuessParameters { connection, ..Default::default() },
                ..Default::default()
            },
        );
        queue.set_flows(&flows()).unwrap();
        queue
    };
    // Of 25 packets, 9 are of flow 0, 8 of flow 2 and 8 of flow 3: "small" is the hungriest by hosts, flow 0 by flows.
    let flow_of = |index: u64| [0, 2, 3][(index % 25 % 3) as usize];
    let of_small = |times: Vec<(f64, u32)>| {
        let (small, all) = (times.iter().filter(|(_, flow)| *flow > 1).count(), times.len());
        assert!(all > 30, "{all} drops");
        small as f64 / all as f64
    };
    // 16/25 of CoDel's drops select packets of "small". All of these and a third of 9/25 are carried out, or vice
    // versa.
    let (if_small, if_big) = (16.0 / (16.0 + 3.0), 16.0 / 3.0 / (16.0 / 3.0 + 9.0));
    for (shares, expected) in [
        (of_small(drop_times(told("small", CoDelStaticParameters::default()), flow_of, 0)), if_small),
        (of_small(drop_times(told("big", CoDelStaticParameters::default()), flow_of, 0)), if_big),
        (of_small(drop_times(dynamic(ConnectionKind::Hosts), flow_of, 0)), if_small),
        (of_small(drop_times(dynamic(ConnectionKind::Flow), flow_of, 0)), if_big),
    ] {
        // CoDel's drop times are not random, so the spread is less than that of a binomial with 60 drops, 0.05.
        assert!((shares - expected).abs() < 0.1, "{shares} of the drops, {expected} by the rule");
    }
}

/// Overflows are dropped and do not count as CoDel's drops, but count for the guess.
#[test]
fn overflow() {
    let parameters = CoDelDynamicParameters {
        guess: GuessParameters { record_interval: 1, statistics_interval: 1, ..Default::default() },
        ..Default::default()
    };
    let mut bench = Bench::new(CoDelDynamic::new(Limit::Packets(1), parameters), 1);
    for flow in [0, 1, 1] {
        bench.enqueue(Time::ZERO, of(flow, packet(1500, 0)));
    }
    assert_eq!((bench.queue.packets(), bench.drops(DropCause::Overflow)), (1, 2));
}

/// An unknown or empty group name is an error of one line that lists the groups.
#[test]
fn unknown_group() {
    for name in ["", "huge"] {
        let parameters = CoDelStaticParameters { hungriest: name.to_owned(), ..CoDelStaticParameters::default() };
        let error = CoDelStatic::new(UNLIMITED, parameters).set_flows(&flows()).unwrap_err();
        assert!(error.starts_with("hungriest") && error.contains("big, small"), "{error}");
    }
}
