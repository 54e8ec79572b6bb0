//! Explicit congestion notification: what a stack can do about marks, and how its packets announce it.

use crate::choice;
use crate::packet::flags;

choice! {
    /// How congestion marks are echoed.
    pub enum EcnKind {
        /// Not at all: packets are not ECN-capable.
        Off = "off",
        /// RFC 3168: that there were any, until the sender answers.
        Classic = "classic",
        /// RFC 9768: how many there were.
        Accurate = "accurate",
    }
}

choice! {
    /// How an ECN-capable packet announces itself.
    pub enum Codepoint {
        /// ECT(0), RFC 3168 section 5.
        Ect0 = "ect0",
        /// ECT(1): L4S, RFC 9331 section 4.1.
        Ect1 = "ect1",
    }
}

impl Codepoint {
    /// Its bits in a packet's flags.
    pub fn bits(self) -> u8 {
        match self {
            Codepoint::Ect0 => flags::ECT_0,
            Codepoint::Ect1 => flags::ECT_1,
        }
    }
}
