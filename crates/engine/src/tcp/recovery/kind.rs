//! Which recoveries there are, as a stack names them.

use crate::choice;
use crate::tcp::scoreboard::LossRule;

choice! {
    /// How losses are recovered without a timeout.
    pub enum RecoveryKind {
        /// Not at all: after a loss slow start, from one segment (Jacobson 1988).
        Tahoe = "tahoe",
        /// RFC 5681 section 3.2, which the first acknowledgement of new data ends; needs no SACK.
        Reno = "reno",
        /// RFC 6582, with window inflation; needs no SACK.
        NewReno = "newreno",
        /// RFC 6675: pipe against the halved window.
        Sack = "sack",
        /// Forward acknowledgements: all not SACKed that lies the duplicate threshold below the highest SACK is lost
        /// (Mathis and Mahdavi 1996).
        Fack = "fack",
        /// RFC 9937 proportional rate reduction over RFC 6675 loss detection.
        Prr = "prr",
        /// RFC 8985: losses found by time, tail loss probes; proportional rate reduction. With `duplicate_sack` a reduction for
        /// losses that were none is taken back.
        Rack = "rack",
    }
}

impl RecoveryKind {
    /// Whether it works on selective acknowledgements, or else on cumulative ones alone.
    pub fn uses_sack(self) -> bool {
        matches!(self, RecoveryKind::Sack | RecoveryKind::Fack | RecoveryKind::Prr | RecoveryKind::Rack)
    }

    /// What makes a segment lost for the scoreboard.
    pub fn loss_rule(self) -> LossRule {
        match self {
            RecoveryKind::Fack => LossRule::Forward,
            RecoveryKind::Rack => LossRule::Time,
            _ => LossRule::Above,
        }
    }
}
