//! Tail drop.

use sojourn_engine::queue::{DropCause, DropTail, DropTailParameters, Limit};
use sojourn_engine::random::{Purpose, Random};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, Event, TRANSMISSION, constant, count, data, drive, number, packet};

/// Law cbr-droptail: overloaded by a constant rate rho, DropTail loses 1 - 1/rho and delays by its queue: a packet that
/// takes the place of one just sent waits for the whole buffer, any other for less by the time since then.
#[test]
fn constant_rate_overload() {
    let data = data();
    let row = &data["laws"]["cbr-droptail"]["worked"][0];
    assert_eq!(number(&row["loss"]), 1.0 - 1.0 / number(&row["rho"]));
    let buffer = 50;
    let full = TRANSMISSION * buffer;
    for rho in [number(&row["rho"]), 1.1, 1.5, 3.0] {
        let spacing = Duration::from_seconds_f64(TRANSMISSION.seconds() / rho);
        let mut bench = Bench::new(DropTail::new(Limit::Packets(buffer), DropTailParameters::default()), 1);
        let warm_up = Time::ZERO + Duration::from_seconds(5);
        let end = Time::ZERO + Duration::from_seconds(65);
        let (mut sent, mut dropped) = (0.0, 0.0);
        drive(&mut bench, TRANSMISSION, constant(Time::ZERO, end, spacing), end, |now, event, _| match event {
            _ if now < warm_up => {}
            Event::Dropped(cause) => {
                assert_eq!(cause, DropCause::Overflow);
                dropped += 1.0;
            }
            Event::Sent(waited) => {
                sent += 1.0;
                if rho.fract() == 0.0 {
                    assert_eq!(waited, full, "load {rho}");
                }
                assert!(waited <= full && full - waited < spacing, "load {rho}: {waited:?}");
            }
            Event::Timer | Event::Marked => unreachable!("DropTail has no timer and does not mark"),
        });
        let loss = dropped / (sent + dropped);
        assert!((loss - (1.0 - 1.0 / rho)).abs() < 0.005 * (1.0 - 1.0 / rho), "load {rho}: loss {loss}");
    }
}

/// The loss ratio of Poisson arrivals with exponential sizes at a link whose queue has room for `capacity` packets less
/// one.
fn loss_of_exponential_sizes(rho: f64, capacity: u64, seed: u64) -> f64 {
    // With sizes limited to 65535 bytes, 1.8e-5 of the load is lost.
    let mean_size = 6000;
    let rate = Rate(10_000_000);
    let mean_spacing = Duration::from_seconds_f64(rate.transmission_time(mean_size).seconds() / rho);
    let mut bench = Bench::new(DropTail::new(Limit::Packets(capacity - 1), DropTailParameters::default()), 1);
    let mut arrivals = Random::stream(seed, Purpose::Source, 0);
    let mut sizes = Random::stream(seed, Purpose::Source, 1);
    let (mut now, mut free_at) = (Time::ZERO, Time::ZERO);
    let count = 200_000;
    for _ in 0..count {
        now += arrivals.exponential(mean_spacing);
        while free_at <= now
            && let Some(queued) = bench.dequeue(free_at)
        {
            free_at += rate.transmission_time(u64::from(queued.packet.size));
        }
        let size = -libm::log(1.0 - sizes.unit()) * mean_size as f64;
        bench.enqueue(now, packet((size.round() as u16).max(1), 0));
        // An idle link takes it immediately.
        if free_at <= now {
            let taken = bench.dequeue(now).expect("it has just come");
            free_at = now + rate.transmission_time(u64::from(taken.packet.size));
        }
    }
    bench.drops(DropCause::Overflow) as f64 / f64::from(count)
}

/// Law mm1k: the loss is (1 - r) r^K / (1 - r^(K+1)), with the packet in transmission included in K, within three
/// standard errors over 40 runs.
#[test]
fn mm1k_loss() {
    let data = data();
    for row in data["laws"]["mm1k"]["worked"].as_array().unwrap() {
        let (rho, capacity, law) = (number(&row["rho"]), count(&row["K"]), number(&row["loss"]));
        let runs = 40;
        let losses: Vec<f64> = (0..runs).map(|seed| loss_of_exponential_sizes(rho, capacity, seed)).collect();
        let mean = losses.iter().sum::<f64>() / runs as f64;
        let squares: f64 = losses.iter().map(|loss| (loss - mean).powi(2)).sum();
        let error = (squares / (runs * (runs - 1)) as f64).sqrt();
        assert!(error < 0.05 * law, "load {rho}: {mean} give or take {error} says little");
        assert!((mean - law).abs() < 3.0 * error, "load {rho}: loss {mean} give or take {error}, by the law {law}");
    }
}
