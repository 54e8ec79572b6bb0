//! HighSpeed TCP in Linux tcp_highspeed.c: each acknowledgement counts a(w) towards the next segment, however many
//! segments it acknowledges, and a(w) and b(w) are those of RFC 3649 appendix B's table.

use super::HighSpeedParameters;
use super::table::WINDOWS;
use crate::tcp::congestion::kernel::{Steps, segments, set_ssthresh};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;
use crate::time::Time;

control! {
    Linux(HighSpeedParameters as parameters) {
        steps: Steps,
        /// The row of the window at the last acknowledgement in congestion avoidance, which a loss in slow start does not
        /// know.
        row: usize,
    }
}

impl CongestionControl for Linux {
    /// hstcp_cong_avoid.
    fn increase(&mut self, window: &mut Window, _ack: &Ack) {
        let cwnd = segments(window);
        while cwnd > WINDOWS[self.row] && self.row < WINDOWS.len() - 1 {
            self.row += 1;
        }
        while self.row > 0 && cwnd <= WINDOWS[self.row - 1] {
            self.row -= 1;
        }
        self.steps.count += self.row as u64 + 1;
        if self.steps.count >= cwnd {
            self.steps.count -= cwnd;
            window.cwnd += window.mss;
        }
    }

    /// hstcp_ssthresh. The table has b(w) in 256ths.
    fn reduce(&mut self, window: &mut Window, flight_size: u64, _now: Time) {
        let lost = (256.0 * self.parameters.decrease(WINDOWS[self.row] as f64)) as u64;
        let flight = flight_size / window.mss;
        set_ssthresh(window, flight - ((flight * lost) >> 8));
        self.steps.restart();
    }
}
