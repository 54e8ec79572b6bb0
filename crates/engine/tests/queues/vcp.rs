//! The router of VCP: the equations of Xia et al. 2005.

use sojourn_engine::packet::{LoadFactor, flags};
use sojourn_engine::queue::{QueueDiscipline, VcpRouter, VcpRouterParameters};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use super::bench::{Bench, UNLIMITED, packet};

/// A VCP router on a link of 12 Mbit/s, 1500 B in 1 ms, with a target utilisation of 1.
fn vcp_router(parameters: VcpRouterParameters) -> Bench<VcpRouter> {
    let mut router = VcpRouter::new(UNLIMITED, VcpRouterParameters { target_utilisation: 1.0, ..parameters });
    router.set_link_rate(Rate(12_000_000));
    Bench::new(router, 1)
}

/// Sends packets of 1500 bytes in each millisecond, and takes as many if the link can send them, until the end of the
/// second measuring interval. An interval counts the arrivals after the timer of the previous one.
fn load_router(bench: &mut Bench<VcpRouter>, arrivals: impl Fn(u64) -> u64, departs: bool) {
    for millisecond in 1..=400 {
        let now = Time::ZERO + Duration::from_milliseconds(millisecond);
        for _ in 0..arrivals(millisecond) {
            bench.enqueue(now, packet(1500, flags::ECT_1));
        }
        if departs {
            bench.dequeue(now);
        }
        if millisecond % 10 == 0 {
            bench.queue.on_timer(now);
        }
    }
}

/// The load factor of a constant rate is its share of the link's, exactly: lambda / (C t_rho) without a queue (Xia et
/// al. 2005). Codes: low below 0.8, high below 1, overload from 1 on.
#[test]
fn load_factor_of_constant_rate() {
    for (in_ten, code) in [(0, LoadFactor::Low), (7, LoadFactor::Low), (8, LoadFactor::High), (9, LoadFactor::High)] {
        let mut bench = vcp_router(VcpRouterParameters::default());
        load_router(&mut bench, |millisecond| u64::from(millisecond % 10 < in_ten), true);
        assert_eq!(bench.queue.load_factor(), in_ten as f64 / 10.0);
        assert_eq!(bench.queue.code(), code, "{in_ten} tenths");
    }
    let mut bench = vcp_router(VcpRouterParameters::default());
    load_router(&mut bench, |_| 1, true);
    assert_eq!((bench.queue.load_factor(), bench.queue.code()), (1.0, LoadFactor::Overload));
    // A target utilisation of gamma multiplies the load by 1 / gamma.
    let parameters = VcpRouterParameters { target_utilisation: 0.8, ..VcpRouterParameters::default() };
    let mut router = VcpRouter::new(UNLIMITED, parameters);
    router.set_link_rate(Rate(12_000_000));
    let mut bench = Bench::new(router, 1);
    load_router(&mut bench, |millisecond| u64::from(millisecond % 10 < 6), true);
    assert!((bench.queue.load_factor() - 0.75).abs() < 1e-12, "{}", bench.queue.load_factor());
}

/// The persistent queue is weighted by kappa_q: after two intervals of a filter with weight 1/4, 40 packets that stay
/// count as 0.5 (1 - 0.75^2) 40 = 8.75 packets, of the 200 that the link sends in an interval.
#[test]
fn persistent_queue() {
    let mut bench = vcp_router(VcpRouterParameters::default());
    for _ in 0..40 {
        bench.enqueue(Time::ZERO, packet(1500, flags::ECT_1));
    }
    load_router(&mut bench, |_| 0, false);
    assert!((bench.queue.load_factor() - 8.75 / 200.0).abs() < 1e-12, "{}", bench.queue.load_factor());
    let parameters = VcpRouterParameters { queue_weight: 0.0, ..VcpRouterParameters::default() };
    let mut bench = vcp_router(parameters);
    bench.enqueue(Time::ZERO, packet(1500, flags::ECT_1));
    load_router(&mut bench, |_| 0, false);
    assert_eq!(bench.queue.load_factor(), 0.0);
}

/// A packet gets the router's code unless it carries a greater one from an earlier router (Xia et al. 2005: the most
/// congested link of the path). Code 11 counts as a mark unless the packet arrived with it. Packets that are not
/// capable are not changed.
#[test]
fn greatest_code_of_path() {
    let passing = |arrivals: u64| {
        let mut bench = vcp_router(VcpRouterParameters::default());
        load_router(&mut bench, |millisecond| if millisecond % 10 < arrivals { 1 } else { 0 }, true);
        let marks = bench.outcome.marks;
        let codes = [0, flags::ECT_1, flags::ECT_0, flags::CONGESTION_EXPERIENCED].map(|bits| {
            bench.enqueue(Time::NEVER, packet(1500, bits));
            bench.dequeue(Time::NEVER).expect("a packet").packet.load_factor()
        });
        (codes, bench.outcome.marks - marks)
    };
    let [low, high, overload] = [LoadFactor::Low, LoadFactor::High, LoadFactor::Overload].map(Some);
    assert_eq!(passing(1), ([None, low, high, overload], 0));
    assert_eq!(passing(9), ([None, high, high, overload], 0));
    assert_eq!(passing(10), ([None, overload, overload, overload], 2));
}
