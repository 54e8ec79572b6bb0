//! HighSpeed TCP in ns-3 tcp-highspeed.cc: a(w) and b(w) are those of RFC 3649 appendix B's table, and the window grows by
//! whole segments.

use super::HighSpeedParameters;
use super::table::{LAST_WINDOW, WINDOWS};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Ns3(HighSpeedParameters as parameters) {
        /// Segments acknowledged, each a(w) times, that have not grown the window: m_ackCnt. A loss leaves it.
        count: u64,
    }
}

impl CongestionControl for Ns3 {
    /// CongestionAvoidance.
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let mut segments = window.cwnd / window.mss;
        self.count += ack.credit.div_ceil(window.mss) * (row(segments) as u64 + 1);
        if self.count < segments {
            return;
        }
        while self.count >= segments {
            self.count -= segments;
            segments += 1;
        }
        window.cwnd = segments * window.mss;
    }

    /// GetSsThresh. The table has b(w) in hundredths.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let flight = flight_size / window.mss;
        let last = WINDOWS.get(row(flight)).copied().unwrap_or(LAST_WINDOW);
        let left = 100 - libm::round(100.0 * self.parameters.decrease(last as f64)) as u64;
        window.set_ssthresh((flight * left / 100).max(2) * window.mss);
    }
}

/// The row of the table for a window, in segments: TableLookupA and TableLookupB.
fn row(window: u64) -> usize {
    WINDOWS.partition_point(|&greatest| greatest < window)
}
