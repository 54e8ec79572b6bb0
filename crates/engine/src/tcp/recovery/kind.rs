//! The names of recoveries in a stack.

use crate::choice;
use crate::tcp::scoreboard::LossRule;

choice! {
    /// How losses are recovered without a timeout.
    pub enum RecoveryKind {
        /// No fast recovery: slow start from one segment after a loss (Jacobson 1988).
        Tahoe = "tahoe",
        /// RFC 5681 section 3.2, which the first acknowledgement of new data ends; needs no SACK.
        Reno = "reno",
        /// RFC 6582, with window inflation; needs no SACK.
        NewReno = "newreno",
        /// RFC 6675: pipe against the halved window.
        Sack = "sack",
        /// Forward acknowledgements: a segment that is not SACKed is lost once the highest SACK is the duplicate threshold
        /// above it (Mathis and Mahdavi 1996).
        Fack = "fack",
        /// RFC 9937 proportional rate reduction over RFC 6675 loss detection.
        Prr = "prr",
        /// RFC 8985: loss detection by time, tail loss probes, proportional rate reduction. With `duplicate_sack` it undoes
        /// reductions for spurious losses.
        Rack = "rack",
    }
}

impl RecoveryKind {
    /// Whether it uses selective acknowledgements.
    pub fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Fack | RecoveryKind::Prr | RecoveryKind::Rack)
    }

    /// The rule by which the scoreboard considers a segment lost.
    pub fn loss_rule(self) -> LossRule {
        match self {
            RecoveryKind::Fack => LossRule::Forward,
            RecoveryKind::Rack => LossRule::Time,
            _ => LossRule::Above,
        }
    }
}
