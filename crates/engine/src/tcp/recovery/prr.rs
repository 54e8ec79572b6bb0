//! Proportional rate reduction (RFC 9937 section 6, which replaces RFC 6937).

/// The state of one episode, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProportionalRateReduction {
    recover_fs: u64,
    delivered: u64,
    out: u64,
}

impl ProportionalRateReduction {
    /// Begins an episode (section 6.1). `recover_fs` is the data neither SACKed before the acknowledgement that began
    /// it nor acknowledged.
    pub fn new(recover_fs: u64) -> ProportionalRateReduction {
        ProportionalRateReduction { recover_fs: recover_fs.max(1), delivered: 0, out: 0 }
    }

    /// The congestion window after an acknowledgement that delivered data and does not end the episode (section 6.2);
    /// `None` leaves it as it is. `safe` tells that SND.UNA advanced and no further loss was found.
    pub fn on_ack(&mut self, delivered: u64, inflight: u64, ssthresh: u64, safe: bool, mss: u64) -> Option<u64> {
        if delivered == 0 {
            return None;
        }
        self.delivered += delivered;
        let mut send_count = if inflight > ssthresh {
            // Rounded up to whole segments, in which the RFC's examples (section 8) count and in which we send.
            let allowed = (u128::from(self.delivered) * u128::from(ssthresh)).div_ceil(u128::from(self.recover_fs));
            (allowed as u64).next_multiple_of(mss).saturating_sub(self.out)
        } else {
            let bound = self.delivered.saturating_sub(self.out).max(delivered);
            (ssthresh - inflight).min(bound + if safe { mss } else { 0 })
        };
        if self.out == 0 && send_count == 0 {
            send_count = mss; // The fast retransmit itself is always sent.
        }
        Some(inflight + send_count)
    }

    /// Data was sent (section 6.3).
    pub fn on_sent(&mut self, bytes: u64) {
        self.out += bytes;
    }
}
