//! The law of the token bucket filter.

use sojourn_engine::queue::{DropCause, Limit, QueueDiscipline, Tbf, TbfParameters};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::{Bytes, Rate};

use super::bench::{Bench, UNLIMITED, packet};

const PICOBITS: u128 = 8_000_000_000_000;

/// Law tbf, exact: in no interval is more sent than the bucket and the tokens of that time. Nor less: a packet is sent
/// at the first picosecond at which it may be.
#[test]
fn exact_rate_and_burst() {
    for (rate, burst) in [(1_234_567, 3_001), (10_000_000, 1_500), (999_999_999, 20_000)] {
        let parameters = TbfParameters { rate: Rate(rate), burst: Bytes(burst) };
        let mut bench = Bench::new(Tbf::new(UNLIMITED, parameters), 1);
        let mut random = Random::stream(3, Purpose::Source, 0);
        let mean = Rate(rate).transmission_time(800);
        let mut sent: Vec<(Time, u128)> = Vec::new();
        let mut now = Time::ZERO;
        for round in 0..1_500u64 {
            // Alternating idle and overloaded periods.
            now += random.below(mean * if round % 300 < 100 { 6 } else { 1 });
            bench.enqueue(now, packet(40 + random.index(1461) as u16, 0));
            while let Some(packet) = bench.dequeue(now) {
                sent.push((now, u128::from(packet.packet.size) * PICOBITS));
            }
            if let Some(release) = bench.queue.release_time().filter(|_| round % 7 == 0) {
                assert!(bench.dequeue(Time(release.0 - 1)).is_none(), "a picosecond early");
                let packet = bench.dequeue(release).expect("when it says");
                sent.push((release, u128::from(packet.packet.size) * PICOBITS));
                now = now.max(release);
            }
        }
        let bucket = u128::from(burst) * PICOBITS;
        let mut slack = u128::MAX;
        for (first, (start, _)) in sent.iter().enumerate() {
            let mut sum = 0;
            for (time, size) in &sent[first..] {
                sum += size;
                let bound = bucket + u128::from(rate) * u128::from(time.since(*start).0);
                assert!(sum <= bound, "{sum} in {:?}, bound {bound}", time.since(*start));
                slack = slack.min(bound - sum);
            }
        }
        assert!(slack < 2 * u128::from(rate), "the bound is reached: {slack}");
    }
}

/// A full bucket is sent at once, then packets at the rate. Tokens beyond the bucket are lost.
#[test]
fn burst_then_rate() {
    let parameters = TbfParameters { rate: Rate(12_000_000), burst: Bytes(4_500) };
    for idle in [0, 5_000] {
        let mut bench = Bench::new(Tbf::new(UNLIMITED, parameters.clone()), 1);
        let start = Time::ZERO + Duration::from_milliseconds(idle);
        for _ in 0..6 {
            bench.enqueue(start, packet(1500, 0));
        }
        for _ in 0..3 {
            assert!(bench.dequeue(start).is_some());
        }
        for packets in 1..=3 {
            assert!(bench.dequeue(start).is_none());
            let release = start + Duration::from_milliseconds(packets);
            assert_eq!(bench.queue.release_time(), Some(release));
            assert!(bench.dequeue(release).is_some());
        }
        assert_eq!((bench.queue.packets(), bench.queue.release_time()), (0, None));
    }
}

/// Overflows are counted as such, and packets larger than the bucket are dropped, since they could never be sent.
#[test]
fn overflow() {
    let parameters = TbfParameters { rate: Rate(1_000_000), burst: Bytes(1_000) };
    let mut bench = Bench::new(Tbf::new(Limit::Packets(2), parameters), 1);
    bench.enqueue(Time::ZERO, packet(1_001, 0));
    for _ in 0..3 {
        bench.enqueue(Time::ZERO, packet(1_000, 0));
    }
    assert_eq!((bench.drops(DropCause::Early), bench.drops(DropCause::Overflow)), (1, 1));
    assert_eq!(bench.queue.packets(), 2);
}
