//! Vegas's backlog as Linux computes it: tcp_vegas.c, tcp_vegas_cong_avoid.

use crate::tcp::congestion::round_trips::RoundTrip;
use crate::time::Duration;

/// Round-trip times are in microseconds, and never zero (tcp_vegas_pkts_acked).
fn microseconds(rtt: Duration) -> u128 {
    u128::from(rtt.0 / Duration::from_microseconds(1).0) + 1
}

/// The segments of a window in the queue: cwnd (RTT - base RTT) / base RTT, rounded down.
pub fn backlog(segments: u64, round_trip: RoundTrip) -> u64 {
    let (rtt, base) = (microseconds(round_trip.min_rtt_of_round), microseconds(round_trip.min_rtt));
    (u128::from(segments) * (rtt - base) / base) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The expression of tcp_vegas_cong_avoid by hand: with a base RTT of 40 ms and one of 41.999 ms, 20 segments have a
    /// backlog of 0.99, thus 0, and 100 segments of 4.99, thus 4. Rounded up, Brakmo and Peterson's backlog is 1 and 5.
    #[test]
    fn backlog_by_hand() {
        let [min_rtt, min_rtt_of_round] = [40_000 - 1, 41_999 - 1].map(Duration::from_microseconds);
        let round_trip = RoundTrip { min_rtt, min_rtt_of_round };
        for (segments, expected) in [(20, 0), (100, 4), (0, 0)] {
            assert_eq!(backlog(segments, round_trip), expected, "{segments} segments");
        }
    }
}
