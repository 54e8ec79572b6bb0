//! CUBIC in whole numbers, as in Linux tcp_cubic.c and the module for ns-3 that follows it: the cubic function in 2^-10 s, and Reno's
//! estimated window, from the first acknowledgement that may grow the window after a loss on.

/// BICTCP_HZ: the unit of time of the cubic function is 2^-10 s.
pub const TIME_SHIFT: u32 = 10;

/// Segments acknowledged for one of growth where there is no target above the window, as so many windows: bictcp_update.
pub const WINDOWS_AT_PLATEAU: u64 = 100;

/// The time from which any window that could occur is below the target; more would not fit. In 2^-10 s.
const LONGEST: u64 = 1 << 18;

/// An epoch.
#[derive(Clone, Copy, Debug)]
pub struct Epoch {
    /// In ticks.
    pub start: u64,
    /// The time to the plateau, in 2^-10 s, and the window there.
    pub k: u64,
    pub plateau: u64,
    /// Segments acknowledged that have not yet increased Reno's estimated window, and that window.
    pub uncounted: u64,
    pub reno: u64,
}

impl Epoch {
    /// An epoch that begins now, with a window of `cwnd` and `last_max` at the loss, by an acknowledgement of `acked` segments.
    /// `scale` is C in 1024ths (bic_scale * 10).
    pub fn begin(start: u64, cwnd: u64, last_max: u64, acked: u64, scale: u64) -> Epoch {
        // The inverse of the scale, for times in 2^-10 s: tcp_cubic.c, cubictcp_register.
        let factor = ((1_u64 << (10 + 3 * TIME_SHIFT)) / scale.max(1)) as f64;
        Epoch {
            start,
            k: libm::cbrt(last_max.saturating_sub(cwnd) as f64 * factor) as u64,
            plateau: last_max.max(cwnd),
            uncounted: acked,
            reno: cwnd,
        }
    }

    /// The time to the plateau.
    pub fn k_in_seconds(&self) -> f64 {
        self.k as f64 / f64::from(1_u32 << TIME_SHIFT)
    }

    /// How far from the plateau the cubic function is, in segments, `t` after the beginning.
    pub fn distance(&self, t: u64, scale: u64) -> u64 {
        let time = t.abs_diff(self.k).min(LONGEST);
        scale.saturating_mul(time * time * time) >> (10 + 3 * TIME_SHIFT)
    }

    /// Grows Reno's estimate. Returns the segments acknowledged for one of growth at which the window follows it, if it is
    /// larger.
    pub fn keep_up_with_reno(&mut self, cwnd: u64, beta: f64) -> Option<u64> {
        // beta_scale, of 8: windows acknowledged for one segment of growth, (1 + beta) / (3 (1 - beta)).
        let beta = in_1024ths(beta).min(1023);
        let window_scale = 8 * (1024 + beta) / 3 / (1024 - beta);
        let step = ((cwnd * window_scale) >> 3).max(1);
        if self.uncounted > step {
            let steps = (self.uncounted - 1) / step;
            self.uncounted -= steps * step;
            self.reno += steps;
        }
        (self.reno > cwnd).then(|| cwnd / (self.reno - cwnd))
    }
}

/// A share in 1024ths: C, or beta in BICTCP_BETA_SCALE.
pub fn in_1024ths(share: f64) -> u64 {
    (share * 1024.0).round() as u64
}
