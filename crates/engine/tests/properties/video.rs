//! Properties of players and of the rules that choose bit rates, whatever the network does.

use std::sync::Arc;

use proptest::collection::{btree_set, vec};
use proptest::prelude::*;
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;
use sojourn_engine::video::rules::{RateMap, RuleSpecification, View};
use sojourn_engine::video::{Ladder, Next, Playback, Player, VideoSpecification};

fn rates() -> impl Strategy<Value = Vec<Rate>> {
    btree_set(100_000..50_000_000u64, 1..10).prop_map(|rates| rates.into_iter().map(Rate).collect())
}

fn rule() -> impl Strategy<Value = RuleSpecification> {
    prop_oneof![
        (0..60_000u64, 0..60_000u64).prop_map(|(reservoir, cushion)| RuleSpecification::Bba0 {
            reservoir: Duration::from_milliseconds(reservoir),
            cushion: Duration::from_milliseconds(cushion),
        }),
        Just(RuleSpecification::Bba1),
        Just(RuleSpecification::Bba2),
        Just(RuleSpecification::Bola),
        Just(RuleSpecification::Throughput),
    ]
}

prop_compose! {
    fn specification()(
        rule in rule(), ladder in rates(), segment in 100..10_000u64, segments in 1..40u64, odd in 0..100u64, start in 0..50_000u64,
        length in proptest::option::of(1..30u64), parts in proptest::option::of(vec(vec(1..3_000_000u64, 10), 1..20))
    ) -> VideoSpecification {
        let segment = Duration::from_milliseconds(segment);
        let buffer = segment * segments + Duration(odd);
        let start_after = Duration::from_milliseconds(start).min(buffer);
        let length = length.map(|segments| segment * segments);
        let sizes = parts.map(|rows| Arc::new(rows.into_iter().map(|row| row[..ladder.len()].to_vec()).collect()));
        VideoSpecification { rule, ladder, sizes, segment, buffer, start_after, length }
    }
}

/// How long the viewer waited for the first picture.
fn waited(seen: &Playback, on: Duration) -> Duration {
    if seen.starts > 0 { seen.start_delays } else { on }
}

proptest! {
    /// What the viewer waited, saw and missed is the time for which the player was on. What arrived is what was requested, it was
    /// played or is in the buffer, and the buffer never holds more than it can.
    #[test]
    fn time_of_a_player(specification in specification(), times in vec(1..20_000u64, 1..80), opens in 0..80usize) {
        prop_assert_eq!(specification.check(), Ok(()));
        let start = Time(7);
        let mut player = Player::new(&specification);
        player.turn_on(start);
        let (mut now, mut requested, mut window) = (start, 0, (start, Duration::ZERO));
        let mut next = player.next(now);
        for (round, time) in times.into_iter().enumerate() {
            if round == opens {
                player.open_window(now);
                window = (now, waited(&player.playback(now), now.since(start)));
                requested = 0;
            }
            next = match next {
                Next::Request(bytes) => {
                    requested += bytes;
                    now += Duration::from_milliseconds(time);
                    player.on_segment(now)
                }
                Next::WaitUntil(moment) => {
                    prop_assert!(moment > now);
                    now = moment;
                    let next = player.next(now);
                    prop_assert!(!matches!(next, Next::WaitUntil(_)), "the buffer has room when it said");
                    next
                }
                Next::End => {
                    prop_assert_eq!(player.buffered(), Duration::ZERO);
                    break;
                }
            };
            prop_assert!(player.buffered() <= specification.buffer);
            let seen = player.playback(now);
            let delay = waited(&seen, now.since(start)) - window.1;
            prop_assert_eq!(delay + seen.played + seen.stalled, now.since(window.0));
            prop_assert_eq!(seen.bytes, requested);
            if round < opens {
                prop_assert_eq!(seen.played + player.buffered(), specification.segment * seen.segments);
            }
        }
    }

    /// The rung that the rate map gives never falls as the buffer grows, and is at most one above the map.
    #[test]
    fn rate_map_is_monotone(
        rates in rates(), reservoir in 0..100u64, cushion in 0..200u64, previous in 0..10usize, buffers in vec(0..400u64, 2..50)
    ) {
        let ladder = Ladder::new(rates, Duration::from_seconds(4));
        let map = RateMap { reservoir: Duration::from_seconds(reservoir), cushion: Duration::from_seconds(cushion) };
        let previous = Some(previous.min(ladder.top()));
        let mut buffers = buffers;
        buffers.sort_unstable();
        let mut before = (0, 0.0);
        for buffered in buffers {
            let buffered = Duration::from_seconds(buffered);
            let (rung, rate) = (map.choose(&View { ladder: &ladder, buffered, previous, segment: 0, missing: None }), map.rate(&ladder, buffered));
            prop_assert!(rung >= before.0 && rate >= before.1);
            prop_assert!(rung == 0 || ladder.rate(rung - 1).0 as f64 <= rate);
            before = (rung, rate);
        }
    }

    /// A path of twice the highest rate never stalls a player after its start, whatever the rule.
    #[test]
    fn fast_path_never_stalls(specification in specification(), segments in 1..60usize) {
        let specification = VideoSpecification { sizes: None, ..specification };
        let top = specification.ladder.last().expect("a rate").0;
        let mut player = Player::new(&specification);
        let mut now = Time::ZERO;
        let mut next = player.next(now);
        let mut arrived = 0;
        while arrived < segments {
            next = match next {
                Next::Request(bytes) => {
                    arrived += 1;
                    now += Rate(2 * top).transmission_time(bytes);
                    player.on_segment(now)
                }
                Next::WaitUntil(moment) => {
                    now = moment;
                    player.next(now)
                }
                Next::End => break,
            };
        }
        let room = specification.buffer - specification.segment;
        let seen = player.playback(now);
        // With room for one segment only, the next is requested when the buffer is empty, and each one stalls.
        prop_assert!(seen.stalls == 0 || room * 2 <= specification.segment, "{seen:?}");
    }
}
