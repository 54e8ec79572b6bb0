//! How long a transfer takes at least.

use crate::application::TransferKind;
use crate::network::delay_over;
use crate::specification::LinkSpecification;
use crate::tcp::profile::StackProfile;
use crate::time::Duration;
use crate::workload::SlowestLink;

/// The path of a group of flows, as far as it bounds the time that their transfers take.
#[derive(Clone, Copy, Debug)]
pub struct Ideal {
    /// The slowest link there, and the packets.
    pub path: SlowestLink,
    /// The propagation delays there and back, as they are at the start.
    pub round_trip: Duration,
    /// The propagation delay there.
    pub there: Duration,
}

impl Ideal {
    /// Over links there and back, for packets of a stack whose SYN has this size.
    pub fn new(links: &[LinkSpecification], there: &[usize], back: &[usize], stack: &StackProfile, syn: u64) -> Ideal {
        let delay = |way: &[usize]| delay_over(way.iter().copied(), links);
        Ideal {
            path: SlowestLink {
                rate: there.iter().map(|link| links[*link].rate).min().unwrap_or_default(),
                segment: stack.segment_size.0,
                overhead: stack.segment_overhead(),
                syn,
            },
            round_trip: delay(there) + delay(back),
            there: delay(there),
        }
    }

    /// The least time that something takes: of a request, a round trip and the transmission of the response; of a page, as of the transfer
    /// of all its bytes, whose last round trip is that of the first request; of a report, the way there and its transmission.
    pub fn of_kind(&self, kind: TransferKind, bytes: u64) -> Duration {
        match kind {
            TransferKind::Transfer | TransferKind::Page => self.of(bytes),
            TransferKind::Request => self.of(bytes) - self.round_trip,
            TransferKind::Report => self.of(bytes) - self.round_trip * 2 + self.there,
        }
    }

    /// The least time from the opening of a connection to the acknowledgement of its last byte: a round trip for the handshake, the
    /// transmission of the data with headers at the rate of the slowest link, and a round trip for the last segment and its
    /// acknowledgement. No queue, window or loss adds to it.
    pub fn of(&self, bytes: u64) -> Duration {
        let SlowestLink { rate, segment, overhead, .. } = self.path;
        let on_the_wire = bytes.saturating_add(bytes.div_ceil(segment).saturating_mul(overhead));
        self.round_trip * 2 + rate.transmission_time(on_the_wire)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::Rate;

    /// 14,600 bytes in ten segments of 1500 bytes take 12 ms at 10 Mbit/s, after two round trips.
    #[test]
    fn ten_segments() {
        let path = SlowestLink { rate: Rate(10_000_000), segment: 1460, overhead: 40, syn: 40 };
        let ideal = Ideal { path, round_trip: Duration::from_milliseconds(50), there: Duration::from_milliseconds(20) };
        assert_eq!(ideal.of(14_600), Duration::from_milliseconds(112));
        assert_eq!(ideal.of_kind(TransferKind::Report, 14_600), Duration::from_milliseconds(32));
    }
}
