//! Base round-trip times, and the queue limits that depend on them.

use crate::queue::Limit;
use crate::specification::{LinkSpecification, QueueLimit};
use crate::time::{Duration, PICOSECONDS_PER_SECOND};
use crate::units::Rate;

/// The packets in which a bandwidth-delay product is counted, in bytes.
const REFERENCE_PACKET: u64 = 1500;

/// The propagation delays of some links, added up.
pub fn delay_over(crossed: impl IntoIterator<Item = usize>, links: &[LinkSpecification]) -> Duration {
    crossed.into_iter().fold(Duration::ZERO, |sum, link| sum + links[link].delay)
}

/// For each link the longest base round-trip time of the flows that cross it, there or back. It is the propagation delay
/// alone, as it is at the start.
#[derive(Debug)]
pub struct RoundTrips {
    longest: Vec<Option<Duration>>,
}

impl RoundTrips {
    /// Links that no flow crosses yet.
    pub fn new(links: usize) -> RoundTrips {
        RoundTrips { longest: vec![None; links] }
    }

    pub fn add(&mut self, crossed: &[usize], links: &[LinkSpecification]) {
        let round_trip = delay_over(crossed.iter().copied(), links);
        for link in crossed {
            self.longest[*link] = self.longest[*link].max(Some(round_trip));
        }
    }

    /// The longest base round-trip time over a link; none without flows that are answered.
    pub fn over(&self, link: usize) -> Option<Duration> {
        self.longest[link]
    }

    /// The limit of the queue of a link with this rate, in packets or bytes.
    ///
    /// # Errors
    /// One line if it is in bandwidth-delay products and there is no round-trip time, or it is no possible number of packets.
    pub fn limit(&self, link: usize, rate: Rate, limit: QueueLimit) -> Result<Limit, String> {
        let amount = match limit {
            QueueLimit::Packets(packets) => return Ok(Limit::Packets(packets)),
            QueueLimit::Bytes(bytes) => return Ok(Limit::Bytes(bytes)),
            QueueLimit::BandwidthDelayProducts(amount) => amount,
        };
        let Some(round_trip) = self.over(link) else {
            return Err(format!(
                "limit: {amount} BDP need a round-trip time, but no flow with a return path crosses the link; give it in \
                 packets or bytes"
            ));
        };
        let at = format!("limit: {amount} BDP at a base round-trip time of {} s", round_trip.seconds());
        match packets(amount, rate, round_trip) {
            Some(0) => Err(format!("{at} is 0 packets; must be at least 1")),
            Some(packets) => Ok(Limit::Packets(packets)),
            None => Err(format!("{at} is out of range; must be 1 to {} packets", u64::MAX)),
        }
    }
}

/// A number of bandwidth-delay products in packets, rounded up; none if that is no such number. The amount is read as a
/// decimal number, so that the result is exact.
fn packets(amount: f64, rate: Rate, round_trip: Duration) -> Option<u64> {
    let written = amount.to_string();
    let (whole, fraction) = written.split_once('.').unwrap_or((&written, ""));
    let digits: u128 = format!("{whole}{fraction}").parse().ok()?;
    let product = digits.checked_mul(u128::from(rate.0))?.checked_mul(u128::from(round_trip.0))?;
    let packet = u128::from(8 * REFERENCE_PACKET) * u128::from(PICOSECONDS_PER_SECOND);
    let parts = 10u128.checked_pow(fraction.len() as u32)?.checked_mul(packet)?;
    u64::try_from(product.div_ceil(parts)).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 12 Mbit/s are one packet of 1500 bytes per millisecond. Decimal amounts are exact: 0.1 of 70 packets are 7, not
    /// the 8 that binary fractions rounded up would give.
    #[test]
    fn bandwidth_delay_products() {
        let of = |amount, milliseconds| packets(amount, Rate(12_000_000), Duration::from_milliseconds(milliseconds));
        // 622 Mbit/s for 50 ms are 3,887,500 bytes; eight times that are 20,733.3 packets of 1500.
        assert_eq!(packets(8.0, Rate(622_000_000), Duration::from_milliseconds(50)), Some(20_734));
        assert_eq!([of(1.0, 1), of(0.1, 1), of(1.5, 10), of(2.0, 20)], [1, 1, 15, 40].map(Some));
        assert_eq!(of(0.1, 70), Some(7));
        assert_eq!(of(0.1, 71), Some(8));
        assert_eq!(of(1e-9, 1), Some(1));
        assert_eq!(of(8.0, 0), Some(0));
        assert_eq!([of(-1.0, 20), of(f64::NAN, 20), of(1e30, 20), of(1e-300, 20)], [None; 4]);
    }
}
