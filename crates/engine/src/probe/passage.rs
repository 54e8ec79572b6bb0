//! Records of packets that pass an end of a link, as captured by a sniffer there.

use crate::packet::{Options, Packet};
use crate::time::Time;

/// An end of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// The end with the transmitter.
    Near,
    /// The end at which packets arrive.
    Far,
}

/// A packet whose last bit passes an end of a link.
#[derive(Clone, Copy, Debug)]
pub struct Passage {
    /// The time.
    pub time: Time,
    /// The index of the link.
    pub link: usize,
    /// The packet.
    pub packet: Packet,
    /// Its options.
    pub options: Option<Options>,
}

/// The ends of a link that are recorded.
#[derive(Clone, Copy, Debug, Default)]
pub struct Recorded {
    /// Whether the near end is recorded.
    pub near: bool,
    /// Whether the far end is recorded.
    pub far: bool,
}

impl Recorded {
    /// Adds an end.
    pub fn add(&mut self, end: End) {
        match end {
            End::Near => self.near = true,
            End::Far => self.far = true,
        }
    }
}
