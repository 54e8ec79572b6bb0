//! New Reno: the congestion avoidance of RFC 5681 with the recovery of RFC 6582, which the stack profile selects.

use super::{Ack, CongestionControl, CongestionEvent};
use crate::tcp::window::Window;
use crate::time::Time;

parameters! {
    /// Parameters of New Reno and of the algorithms that use its window.
    pub struct NewRenoParameters {
        alpha: f64 = 1.0, in 0 .. 1000, "Segments by which the window grows per round trip, at most one per acknowledgement", "RFC 5681 section 3.1; a of AIMD(a, b) in Floyd, Handley and Padhye 2000";
        beta: f64 = 0.5, in 0 .. 1, "Share of the flight size kept after a loss", "RFC 5681 equation 4; 1 - b of AIMD(a, b) in Floyd, Handley and Padhye 2000";
        beta_ecn: f64 = 0.8, in 0 .. 1, "Share of the flight size kept after marks, if the stack sets abe = true", "RFC 8511 section 3.1";
    }
}

/// Additive increase of one segment per window of credited bytes (RFC 5681 section 3.1, the recommended counting).
#[derive(Clone, Debug, Default)]
pub struct AdditiveIncrease {
    /// Credited bytes that have not yet increased the window.
    uncounted: u64,
}

impl AdditiveIncrease {
    /// Counts credited bytes and increases the window by one segment when they amount to a window.
    pub fn increase(&mut self, window: &mut Window, credit: u64) {
        self.uncounted += credit;
        if self.uncounted >= window.cwnd {
            self.uncounted -= window.cwnd;
            window.cwnd += window.mss;
        }
    }

    /// Restarts the count after a reduction of the window.
    pub fn restart(&mut self) {
        self.uncounted = 0;
    }
}

control! {
    NewReno(NewRenoParameters as parameters) {
        additive: AdditiveIncrease,
        /// The fractional part of the credit multiplied by alpha, in bytes.
        fraction: f64,
    }
}

about! { NewReno:
    name: "newreno",
    aliases: ["new-reno", "nreno"],
    title: "New Reno",
    class: "loss",
    year: 2012,
    source: "RFC 5681 section 3.1 (window), RFC 6582 (recovery without SACK)",
    deviations: "none; with a SACK profile the recovery is RFC 6675's or PRR's, as set in the profile",
}

impl NewReno {
    /// The credit multiplied by alpha, which gives alpha segments per window of credit. At most one window, which gives
    /// one segment.
    #[cold]
    fn multiplied(&mut self, credit: u64, window: &Window) -> u64 {
        let bytes = self.parameters.alpha * credit as f64 + self.fraction;
        self.fraction = bytes - bytes.floor();
        (bytes as u64).min(window.cwnd)
    }
}

impl CongestionControl for NewReno {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        let credit = if self.parameters.alpha == 1.0 { ack.credit } else { self.multiplied(ack.credit, window) };
        self.additive.increase(window, credit);
    }

    /// Reduces the window to half the flight size (RFC 5681 equation 4), or to the configured share. For marks, RFC
    /// 8511 section 3.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, _now: Time) {
        if let Some(flight_size) = event.flight_size() {
            self.additive.restart();
            window.set_ssthresh((self.parameters.beta * flight_size as f64) as u64);
            if let CongestionEvent::Ecn { abe: true, .. } = event {
                let left = (self.parameters.beta_ecn * flight_size as f64) as u64;
                window.ssthresh = window.ssthresh.max(left);
            }
        }
    }
}

/// Declares an algorithm with New Reno's window and the recovery of the same name.
macro_rules! newreno_with_recovery {
    ($name:ident: $($about:tt)*) => {
        use $crate::tcp::congestion::newreno::NewReno;
        pub use $crate::tcp::congestion::newreno::NewRenoParameters;
        use $crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Needs};
        use $crate::tcp::recovery::RecoveryKind;
        use $crate::tcp::window::Window;
        use $crate::time::Time;

        state! {
            #[derive(Clone)]
            pub $name(parameters: std::sync::Arc<NewRenoParameters>) {
                newreno: NewReno = NewReno::new(parameters),
            }
        }

        about! { $name: $($about)* }

        impl CongestionControl for $name {
            dispatch! { .newreno
                fn increase(&mut self, window: &mut Window, ack: &Ack);
                fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time);
            }

            fn needs(&self) -> Needs {
                Needs { recovery: Some(RecoveryKind::$name), ..Needs::default() }
            }
        }
    };
}

pub(super) use newreno_with_recovery;
