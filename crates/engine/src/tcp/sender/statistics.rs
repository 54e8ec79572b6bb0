//! The counters of a sender.

use crate::time::Duration;

/// Counters that are reset at the start of the measuring window.
#[derive(Clone, Copy, Debug, Default)]
#[repr(C)]
pub struct SenderStatistics {
    /// Data segments sent, including retransmissions.
    pub segments_sent: u64,
    pub rtt_samples: u64,
    pub rtt_sum: Duration,
    pub min_rtt: Duration,
    pub max_rtt: Duration,
    pub retransmissions: u64,
    /// Expiries of the retransmission timer with data outstanding, or of TFRC's nofeedback timer.
    pub timeouts: u64,
    pub fast_recoveries: u64,
    /// Reductions of the window because of congestion marks.
    pub mark_reductions: u64,
    /// Reductions undone because the retransmissions were spurious.
    pub undone_reductions: u64,
    /// Time in which only the receiver's buffer limited transmission.
    pub receiver_limited: Duration,
    /// Time in which only the sender's own buffer did.
    pub send_buffer_limited: Duration,
}

impl SenderStatistics {
    pub(crate) fn on_rtt(&mut self, rtt: Duration) {
        self.min_rtt = if self.rtt_samples == 0 { rtt } else { self.min_rtt.min(rtt) };
        self.max_rtt = self.max_rtt.max(rtt);
        self.rtt_sum = self.rtt_sum + rtt;
        self.rtt_samples += 1;
    }

    pub(crate) fn add(&mut self, other: &SenderStatistics) {
        self.segments_sent += other.segments_sent;
        self.retransmissions += other.retransmissions;
        self.timeouts += other.timeouts;
        self.fast_recoveries += other.fast_recoveries;
        self.mark_reductions += other.mark_reductions;
        self.undone_reductions += other.undone_reductions;
        self.receiver_limited = self.receiver_limited + other.receiver_limited;
        self.send_buffer_limited = self.send_buffer_limited + other.send_buffer_limited;
        if other.rtt_samples > 0 {
            let is_first = self.rtt_samples == 0;
            self.min_rtt = if is_first { other.min_rtt } else { self.min_rtt.min(other.min_rtt) };
            self.max_rtt = self.max_rtt.max(other.max_rtt);
            self.rtt_sum = self.rtt_sum + other.rtt_sum;
            self.rtt_samples += other.rtt_samples;
        }
    }
}
