//! Explicit congestion notification: how a stack echoes marks, and the codepoint of its packets.

use crate::packet::flags;

choice! {
    /// How congestion marks are echoed.
    pub enum EcnKind {
        /// No ECN: packets are not ECN-capable.
        Off = "off",
        /// RFC 3168: whether there were marks, repeated until the sender responds.
        Classic = "classic",
        /// RFC 9768: the number of marks.
        Accurate = "accurate",
    }
}

choice! {
    /// The codepoint of an ECN-capable packet.
    pub enum Codepoint {
        /// ECT(0), RFC 3168 section 5.
        Ect0 = "ect0",
        /// ECT(1): L4S, RFC 9331 section 4.1.
        Ect1 = "ect1",
    }
}

impl Codepoint {
    pub fn bits(self) -> u8 {
        match self {
            Codepoint::Ect0 => flags::ECT_0,
            Codepoint::Ect1 => flags::ECT_1,
        }
    }
}
