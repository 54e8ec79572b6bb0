//! The retransmission timeout: RFC 6298.

use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::tcp::rto::{Rto, RtoLimits, RttEstimator};
use sojourn_engine::time::Duration;

use super::flow::{assert_close, milliseconds, number, numbers, vectors};

/// SRTT and RTTVAR follow the published samples. With RFC 6298's gains the timeout is SRTT + 4 RTTVAR.
#[test]
fn rtt_estimator() {
    for vector in vectors("congestion", "rtt-estimator") {
        let inputs = &vector["inputs"];
        let tolerance = number(&vector["tolerance"]);
        let (alpha, beta) = (number(&inputs["alpha"]), number(&inputs["beta"]));
        let mut estimator = RttEstimator::default();
        let limits = RtoLimits {
            initial: Duration::from_seconds(1),
            minimum: Duration::ZERO,
            maximum: Duration::from_seconds(60),
            granularity: Duration::ZERO,
        };
        let mut rto = Rto::new(&limits);
        let expected = numbers(&vector["expected"]["srtt_s"]).into_iter().zip(numbers(&vector["expected"]["rttvar_s"]));
        for (sample, (srtt, rttvar)) in numbers(&inputs["samples_s"]).into_iter().zip(expected) {
            let sample = Duration::from_seconds_f64(sample);
            estimator.sample_with_gains(sample, alpha, beta);
            assert_close("SRTT", estimator.srtt().unwrap(), srtt, tolerance);
            assert_close("RTTVAR", estimator.rttvar().unwrap(), rttvar, tolerance);
            if (alpha, beta) == (0.125, 0.25) {
                rto.sample(sample, &limits);
                assert_close("RTO", rto.timeout(&limits).seconds(), srtt + 4.0 * rttvar, tolerance);
            }
        }
    }
}

/// The timeout doubles with each expiry up to its maximum and stays there. An RTT sample ends the backoff.
#[test]
fn backoff() {
    for vector in vectors("congestion", "rto-backoff") {
        let limits = RtoLimits {
            initial: Duration::from_seconds_f64(number(&vector["inputs"]["initial_rto_s"])),
            minimum: Duration::from_seconds(1),
            maximum: Duration::from_seconds_f64(number(&vector["expected"]["cap_s"])),
            granularity: Duration::from_milliseconds(1),
        };
        let mut rto = Rto::new(&limits);
        let tolerance = number(&vector["tolerance"]);
        for expected in numbers(&vector["expected"]["rto_sequence_s"]) {
            assert_close("timeout", rto.timeout(&limits).seconds(), expected, tolerance);
            rto.back_off();
        }
        (0..100).for_each(|_| rto.back_off());
        assert_close("timeout", rto.timeout(&limits).seconds(), number(&vector["expected"]["cap_s"]), tolerance);
        rto.sample(Duration::from_seconds(1), &limits);
        assert_close("timeout after a first sample of 1 s", rto.timeout(&limits).seconds(), 3.0, tolerance);
    }
}

/// RFC 6298 (2.2) and (2.4): the timeout is at least its minimum, and at least SRTT plus the clock granularity.
#[test]
fn bounds() {
    let limits = |minimum| RtoLimits {
        initial: Duration::from_seconds(1),
        minimum,
        maximum: Duration::from_seconds(60),
        granularity: milliseconds(10.0),
    };
    for (minimum, expected) in [(1000.0, 1.0), (200.0, 0.2), (1.0, 0.11)] {
        let limits = limits(milliseconds(minimum));
        let mut rto = Rto::new(&limits);
        (0..100).for_each(|_| rto.sample(milliseconds(100.0), &limits));
        assert_close("timeout", rto.timeout(&limits).seconds(), expected, 1e-9);
    }
}

/// In Linux the minimum of 200 ms applies to the margin above the RTT, not to the whole timeout (tcp_input.c,
/// tcp_rtt_estimator).
#[test]
fn linux_minimum() {
    let limits = StackProfile::of_name("linux-6").expect("a profile").rto_limits();
    let mut rto = Rto::new(&limits);
    for _ in 0..200 {
        rto.sample(milliseconds(100.0), &limits);
    }
    assert_eq!(rto.timeout(&limits), milliseconds(300.0));
}
