//! Growth by fractions of a byte: windows are in whole bytes, and without the rest a large window would grow too
//! slowly.

use crate::tcp::window::Window;

/// Grows a window and keeps what is less than a byte for the next time.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    fraction: f64,
}

impl Growth {
    /// Grows the window by a number of bytes.
    pub fn add(&mut self, window: &mut Window, bytes: f64) {
        let bytes = bytes + self.fraction;
        window.cwnd += bytes as u64;
        self.fraction = bytes - bytes.floor();
    }

    /// Additive increase: a number of segments for a window of credited bytes, but no more than what is credited, which
    /// is the growth of slow start.
    pub fn additive(&mut self, window: &mut Window, segments: f64, credit: u64) {
        let share = (segments / window.segments()).min(1.0);
        self.add(window, share * credit as f64);
    }
}
