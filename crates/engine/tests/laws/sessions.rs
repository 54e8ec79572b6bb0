//! Laws of sessions: round trips counted by hand where nothing else takes time, and bytes conserved in both directions.

use std::sync::atomic::AtomicBool;

use serde_json::{Value, json};
use sojourn_engine::application::TransferKind;
use sojourn_engine::packet::flags;
use sojourn_engine::probe::End;
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::time::Time;

use crate::support::{MS, Path, S, acknowledge_every_segment, droptail, profiled, tcp};

const MSS: u64 = 1448;

fn of(application: Value) -> Value {
    let mut flow = tcp("newreno");
    flow["application"] = application;
    flow
}

fn exchanges(response: u64, count: u64, think: u64) -> Value {
    json!({"exchanges": {"request": {"fixed": 400}, "response": {"fixed": response}, "count": count, "think": think}})
}

fn page(objects: u64, size: u64, connections: u64, multiplexed: bool) -> Value {
    json!({"page": {
        "request": {"fixed": 400}, "first": {"fixed": 10 * MSS}, "objects": {"fixed": objects}, "size": {"fixed": size},
        "connections": connections, "multiplexed": multiplexed,
    }})
}

/// A path on which nothing but the round trip of 100 ms takes time: a packet takes 1.2 us.
fn idle(application: Value) -> Path {
    Path { flows: vec![of(application)], duration: 1000 * S, warm_up: 0, ..Path::new(10_000_000_000, 100 * MS) }
}

/// How many round trips everything of a kind took, in order of completion. What is left of a round trip is a part of one in a hundred.
fn round_trips(result: &RunResult, kind: TransferKind) -> Vec<u64> {
    let taken = result.transfers.iter().filter(|each| each.kind == kind);
    taken
        .map(|each| {
            let round_trips = each.completed.since(each.start).seconds() / 0.1;
            assert!((0.0..0.01).contains(&round_trips.fract()), "{round_trips} round trips");
            round_trips as u64
        })
        .collect()
}

/// A response of n segments takes as many round trips as slow start has windows until they have left: 10, 20, 40 and so on (RFC 6928,
/// RFC 5681 section 3.1), the first with the request. One segment more takes one more.
#[test]
fn response_without_load() {
    for (segments, law) in [(1, 1), (10, 1), (11, 2), (30, 2), (31, 3), (70, 3), (71, 4)] {
        let result = idle(exchanges(segments * MSS, 1, 0)).run();
        assert_eq!(round_trips(&result, TransferKind::Request), [law], "{segments} segments");
        assert_eq!(result.flows[0].total_bytes_delivered, segments * MSS);
    }
}

/// The window is kept between exchanges that follow one another at once, so that a response that took two round trips takes one; after
/// a pause longer than the retransmission timeout it is the initial window again, by RFC 5681 section 4.1 and in Linux.
#[test]
fn window_after_pause() {
    for (stack, name) in [(acknowledge_every_segment(), "rfc"), (profiled("linux-6", "newreno").stack, "linux-6")] {
        let stack = StackProfile { delayed_ack_count: 1, pacing: false, ..stack };
        for (think, law) in [(0, [2, 1, 1, 1]), (100 * S, [2, 2, 2, 2])] {
            let path = Path { stack: stack.clone(), ..idle(exchanges(30 * MSS, 4, think)) };
            assert_eq!(round_trips(&path.run(), TransferKind::Request), law, "{name}, {think}");
        }
    }
}

/// A page over k connections, of objects that fit into the initial window: a round trip for the handshake, one for the first object,
/// and then one for each object of the first connection, while each other opens for one. One connection for all sends what its window
/// allows: twenty segments, forty, eighty.
#[test]
fn page_without_load() {
    for (objects, connections, multiplexed, law) in [
        (1, 6, false, 3),
        (2, 6, false, 4),
        (6, 6, false, 4),
        (7, 6, false, 4),
        (8, 6, false, 5),
        (13, 6, false, 5),
        (14, 6, false, 6),
        (5, 1, false, 7),
        (2, 1, true, 3),
        (3, 1, true, 4),
        (6, 1, true, 4),
        (7, 1, true, 5),
        (14, 1, true, 5),
        (15, 1, true, 6),
    ] {
        let result = idle(page(objects, 10 * MSS, connections, multiplexed)).run();
        let what = format!("{objects} objects, {connections} connections, multiplexed {multiplexed}");
        if multiplexed {
            // Whatever shares the connection, it carries as much in full segments.
            for frame in [2 * MSS, 16_384] {
                let mut given = page(objects, 10 * MSS, connections, multiplexed);
                given["page"]["frame"] = json!(frame);
                assert_eq!(round_trips(&idle(given).run(), TransferKind::Page), [law], "{what}, frames of {frame}");
            }
        }
        assert_eq!(round_trips(&result, TransferKind::Page), [law], "{what}");
        let requests = round_trips(&result, TransferKind::Request);
        assert_eq!(requests.len() as u64, objects + 1, "{what}");
        assert!(multiplexed || requests.iter().all(|each| *each == 1), "{what}: {requests:?}");
        assert_eq!(result.flows[0].total_bytes_delivered, (objects + 1) * 10 * MSS, "{what}");
        let counts = result.flows[0].transfers.expect("a group of sessions has transfers");
        assert_eq!((counts.completed, counts.unfinished), (1, 0), "{what}");
    }
}

/// A page of eight objects, whose requests leave together in the initial window, over 10 Mbit/s and a short round trip, without losses.
fn crowded(frame: Option<u64>, size: Value) -> Path {
    let application = json!({"page": {
        "request": {"fixed": 50}, "first": {"fixed": 500}, "objects": {"fixed": 8}, "size": size, "connections": 1,
        "multiplexed": true, "frame": frame,
    }});
    let queue = droptail(10_000);
    Path { flows: vec![of(application)], queue, duration: 10 * S, warm_up: 0, ..Path::new(10_000_000, MS) }
}

/// Sizes of the objects of a page, and when they had arrived, in seconds after their requests.
fn objects(result: &RunResult) -> Vec<(f64, f64)> {
    let requests = result.transfers.iter().filter(|each| each.kind == TransferKind::Request);
    requests.skip(1).map(|each| (each.bytes as f64, each.completed.since(each.start).seconds())).collect()
}

fn page_load_time(result: &RunResult) -> f64 {
    let page = result.transfers.iter().find(|each| each.kind == TransferKind::Page).expect("a page");
    page.completed.since(page.start).seconds()
}

/// Responses that take turns share the connection as in processor sharing: an object of size s is complete when of each object, of size
/// x, min(x, s) has been sent, up to a frame of each. Only the first is ahead, by the initial window and a frame, which leave before the
/// second request has arrived. Responses in the order of requests are a FIFO: one is complete when all before it are. The work is the
/// same, and so is the time of the last.
#[test]
fn turns_are_processor_sharing() {
    let goodput = 10e6 / 8.0 * MSS as f64 / 1_500.0;
    let sizes = json!({"empirical": [[20_000, 0.0], [200_000, 1.0]]});
    let shared = crowded(Some(1_000), sizes.clone()).run();
    let in_order = crowded(None, sizes).run();
    let (found, ordered) = (objects(&shared), objects(&in_order));
    assert_eq!(found.len(), 8);
    let ahead = (10 * MSS + 1_000) as f64;
    let left = |size: f64| if size == ordered[0].0 { size - ahead } else { size };
    // A frame of each, the frame that waits, and some round trips of slow start.
    let tolerance = 9.0 * 1_000.0 / goodput + 0.012;
    for (size, time) in &found {
        let work = found.iter().map(|(other, _)| left(*other).min(left(*size))).sum::<f64>();
        let law = (ahead + work) / goodput;
        assert!((time - law).abs() < tolerance, "{size} B: {time} s, law {law} s");
    }
    let mut before = 0.0;
    for (size, time) in ordered {
        before += size;
        assert!((time - before / goodput).abs() < 0.012, "{size} B: {time} s, law {} s", before / goodput);
    }
    let (one, other) = (page_load_time(&shared), page_load_time(&in_order));
    assert!((one - other).abs() < 0.01, "{one} s and {other} s");
}

/// With equal sizes processor sharing has all objects complete at the end, and a FIFO one after another: the mean time is as much longer
/// as n is than (n + 1) / 2, for a page that takes as long.
#[test]
fn mean_time_of_equal_objects() {
    let mean = |path: Path| objects(&path.run()).iter().map(|(_, time)| time).sum::<f64>() / 8.0;
    let size = json!({"fixed": 100_000});
    let (shared, in_order) = (mean(crowded(Some(16_384), size.clone())), mean(crowded(None, size)));
    // Up to the turns of the last frames: n (n - 1) / 2 of them.
    let (ratio, law) = (shared / in_order, 8.0 / 4.5);
    assert!(ratio < 1.01 * law && ratio > law * (1.0 - 4.0 * 16_384.0 / 0.8e6), "{ratio}, law {law}");
}

/// A request that arrives while a response is under way has its turn at once, because little is written ahead: two objects of 1 MB, of which
/// the second is requested 50 ms later (a request of 62,500 bytes at 10 Mbit/s), are complete at the end, 25 ms and no time before
/// it. In order the first would take half of the time.
#[test]
fn later_request_has_its_turn() {
    let mut path = crowded(Some(16_384), json!({"fixed": 1_000_000}));
    path.queue = droptail(30);
    path.flows[0]["application"]["page"]["request"] = json!({"fixed": 62_500});
    path.flows[0]["application"]["page"]["objects"] = json!({"fixed": 2});
    let found = objects(&path.run());
    let [(_, first), (_, second)] = found[..] else { panic!("two objects: {found:?}") };
    assert!(first > 0.9 * second && first < second, "{first} s and {second} s");
}

/// Pages that arrive at a bottleneck that drops: every packet is accounted for after every event, each page is complete or open at the
/// end, and what the client received is what the server sent in answer to requests, each byte once.
#[test]
fn bytes_both_ways() {
    for (profile, control, frame) in [
        ("rfc", "newreno", None),
        ("linux-6", "cubic", None),
        ("linux-6", "bbr", None),
        ("linux-6", "cubic", Some(2_000)),
    ] {
        let profiled = profiled(profile, control);
        let mut flow = of(json!({"page": {
            "request": {"exponential": {"mean": 3000.0}}, "first": {"exponential": {"mean": 30_000.0}},
            "objects": {"exponential": {"mean": 5.0}}, "size": {"exponential": {"mean": 20_000.0}},
            "connections": 4, "multiplexed": frame.is_some(), "frame": frame,
        }}));
        flow["arrivals"] = json!({"process": {"poisson": {"rate": 4.0}}, "sizes": null});
        flow["source"] = json!({
            "name": control, "parameters": profiled.parameters, "slow_start": profiled.slow_start, "stack": 0,
        });
        let path = Path {
            queue: droptail(20),
            flows: vec![flow, of(exchanges(20_000, 20, 50 * MS))],
            duration: 20 * S,
            warm_up: 0,
            stack: profiled.stack,
            ..Path::new(10_000_000, 20 * MS)
        };
        let what = format!("{profile}, {control}, {frame:?}");
        assert!(path.run_with_census(&what) > 20, "{what}: the run must have losses to prove anything");
        let result = path.run();
        for (row, flow) in result.flows.iter().enumerate() {
            let of_kind = |kind: TransferKind| {
                result.transfers.iter().filter(move |each| each.flow as usize == row && each.kind == kind)
            };
            let counts = flow.transfers.expect("counted");
            let requested: u64 = of_kind(TransferKind::Request).map(|each| each.bytes).sum();
            let pages = of_kind(TransferKind::Page).count() as u64;
            assert!(requested <= flow.total_bytes_delivered, "{what}: {requested}");
            assert!(flow.total_bytes_delivered < requested + 500_000, "{what}: {}", flow.total_bytes_delivered);
            assert!(row == 1 || pages == counts.completed && pages > 40, "{what}: {pages} pages");
            assert!(counts.unfinished < 20, "{what}: {}", counts.unfinished);
            assert!(of_kind(TransferKind::Page).all(|each| each.completed.since(each.start) >= each.ideal), "{what}");
        }
        assert_eq!(result.flows[1].transfers.expect("counted").completed, 1, "{what}");
    }
}

/// Users load a page, think, and load the next: there are never more pages under way than users, and each user goes on to the end.
#[test]
fn users_with_think_times() {
    let mut flow = of(page(3, 20_000, 2, false));
    flow["arrivals"] = json!({"process": {"users": {"count": 3, "think": 500 * MS}}, "sizes": null});
    let path = Path { flows: vec![flow], duration: 100 * S, warm_up: 0, ..Path::new(100_000_000, 20 * MS) };
    let result = path.run();
    let pages: Vec<_> = result.transfers.iter().filter(|each| each.kind == TransferKind::Page).collect();
    let time = pages.iter().map(|each| each.completed.since(each.start).seconds()).sum::<f64>() / pages.len() as f64;
    // Law of closed loops (Lazowska et al., Quantitative System Performance, 1984, section 3.3): throughput = users / (time + think).
    // Within 15 %: the think times of 600 pages have a standard error of 4 %.
    let (throughput, law) = (pages.len() as f64 / 100.0, 3.0 / (time + 0.5));
    assert!((throughput / law - 1.0).abs() < 0.15, "{throughput} pages a second, law {law}");
    assert!(result.flows[0].transfers.expect("counted").open_mean < 3.0);
}

fn vector(concurrent: bool, writes: &[(bool, u64, u64)]) -> Value {
    let writes: Vec<Value> = writes
        .iter()
        .map(|(at_server, wait, bytes)| json!({"at_server": at_server, "wait": wait, "bytes": bytes}))
        .collect();
    json!({"vectors": {"vectors": [{"concurrent": concurrent, "writes": writes}]}})
}

/// A sequential vector takes the round trips of its exchanges and its waits: two requests, of which the second waits for a second after
/// the first answer, and the server half a second before the second answer.
#[test]
fn sequential_vector() {
    let writes = [(false, 0, 400), (true, 0, 10 * MSS), (false, S, 400), (true, S / 2, 5 * MSS)];
    let result = idle(vector(false, &writes)).run();
    assert_eq!(round_trips(&result, TransferKind::Request), [1, 1 + 5]);
    let [first, second] = &result.transfers[..] else { panic!("two requests: {:?}", result.transfers) };
    assert_eq!((first.bytes, second.bytes), (10 * MSS, 5 * MSS));
    assert_eq!(second.start.since(first.completed).0, S);
    assert_eq!(result.flows[0].transfers.expect("counted").completed, 1);
}

/// In a vector that the server begins, its data leave with its own handshake. A concurrent one ends when all writes of both ends have
/// arrived, however they are mixed.
#[test]
fn other_vectors() {
    for (concurrent, writes, bytes) in [
        (false, vec![(true, 0, 3000), (false, 0, 400), (true, 0, 5000)], 8000),
        (false, vec![(false, 0, 400), (false, S, 400), (true, 0, 1000), (true, S, 1000)], 2000),
        (true, vec![(true, S, 4000), (false, 0, 400), (false, S, 70_000), (true, 0, 100)], 4100),
        (true, vec![(false, 0, 70_000)], 0),
    ] {
        let result = idle(vector(concurrent, &writes)).run();
        assert_eq!(result.flows[0].transfers.expect("counted").completed, 1, "{writes:?}");
        assert_eq!(result.flows[0].total_bytes_delivered, bytes, "{writes:?}");
    }
}

/// The client closes when it has all; the server when the client's FIN is there, which takes half a round trip (RFC 9293 section 3.6).
#[test]
fn server_learns_of_the_end_from_a_packet() {
    let mut simulation = idle(exchanges(MSS, 1, 0)).simulation();
    for first in [0, 3] {
        simulation.record(first, End::Near).expect("the link exists");
    }
    while simulation.step() {}
    let fins: Vec<_> = simulation.take_passages_before(Time::NEVER);
    let fins: Vec<_> = fins.iter().filter(|passage| passage.packet.has(flags::FIN)).collect();
    let [client, server] = fins[..] else { panic!("one FIN each way: {fins:?}") };
    assert_eq!((client.link, server.link), (3, 0));
    let later = server.time.since(client.time).seconds();
    assert!((0.05..0.0501).contains(&later), "{later} s later");
}

/// Without timestamps one segment is timed at a time. A FIN without data is acknowledged by its own number alone, so what acknowledges
/// the data before it, resent or not, is no sample: none is below the round trip of the path.
#[test]
fn no_sample_below_the_base_round_trip() {
    let mut sampled = 0;
    for seed in 1..=10 {
        let mut flow = of(exchanges(40 * MSS, 3, 20 * MS));
        flow["arrivals"] = json!({"process": {"poisson": {"rate": 1.0}}, "sizes": null});
        let stack = profiled("ns2-2.35", "newreno").stack;
        let path = Path { flows: vec![flow], warm_up: 0, stack, seed, ..Path::new(10_000_000, 20 * MS) };
        let mut specification = path.specification();
        for link in [1, 4] {
            specification.links[link].loss = 0.03;
        }
        let result =
            Simulation::new(&specification).expect("valid").run(&AtomicBool::new(false)).expect("not cancelled");
        let tcp = result.flows[0].tcp.as_ref().expect("a connection");
        sampled += tcp.statistics.rtt_samples;
        let least = tcp.statistics.min_rtt.seconds();
        assert!(least >= 0.02, "{least} s with seed {seed}");
    }
    assert!(sampled > 1000, "{sampled} samples");
}
