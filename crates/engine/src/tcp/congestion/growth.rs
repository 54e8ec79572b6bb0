//! Window growth with a fractional part. The window is in whole bytes. Without the fraction a large window would grow
//! too slowly.

use crate::tcp::window::Window;

/// Increases a window and keeps the fraction of a byte that is left over.
#[derive(Clone, Debug, Default)]
pub struct Growth {
    fraction: f64,
}

impl Growth {
    /// Increases the window by this number of bytes.
    pub fn add(&mut self, window: &mut Window, bytes: f64) {
        let bytes = bytes + self.fraction;
        window.cwnd += bytes as u64;
        self.fraction = bytes - bytes.floor();
    }

    /// Additive increase by a number of segments per window of credited bytes, but at most by the bytes credited, as in
    /// slow start.
    pub fn additive(&mut self, window: &mut Window, segments: f64, credit: u64) {
        let share = (segments / window.segments()).min(1.0);
        self.add(window, share * credit as f64);
    }
}
