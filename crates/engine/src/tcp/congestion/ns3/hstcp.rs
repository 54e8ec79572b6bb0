//! HighSpeed TCP in ns-3 tcp-highspeed.cc: a(w) and b(w) are those of RFC 3649 appendix B's table, and the window grows by
//! whole segments.

use crate::tcp::congestion::linux::hstcp::WINDOWS;
use crate::tcp::window::Window;

/// The window of the table's last row, which `WINDOWS` lacks.
const LAST_WINDOW: u64 = 94_717;

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub struct HighSpeedRows {
    /// Segments acknowledged, each a(w) times, that have not grown the window: m_ackCnt. A loss leaves it.
    count: u64,
}

impl HighSpeedRows {
    /// Data of so many bytes are acknowledged: CongestionAvoidance.
    pub fn increase(&mut self, window: &mut Window, acknowledged: u64) {
        let mut segments = window.cwnd / window.mss;
        self.count += acknowledged.div_ceil(window.mss) * (row(segments) as u64 + 1);
        if self.count < segments {
            return;
        }
        while self.count >= segments {
            self.count -= segments;
            segments += 1;
        }
        window.cwnd = segments * window.mss;
    }

    /// A loss or marks at this flight size: GetSsThresh. `decrease` is b(w), which the table has in hundredths.
    pub fn reduce(&self, window: &mut Window, flight_size: u64, decrease: impl Fn(f64) -> f64) {
        let flight = flight_size / window.mss;
        let last = WINDOWS.get(row(flight)).copied().unwrap_or(LAST_WINDOW);
        let left = 100 - libm::round(100.0 * decrease(last as f64)) as u64;
        window.set_ssthresh((flight * left / 100).max(2) * window.mss);
    }
}

/// The row of the table for a window, in segments: TableLookupA and TableLookupB.
fn row(window: u64) -> usize {
    WINDOWS.partition_point(|&greatest| greatest < window)
}
