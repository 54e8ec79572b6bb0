//! REM: Athuraliya, Li, Low and Yin 2001.

use serde_json::json;
use sojourn_engine::packet::flags;
use sojourn_engine::queue::{DropCause, QueueDiscipline, Rem, RemParameters};
use sojourn_engine::time::Time;
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};

/// REM on a link of 12 Mbit/s, which sends two packets of 1500 bytes per update interval of 2 ms.
fn rem(parameters: RemParameters) -> Bench<Rem> {
    let mut rem = Rem::new(UNLIMITED, parameters);
    rem.set_link_rate(Rate(12_000_000));
    Bench::new(rem, 1)
}

/// The price, calculated by hand: ten packets arrive and stay, so it becomes gamma (alpha (10 - 20) + 10 - 2) = 0.007.
/// Without further arrivals each update subtracts gamma (1 + 2) = 0.003, down to zero.
#[test]
fn price_equation() {
    let mut bench = rem(RemParameters::default());
    for _ in 0..10 {
        bench.enqueue(Time::ZERO, packet(1500, 0));
    }
    for price in [0.007, 0.004, 0.001, 0.0] {
        bench.queue.on_timer(Time::ZERO);
        let got = bench.queue.price();
        assert!((got - price).abs() < 1e-12, "{got} and {price}");
    }
    // Half a mean packet size counts as half a packet.
    bench.enqueue(Time::ZERO, packet(1500, 0));
    for _ in 0..5 {
        bench.enqueue(Time::ZERO, packet(750, 0));
    }
    bench.queue.on_timer(Time::ZERO);
    let (got, price) = (bench.queue.price(), 0.001 * (0.1 * (13.5 - 20.0) + 3.5 - 2.0));
    assert!((got - price).abs() < 1e-12, "{got} and {price}");
}

/// A link that becomes twice as fast sends twice as much per update.
#[test]
fn link_rate_change() {
    let mut bench = rem(RemParameters::default());
    bench.queue.set_link_rate(Rate(24_000_000));
    for _ in 0..10 {
        bench.enqueue(Time::ZERO, packet(1500, 0));
    }
    bench.queue.on_timer(Time::ZERO);
    assert!((bench.queue.price() - 0.005).abs() < 1e-12, "{}", bench.queue.price());
}

/// p = 1 - phi^-price: 1/2 at a price of ln 2 / ln 1.001 = 693.49. The share that passes two links equals that of one
/// link with the sum of their prices, which is the purpose of the exponential.
#[test]
fn prices_add_up() {
    let parameters = RemParameters::default();
    assert_eq!(parameters.drop_probability(0.0), 0.0);
    let half = parameters.drop_probability(693.49);
    assert!((half - 0.5).abs() < 1e-5, "{half}");
    for (first, second) in [(10.0, 20.0), (300.0, 5.0), (1000.0, 2000.0)] {
        let through = (1.0 - parameters.drop_probability(first)) * (1.0 - parameters.drop_probability(second));
        let together = 1.0 - parameters.drop_probability(first + second);
        assert!((through - together).abs() < 1e-12, "{through} and {together}");
    }
}

/// With ECN, ECN-capable packets are marked instead of dropped.
#[test]
fn marks() {
    let fates = |ecn: bool, ecn_flag: u8| {
        let parameters: RemParameters = serde_json::from_value(json!({"gamma": 1000, "phi": 10, "ecn": ecn})).unwrap();
        let mut bench = rem(parameters);
        for _ in 0..10 {
            bench.enqueue(Time::ZERO, packet(1500, 0));
        }
        bench.queue.on_timer(Time::ZERO);
        assert_eq!(bench.queue.drop_probability(), 1.0);
        bench.enqueue(Time::ZERO, packet(1500, ecn_flag));
        (bench.outcome.marks, bench.drops(DropCause::Early))
    };
    assert_eq!(fates(true, flags::ECT_0), (1, 0));
    assert_eq!(fates(true, 0), (0, 1));
    assert_eq!(fates(false, flags::ECT_0), (0, 1));
}
