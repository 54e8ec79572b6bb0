//! The counters of a sender.

use crate::time::Duration;

/// Counters that are reset at the start of the measuring window.
#[derive(Clone, Copy, Debug, Default)]
pub struct SenderStatistics {
    /// Data segments sent, including retransmissions.
    pub segments_sent: u64,
    /// Data segments retransmitted.
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data outstanding, or of TFRC's nofeedback timer.
    pub timeouts: u64,
    /// Fast recovery episodes.
    pub fast_recoveries: u64,
    /// Reductions of the window because of congestion marks.
    pub mark_reductions: u64,
    /// Reductions undone because the retransmissions were spurious.
    pub undone_reductions: u64,
    /// Time in which only the receiver's buffer limited transmission.
    pub receiver_limited: Duration,
    /// RTT samples.
    pub rtt_samples: u64,
    /// Sum of the RTT samples.
    pub rtt_sum: Duration,
    /// The smallest RTT sample.
    pub min_rtt: Duration,
    /// The largest RTT sample.
    pub max_rtt: Duration,
}

impl SenderStatistics {
    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = if self.rtt_samples == 0 { rtt } else { self.min_rtt.min(rtt) };
        self.max_rtt = self.max_rtt.max(rtt);
        self.rtt_sum = self.rtt_sum + rtt;
        self.rtt_samples += 1;
    }
}
