//! What keeps the sender from sending when the congestion window does not: the end of the stream or a buffer. The time in
//! which it is the receiver's is what Linux counts as `tcpi_rwnd_limited` (net/ipv4/tcp_output.c, tcp_write_xmit,
//! `TCP_CHRONO_RWND_LIMITED`).

use super::{Sender, SenderStatistics};
use crate::time::Time;

impl Sender {
    /// The congestion window has room, and there is nothing to send.
    #[cold]
    #[inline(never)]
    pub(super) fn on_limited(&mut self, now: Time) {
        self.window_limited = false;
        if let Some(delivery) = &mut self.delivery {
            delivery.on_app_limited(self.flight.pipe());
        }
        if self.has_more() && !self.may_send_new() && self.profile.receive_buffer.0 <= self.profile.send_buffer.0 {
            self.receiver_limits_since = now;
        }
    }

    /// The sender tries again.
    #[cold]
    #[inline(never)]
    pub(super) fn on_unlimited(&mut self, now: Time) {
        self.window_limited = true;
        self.statistics = self.statistics_at(now);
        self.receiver_limits_since = Time::NEVER;
    }

    /// Starts counting anew: the measuring window opens.
    pub fn open_window(&mut self, now: Time) {
        self.statistics = SenderStatistics::default();
        if self.receiver_limits_since != Time::NEVER {
            self.receiver_limits_since = now;
        }
    }

    /// The counters up to now.
    pub fn statistics_at(&self, now: Time) -> SenderStatistics {
        let mut statistics = self.statistics;
        if self.receiver_limits_since != Time::NEVER {
            statistics.receiver_limited = statistics.receiver_limited + now.since(self.receiver_limits_since);
        }
        statistics
    }
}
