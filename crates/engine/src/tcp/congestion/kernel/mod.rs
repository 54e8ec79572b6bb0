//! What Linux gives its modules of congestion control: windows and acknowledged data in whole segments, a clock in ticks, and the
//! state Loss.

mod loss_state;
mod steps;
mod time;

pub use loss_state::LossState;
pub use steps::Steps;
pub use time::{HZ, microseconds, ticks, ticks_of};

use super::Ack;
use crate::tcp::window::Window;

/// The segments that an acknowledgement is credited with.
pub fn acked_segments(window: &Window, ack: &Ack) -> u64 {
    ack.credit.div_ceil(window.mss)
}

/// Sets ssthresh to so many segments.
pub fn set_ssthresh(window: &mut Window, segments: u64) {
    window.set_ssthresh(segments * window.mss);
}

/// The congestion window in whole segments.
pub fn segments(window: &Window) -> u64 {
    window.cwnd / window.mss
}
