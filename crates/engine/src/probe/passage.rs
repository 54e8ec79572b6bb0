//! Packets as they pass an end of a link: what a sniffer there would see.

use crate::packet::{Options, Packet};
use crate::time::Time;

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Where its transmitter is.
    Near,
    /// Where its packets arrive.
    Far,
}

/// A packet whose last bit passes an end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// When.
    pub time: Time,
    /// Which link's end.
    pub link: usize,
    /// The packet.
    pub packet: Packet,
    /// Its options.
    pub options: Option<Options>,
}

/// The ends of a link that are recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// The near one.
    pub near: bool,
    /// The far one.
    pub far: bool,
}

impl Recorded {
    /// This end too.
    pub fn add(&mut self, end: End) {
        match end {
            End::Near => self.near = true,
            End::Far => self.far = true,
        }
    }
}
