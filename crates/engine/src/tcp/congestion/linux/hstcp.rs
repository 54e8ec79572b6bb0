//! HighSpeed TCP in Linux tcp_highspeed.c: each acknowledgement counts a(w) towards the next segment, however many
//! segments it acknowledges, and a(w) and b(w) are those of RFC 3649 appendix B's table.

use super::{Steps, segments, set_ssthresh};
use crate::tcp::window::Window;

/// The windows of RFC 3649 appendix B up to which a(w) is 1, 2 and so on: Linux tcp_highspeed.c, hstcp_aimd_vals, which
/// lacks the last row.
pub(in crate::tcp::congestion) const WINDOWS: [u64; 72] = [
    38, 118, 221, 347, 495, 663, 851, 1058, 1284, 1529, 1793, 2076, 2378, 2699, 3039, 3399, 3778, 4177, 4596, 5036,
    5497, 5979, 6483, 7009, 7558, 8130, 8726, 9346, 9991, 10661, 11358, 12082, 12834, 13614, 14424, 15265, 16137,
    17042, 17981, 18955, 19965, 21013, 22101, 23230, 24402, 25618, 26881, 28193, 29557, 30975, 32450, 33986, 35586,
    37253, 38992, 40808, 42707, 44694, 46776, 48961, 51258, 53677, 56230, 58932, 61799, 64851, 68113, 71617, 75401,
    79517, 84035, 89053,
];

/// The state of a connection.
#[derive(Clone, Debug, Default)]
pub struct HighSpeedSteps {
    steps: Steps,
    /// The row of the window at the last acknowledgement in congestion avoidance, which a loss in slow start does not
    /// know.
    row: usize,
}

impl HighSpeedSteps {
    /// One acknowledgement: hstcp_cong_avoid.
    pub fn increase(&mut self, window: &mut Window) {
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

    /// A loss or marks at this flight size: hstcp_ssthresh. `decrease` is b(w), which the table has in 256ths.
    pub fn reduce(&mut self, window: &mut Window, flight_size: u64, decrease: impl Fn(f64) -> f64) {
        let lost = (256.0 * decrease(WINDOWS[self.row] as f64)) as u64;
        let flight = flight_size / window.mss;
        set_ssthresh(window, flight - ((flight * lost) >> 8));
        self.steps.restart();
    }
}
