//! Rules of adaptive bit rates against the figures and numbers of their papers.

use sojourn_engine::time::Duration;
use sojourn_engine::units::Rate;
use sojourn_engine::video::Ladder;
use sojourn_engine::video::rules::{Bba0, Bba1, Bba2, Bola, ChunkMap, Download, RateMap, Throughput, View, utility};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_seconds(seconds)
}

fn ladder(kilobits: &[u64], segment: Duration) -> Ladder {
    Ladder::new(kilobits.iter().map(|rate| Rate(rate * 1_000)).collect(), segment)
}

/// What a rule sees of a video without end at its beginning.
fn view(ladder: &Ladder, buffered: Duration, previous: Option<usize>) -> View<'_> {
    View { ladder, buffered, previous, segment: 0, missing: None }
}

/// The bit rates of figure 16 of Huang et al., SIGCOMM 2014, and their segments.
fn netflix() -> Ladder {
    ladder(&[235, 375, 560, 750, 1_050, 1_750, 2_350, 3_000], seconds(4))
}

/// BBA-0 of section 4 there: a reservoir of 90 s, and the highest rate from 216 s on.
const BBA0: RateMap = RateMap { reservoir: seconds(90), cushion: seconds(126) };

/// The example of Spiteri et al., section IV-A.
fn example() -> Ladder {
    ladder(&[331, 688, 1_427, 2_962, 6_000], seconds(3))
}

/// The rate map of BBA-0 is pinned at both ends, and linear between.
#[test]
fn rate_map_of_bba0() {
    let ladder = netflix();
    for (buffered, rate) in [(0, 235e3), (90, 235e3), (153, (235e3 + 3_000e3) / 2.0), (216, 3_000e3), (240, 3_000e3)] {
        assert!((BBA0.rate(&ladder, seconds(buffered)) - rate).abs() < 1e-3, "{buffered} s");
    }
}

/// The rate map of BBA-0 is in the safe area of section 3.2: a segment of its rate, fetched at the lowest rate, arrives before the
/// buffer is down to the reservoir, V f(B) / Rmin <= B - r. That can hold only where one of the lowest rate does: from
/// B - r = V / (1 - V f' / Rmin) on, which is 6.4 s.
#[test]
fn rate_map_is_safe() {
    let ladder = netflix();
    for buffered in 97..=216 {
        let segment = 4.0 * BBA0.rate(&ladder, seconds(buffered)) / 235e3;
        assert!(segment <= (buffered - 90) as f64, "{buffered} s: {segment} s");
    }
}

/// As the buffer of BBA-0 fills, its rate rises where the map reaches the next rung, and it falls only where the map is down at the
/// rung below: between them it stays.
#[test]
fn bba0_stays_between_barriers() {
    let ladder = netflix();
    let rule = Bba0::new(BBA0);
    let walk = |buffers: &mut dyn Iterator<Item = u64>, mut previous: usize| {
        let mut changes = Vec::new();
        for tenths in buffers {
            let buffered = Duration::from_milliseconds(tenths * 100);
            let next = rule.choose(&view(&ladder, buffered, Some(previous)));
            if next != previous {
                changes.push((next, tenths as f64 / 10.0));
            }
            previous = next;
        }
        changes
    };
    // Where the map is at a rung: 90 s + 126 s (R - 235) / (3000 - 235).
    let at = |rung: usize| 90.0 + 126.0 * (ladder.rate(rung).0 as f64 / 1e3 - 235.0) / 2_765.0;
    for (number, (rung, buffered)) in walk(&mut (0..=2_400), 0).into_iter().enumerate() {
        assert_eq!(rung, number + 1);
        assert!((buffered - at(rung)).abs() <= 0.2, "up to {rung} at {buffered} s");
    }
    for (rung, buffered) in walk(&mut (0..=2_159).rev(), 7).into_iter().filter(|(rung, _)| *rung > 0) {
        assert!((buffered - at(rung - 1)).abs() <= 0.2 || (buffered - at(rung)).abs() <= 0.2, "{rung} at {buffered} s");
    }
}

/// BBA-2 rises with an empty buffer only if a segment arrives eight times as fast as it plays, and with a full cushion if twice.
#[test]
fn bba2_gain_at_ends() {
    let rule = Bba2::new(&netflix(), seconds(240));
    assert!((rule.gain_needed(Duration::ZERO) - (1.0 - 1.0 / 8.0)).abs() < 1e-12);
    assert!((rule.gain_needed(seconds(216)) - (1.0 - 1.0 / 2.0)).abs() < 1e-12);
    let ladder = netflix();
    assert_eq!((rule.map().reservoir(&view(&ladder, seconds(0), None)), rule.map().full()), (seconds(8), seconds(216)));
}

/// Over a fast path BBA-2 rises by a rung a segment from the start, where BBA-0 waits for its reservoir; once its buffer shrinks
/// it follows the map.
#[test]
fn bba2_starts_fast() {
    let ladder = netflix();
    let (mut rule, patient) = (Bba2::new(&ladder, seconds(240)), Bba0::new(BBA0));
    let mut previous = None;
    for segment in 0..8u64 {
        let view = view(&ladder, seconds(4 * segment), previous);
        let rung = rule.choose(&view);
        assert_eq!((rung, patient.choose(&view)), (segment as usize, 0));
        rule.on_download(&Download { bytes: ladder.mean_bytes(rung), time: Duration::from_milliseconds(100) });
        previous = Some(rung);
    }
    rule.on_download(&Download { bytes: ladder.mean_bytes(7), time: seconds(5) });
    assert_eq!(rule.choose(&view(&ladder, seconds(8), previous)), 0);
}

/// Segments of which the sizes of the lowest rate are these parts of the mean, and those of higher rates in proportion.
fn variable(parts: &[f64]) -> Ladder {
    let ladder = netflix();
    let sizes = parts.iter().map(|part| (0..8).map(|rung| (ladder.mean_bytes(rung) as f64 * part) as u64).collect());
    let sizes = std::sync::Arc::new(sizes.collect());
    ladder.with_sizes(sizes)
}

/// Section 5.1: the reservoir is what the segments of the next 480 s take from the buffer at a capacity of the lowest rate beyond what they
/// bring, from 8 s, as for a static scene, to 140 s. With 20 active segments of twice the mean among the next 120 it is 20 times 4 s, with 10 of
/// them half of that, and after them 8 s.
#[test]
fn reservoir_of_bba1() {
    let parts: Vec<f64> = (0..240).map(|segment| if (110..130).contains(&segment) { 2.0 } else { 1.0 }).collect();
    let ladder = variable(&parts);
    let map = ChunkMap::new(&ladder, seconds(240));
    let at =
        |segment| map.reservoir(&View { segment, missing: Some(240 - segment), ..view(&ladder, seconds(0), None) });
    for (segment, law) in [(0, 40), (10, 80), (110, 80), (120, 40), (130, 8), (239, 8)] {
        assert!((at(segment).seconds() - law as f64).abs() < 0.01, "{segment}: {}", at(segment).seconds());
    }
    for (part, law) in [(0.2, 8), (2.0, 140)] {
        let ladder = variable(&[part]);
        assert_eq!(
            ChunkMap::new(&ladder, seconds(240)).reservoir(&view(&ladder, seconds(0), None)),
            seconds(law),
            "{part}"
        );
    }
    // As large a part of a smaller buffer: 140 s of 240 s are 35 s of 60 s.
    let active = variable(&[2.0]);
    assert_eq!(ChunkMap::new(&active, seconds(60)).reservoir(&view(&active, seconds(0), None)), seconds(35));
}

/// Figure 13: the map is at the mean segment of the lowest rate up to the reservoir, at that of the highest from 216 s on, and linear
/// between.
#[test]
fn chunk_map_of_bba1() {
    let ladder = netflix();
    let map = ChunkMap::new(&ladder, seconds(240));
    let (least, most) = (235e3 * 4.0 / 8.0, 3e6 * 4.0 / 8.0);
    for (buffered, law) in [(0, least), (8, least), (112, (least + most) / 2.0), (216, most), (240, most)] {
        assert!((map.size(seconds(buffered), seconds(8)) - law).abs() < 1.0, "{buffered} s");
    }
}

/// Section 5.2: the rate stays while the map is between the next segment's sizes at the rates below and above. So at the same buffer
/// a segment of an active scene has a lower rate than one of a static scene; of segments that are all alike, BBA-1 chooses as
/// BBA-0 with its reservoir does.
#[test]
fn bba1_chooses_by_size() {
    let ladder = variable(&[1.0, 2.0, 0.5]);
    let map = ChunkMap::new(&ladder, seconds(240));
    let rule = Bba1::new(map);
    let at =
        |segment| rule.choose(&View { segment, missing: Some(3 - segment), ..view(&ladder, seconds(112), Some(4)) });
    // Half way up the map: 808.75 kB, and the segments of 1,750 kbit/s have 875 kB, of 1,050 kbit/s 525 kB in the mean.
    assert_eq!([0, 1, 2].map(at), [4, 4, 7]);
    let constant = netflix();
    let (rule, patient) = (
        Bba1::new(ChunkMap::new(&constant, seconds(240))),
        Bba0::new(RateMap { reservoir: seconds(8), cushion: seconds(208) }),
    );
    for buffered in 0..=240 {
        for previous in 0..8 {
            let view = view(&constant, seconds(buffered), Some(previous));
            assert_eq!(rule.choose(&view), patient.choose(&view), "{buffered} s after {previous}");
        }
    }
}

/// The utilities of the example are those printed in section IV-A.
#[test]
fn utilities_of_bola() {
    for (rung, printed) in [0.000, 0.732, 1.461, 2.192, 2.897].into_iter().enumerate() {
        assert!((utility(&example(), rung) - printed).abs() < 0.0006, "{rung}");
    }
}

/// With γp = 5 and V = 0.93 the example's rates are chosen in the order of figure 2: the lowest up to 12 s, then each in turn, the
/// highest up to 22 s, at which nothing more is fetched.
#[test]
fn thresholds_of_bola() {
    let (ladder, rule) = (example(), Bola::new(0.93));
    let buffers = || (0..=300u64).map(|tenths| Duration::from_milliseconds(tenths * 100));
    let chosen = |buffered| rule.choose(&view(&ladder, buffered, None));
    let first = |rung: usize| buffers().find(|buffered| chosen(*buffered) >= rung).expect("a threshold").seconds();
    assert!((first(1) - 12.0).abs() < 0.5, "{}", first(1));
    assert!((1..4).all(|rung| first(rung) < first(rung + 1)));
    let full = buffers().find(|buffered| rule.objective(&ladder, 4, *buffered) < 0.0).expect("a full buffer").seconds();
    assert!((full - 22.0).abs() < 0.5, "{full}");
    assert!(first(4) < full);
}

/// V follows from the buffer such that nothing is fetched exactly when a segment has no room: Q > Qmax - 1.
#[test]
fn bola_fills_its_buffer() {
    let ladder = example();
    let rule = Bola::for_buffer(&ladder, seconds(30));
    assert!(rule.objective(&ladder, 4, seconds(27)).abs() < 1e-12);
}

/// The rate-based rule predicts the harmonic mean of the last five throughputs, and takes the highest rate below it.
#[test]
fn throughput_of_five_segments() {
    let ladder = netflix();
    let mut rule = Throughput::default();
    let rung = |rule: &Throughput| rule.choose(&view(&ladder, seconds(0), None));
    assert_eq!((rule.prediction(), rung(&rule)), (None, 0));
    // 8, then 1, 2, 4, 4 and 4 Mbit/s: the first is forgotten, and 5 / (1 + 1/2 + 3/4) = 2.222 Mbit/s.
    for megabits in [8, 1, 2, 4, 4, 4] {
        rule.on_download(&Download { bytes: megabits * 125_000, time: seconds(1) });
    }
    assert!((rule.prediction().expect("a mean") - 5e6 / 2.25).abs() < 1e-3);
    assert_eq!(ladder.rate(rung(&rule)), Rate(1_750_000));
}
