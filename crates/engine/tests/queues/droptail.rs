//! Tail drop.

use sojourn_engine::queue::{DropCause, DropTail, DropTailParameters, Limit};
use sojourn_engine::time::{Duration, Time};

use super::bench::{Bench, Event, TRANSMISSION, constant, data, drive, number};

/// Law cbr-droptail: overloaded by a constant rate, DropTail loses 1 - 1/rho and delays by what it holds: a packet
/// that takes the place of one just sent waits for the whole buffer, any other for less by the time since then.
#[test]
fn droptail_loses_and_delays_by_its_law() {
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
