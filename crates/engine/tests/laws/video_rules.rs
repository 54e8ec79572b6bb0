//! Rules of adaptive bit rates against the figures and numbers of their papers.

use sojourn_engine::time::Duration;
use sojourn_engine::units::Rate;
use sojourn_engine::video::Ladder;
use sojourn_engine::video::rules::{Bba0, Bba2, Bola, Download, RateMap, Throughput, View, utility};

const fn seconds(seconds: u64) -> Duration {
    Duration::from_seconds(seconds)
}

fn ladder(kilobits: &[u64], segment: Duration) -> Ladder {
    Ladder::new(kilobits.iter().map(|rate| Rate(rate * 1_000)).collect(), segment)
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
            let next = rule.choose(&View { ladder: &ladder, buffered, previous: Some(previous) });
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
    assert_eq!((rule.map().reservoir, rule.map().reservoir + rule.map().cushion), (seconds(8), seconds(216)));
}

/// Over a fast path BBA-2 rises by a rung a segment from the start, where BBA-0 waits for its reservoir; once its buffer shrinks
/// it follows the map.
#[test]
fn bba2_starts_fast() {
    let ladder = netflix();
    let (mut rule, patient) = (Bba2::new(&ladder, seconds(240)), Bba0::new(BBA0));
    let mut previous = None;
    for segment in 0..8u64 {
        let view = View { ladder: &ladder, buffered: seconds(4 * segment), previous };
        let rung = rule.choose(&view);
        assert_eq!((rung, patient.choose(&view)), (segment as usize, 0));
        rule.on_download(&Download { bytes: ladder.bytes(rung), time: Duration::from_milliseconds(100) });
        previous = Some(rung);
    }
    rule.on_download(&Download { bytes: ladder.bytes(7), time: seconds(5) });
    assert_eq!(rule.choose(&View { ladder: &ladder, buffered: seconds(8), previous }), 0);
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
    let chosen = |buffered| rule.choose(&View { ladder: &ladder, buffered, previous: None });
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
    let rung = |rule: &Throughput| rule.choose(&View { ladder: &ladder, buffered: seconds(0), previous: None });
    assert_eq!((rule.prediction(), rung(&rule)), (None, 0));
    // 8, then 1, 2, 4, 4 and 4 Mbit/s: the first is forgotten, and 5 / (1 + 1/2 + 3/4) = 2.222 Mbit/s.
    for megabits in [8, 1, 2, 4, 4, 4] {
        rule.on_download(&Download { bytes: megabits * 125_000, time: seconds(1) });
    }
    assert!((rule.prediction().expect("a mean") - 5e6 / 2.25).abs() < 1e-3);
    assert_eq!(ladder.rate(rung(&rule)), Rate(1_750_000));
}
