//! The congestion window, shared by slow start, the algorithm and recovery.

/// The window variables of RFC 5681 section 3.1, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Window {
    pub cwnd: u64,
    /// Slow start threshold, `u64::MAX` until the first congestion event.
    pub ssthresh: u64,
    /// Sender maximum segment size, payload only.
    pub mss: u64,
}

impl Window {
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    pub fn segments(&self) -> f64 {
        self.cwnd as f64 / self.mss as f64
    }

    /// The minimum ssthresh after a loss: two segments (RFC 5681 equation 4).
    pub fn least_ssthresh(&self) -> u64 {
        2 * self.mss
    }

    /// Sets ssthresh after a congestion event, to at least two segments.
    pub fn set_ssthresh(&mut self, bytes: u64) {
        self.ssthresh = bytes.max(self.least_ssthresh());
    }

    /// Keeps three quarters of the window, in whole segments, as the least threshold: Linux tcp.h, tcp_current_ssthresh.
    pub fn keep_threshold(&mut self) {
        if self.ssthresh != u64::MAX {
            let segments = self.cwnd / self.mss;
            self.ssthresh = self.ssthresh.max((segments / 2 + segments / 4) * self.mss);
        }
    }

    /// Half of the flight size, as ssthresh after a loss (RFC 5681 equation 4).
    pub fn half(&self, flight_size: u64) -> u64 {
        (flight_size / 2).max(self.least_ssthresh())
    }
}
