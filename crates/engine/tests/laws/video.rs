//! Laws of video over a network: what a viewer sees follows from the path, whatever the rule.

use serde_json::{Value, json};
use sojourn_engine::application::TransferKind;
use sojourn_engine::result::RunResult;
use sojourn_engine::video::Playback;

use crate::support::{MS, Path, S, droptail, tcp};

const MSS: u64 = 1448;
/// Headers of a segment, and of its frame: 40 bytes and a timestamp option of 12.
const OVERHEAD: u64 = 52;

/// Bit rates of 1, 2 and 4 Mbit/s, segments of 1 s, a buffer of 20 s.
fn video(rule: &Value) -> Value {
    json!({
        "rule": rule, "ladder": [1_000_000, 2_000_000, 4_000_000], "segment": S, "buffer": 20 * S, "start_after": S,
        "length": null,
    })
}

fn rules() -> [Value; 5] {
    let bba0 = json!({"bba0": {"reservoir": 5 * S, "cushion": 13 * S}});
    [bba0, json!("bba1"), json!("bba2"), json!("bola"), json!("throughput")]
}

/// A viewer over a path with a round-trip time of 20 ms and a queue of 30 packets.
fn watch(video: Value, rate: u64) -> Path {
    let mut flow = tcp("newreno");
    flow["application"] = json!({"video": video});
    Path { flows: vec![flow], queue: droptail(30), duration: 60 * S, warm_up: 0, ..Path::new(rate, 20 * MS) }
}

fn seen(result: &RunResult) -> Playback {
    **result.flows[0].video.as_ref().expect("a video")
}

/// What the viewer waited, saw and missed is the time from the start to the end, over a path that does not carry the lowest rate, one
/// that carries some rate and one that carries all. What has arrived are the segments, and a part of the one under way.
#[test]
fn time_of_a_viewer() {
    for rule in rules() {
        for rate in [900_000, 3_000_000, 20_000_000] {
            let result = watch(video(&rule), rate).run();
            let seen = seen(&result);
            assert_eq!((seen.start_delays + seen.played + seen.stalled).0, 60 * S, "{rule}, {rate}: {seen:?}");
            let segments = || result.transfers.iter().filter(|each| each.kind == TransferKind::Request);
            assert_eq!(
                (segments().count() as u64, segments().map(|each| each.bytes).sum()),
                (seen.segments, seen.bytes)
            );
            let under_way = result.flows[0].total_bytes_delivered - seen.bytes;
            assert!(under_way < 4_000_000 / 8, "{rule}, {rate}: {under_way}");
        }
    }
}

/// A path of twice the highest rate carries it without a stall once the buffer is full; then a segment is requested each time one has
/// been played: the sender is on and off.
#[test]
fn path_of_twice_the_rate() {
    for rule in rules() {
        let path = Path { warm_up: 40 * S, ..watch(video(&rule), 8_000_000) };
        let result = path.run();
        let seen = seen(&result);
        assert_eq!((seen.played.0, seen.stalled.0, seen.stalls, seen.switches), (20 * S, 0, 0, 0), "{rule}");
        assert_eq!(seen.mean_rate(), Some(4e6), "{rule}");
        let requested: Vec<_> =
            result.transfers.iter().map(|each| each.start).filter(|start| start.0 > 40 * S).collect();
        assert!(requested.len() >= 19 && requested.windows(2).all(|pair| pair[1].since(pair[0]).0 == S), "{rule}");
    }
}

/// Over a path that does not carry the lowest rate each segment takes a round trip and its transmission, plays for its duration, and
/// the rest is a stall.
#[test]
fn path_below_the_lowest() {
    let (rate, size) = (900_000, 1_000_000u64 / 8);
    let transmission = (size + size.div_ceil(MSS) * OVERHEAD) as f64 * 8.0 / rate as f64;
    let takes = transmission + 0.020;
    for rule in rules() {
        let path = Path { warm_up: 20 * S, duration: 220 * S, ..watch(video(&rule), rate) };
        let seen = seen(&path.run());
        let share = seen.stalled.seconds() / 200.0;
        assert!((share - (1.0 - 1.0 / takes)).abs() < 0.01, "{rule}: {share}, {takes}");
        assert!(seen.stalls.abs_diff((200.0 / takes) as u64) <= 2, "{rule}: {}", seen.stalls);
        assert_eq!(seen.mean_rate(), Some(1e6), "{rule}");
    }
}

/// Nothing but the round trip takes time: a first segment that fits into the initial window plays after the handshake and a request, and
/// with the start after three of them two requests later.
#[test]
fn start_delay_in_round_trips() {
    for (start_after, law) in [(S, 2), (3 * S, 4)] {
        let mut given = video(&json!("throughput"));
        given["ladder"] = json!([8 * 10 * MSS]);
        given["start_after"] = json!(start_after);
        let path = Path { rtt: 100 * MS, ..watch(given, 10_000_000_000) };
        let delay = seen(&path.run()).start_delay().expect("it plays") / 0.1;
        assert!((delay - f64::from(law)).abs() < 0.01, "{delay} round trips");
    }
}

/// Segments of variable sizes: what arrives are the sizes of the file, one row after another and again from the first, at the rungs that
/// were chosen; with a single rung all of them are known.
#[test]
fn sizes_of_a_file() {
    let mut given = video(&json!("bba1"));
    let sizes = [10_000, 250_000, 90_000];
    given["ladder"] = json!([sizes.iter().sum::<u64>() * 8 / 3]);
    given["sizes"] = json!(sizes.map(|size| [size]));
    given["length"] = json!(7 * S);
    let result = watch(given, 20_000_000).run();
    let segments = result.transfers.iter().filter(|each| each.kind == TransferKind::Request);
    assert!(segments.map(|each| each.bytes).eq((0..7).map(|number| sizes[number % 3])));
    assert_eq!(seen(&result).bytes, result.flows[0].total_bytes_delivered);
}

/// A video that ends has played all of it, and its session is complete: the connection is closed.
#[test]
fn video_that_ends() {
    for rule in rules() {
        let mut given = video(&rule);
        given["length"] = json!(25 * S - 1);
        let result = watch(given, 3_000_000).run();
        let (seen, counts) = (seen(&result), result.flows[0].transfers.expect("transfers"));
        assert_eq!((seen.played.0, seen.segments), (25 * S, 25), "{rule}");
        assert_eq!((counts.completed, counts.unfinished), (1, 0), "{rule}");
        assert_eq!(result.flows[0].total_bytes_delivered, seen.bytes, "{rule}");
    }
}

/// A viewer who turns the video off has seen it until then.
#[test]
fn video_that_is_stopped() {
    let mut path = watch(video(&json!("bola")), 3_000_000);
    path.flows[0]["start"] = json!(5 * S);
    path.flows[0]["stop"] = json!(31 * S);
    let seen = seen(&path.run());
    assert_eq!((seen.start_delays + seen.played + seen.stalled).0, 26 * S);
}

/// Viewers who come and go are counted together: one a second until the end, of whom those have seen all of a video of 4 s who came
/// before the last four.
#[test]
fn viewers_that_arrive() {
    let mut given = video(&json!("throughput"));
    given["length"] = json!(4 * S);
    let mut path = watch(given, 50_000_000);
    path.flows[0]["arrivals"] =
        json!({"process": {"deterministic": {"every": {"rate": 1.0}, "phase": 1.0}}, "sizes": null});
    let result = path.run();
    let (seen, counts) = (seen(&result), result.flows[0].transfers.expect("transfers"));
    assert_eq!((seen.starts, counts.completed, counts.unfinished), (59, 55, 4));
    assert!(seen.played.seconds() >= 4.0 * 55.0 && seen.stalls == 0);
    // The first plays from a round trip for the handshake and one for the request on.
    assert!(seen.start_delay().is_some_and(|delay| (0.04..0.2).contains(&delay)), "{seen:?}");
}

/// The same specification gives the same result.
#[test]
fn same_video_again() {
    let path = watch(video(&json!("bola")), 3_000_000);
    let (one, other) = (path.run(), path.run());
    assert_eq!((seen(&one), one.events), (seen(&other), other.events));
}

/// A source of a limited rate over TCP sends at that rate over a faster path, each message takes the way there and its transmission, and
/// messages are as far apart as the rate says.
#[test]
fn source_of_limited_rate() {
    let mut flow = tcp("cubic");
    flow["application"] = json!({"periodic": {"size": {"fixed": 3_000}, "every": 8 * MS}});
    let path = Path { flows: vec![flow], warm_up: 10 * S, ..watch(video(&json!("bola")), 20_000_000) };
    let result = path.run();
    assert_eq!(result.flows[0].bytes_delivered, 50 * 1_000 / 8 * 3_000);
    let reports: Vec<_> = result.transfers.iter().filter(|each| each.kind == TransferKind::Report).collect();
    assert!(reports.windows(2).all(|pair| pair[1].start.since(pair[0].start).0 == 8 * MS));
    assert!(reports.iter().all(|each| each.completed.since(each.start).seconds() < 1.05 * each.ideal.seconds()));
    assert!(reports.iter().all(|each| each.completed.since(each.start) >= each.ideal));
}

/// Reports that are further apart than the retransmission timeout find an idle connection: the same time is taken by each, whatever
/// came before, and none is lost.
#[test]
fn reports_after_pauses() {
    let mut flow = tcp("cubic");
    flow["application"] = json!({"periodic": {"size": {"fixed": 100 * MSS}, "every": 5 * S}});
    let path = Path { flows: vec![flow], queue: droptail(1_000), ..watch(video(&json!("bola")), 1_000_000_000) };
    let result = path.run();
    let taken: Vec<_> = result.transfers.iter().map(|each| each.completed.since(each.start).seconds()).collect();
    assert_eq!(taken.len(), 12);
    // Windows of 10, 20, 40 and 80 segments: three round trips and the way there.
    assert!(taken.iter().all(|time| (time - 3.5 * 0.020).abs() < 0.005), "{taken:?}");
}

/// Figure 4 of Huang et al., SIGCOMM 2014: after 25 s at 5 Mbit/s the path carries 350 kbit/s, still more than the lowest bit rate of
/// 235 kbit/s. A rule that trusts throughput has requested a segment of 3 Mbit/s by then, and stalls; BBA-0 with the paper's buffer
/// never does while the path carries the lowest rate (section 3.1).
#[test]
fn sudden_drop_of_capacity() {
    for (rule, stalls) in
        [(json!({"bba0": {"reservoir": 90 * S, "cushion": 126 * S}}), false), (json!("throughput"), true)]
    {
        let mut given = video(&rule);
        given["ladder"] = json!([235_000, 375_000, 560_000, 750_000, 1_050_000, 1_750_000, 2_350_000, 3_000_000]);
        (given["segment"], given["start_after"], given["buffer"]) = (json!(4 * S), json!(4 * S), json!(240 * S));
        let mut path = Path { duration: 300 * S, ..watch(given, 5_000_000) };
        path.changes = vec![json!({"at": 25 * S, "rate": 350_000})];
        assert_eq!(seen(&path.run()).stalls > 0, stalls, "{rule}");
    }
}
