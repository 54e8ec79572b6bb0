//! Linux's rules of algorithms whose RFC or paper says something else, one file each. Linux counts windows and
//! acknowledged data in whole segments, and so does everything here.

pub(super) mod bbr;
pub(super) mod bic;
pub(super) mod compound;
pub(super) mod cubic;
pub(super) mod hstcp;
pub(super) mod htcp;
pub(super) mod hybla;
pub(super) mod illinois;
mod loss_state;
pub(super) mod lp;
pub(super) mod scalable;
mod steps;
mod time;
pub(super) mod vegas;
pub(super) mod veno;
pub(super) mod westwood;

use loss_state::LossState;
pub(super) use steps::Steps;

use crate::choice;
use crate::tcp::congestion::Ack;
use crate::tcp::window::Window;

choice! {
    /// Whose rules an algorithm follows where they differ.
    pub enum Rules {
        /// Those of its RFC or paper.
        Published = "published",
        /// Those of Linux.
        Linux = "linux",
    }
}

/// The segments that an acknowledgement is credited with.
fn acked_segments(window: &Window, ack: &Ack) -> u64 {
    ack.credit.div_ceil(window.mss)
}

/// Sets ssthresh to so many segments.
fn set_ssthresh(window: &mut Window, segments: u64) {
    window.set_ssthresh(segments * window.mss);
}

/// The congestion window in whole segments.
fn segments(window: &Window) -> u64 {
    window.cwnd / window.mss
}
