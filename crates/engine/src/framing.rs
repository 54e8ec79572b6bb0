//! The size that a packet has on a link: with the headers of the layers below, and in cells on DSL lines.

use serde::Deserialize;

use crate::units::Bytes;

/// The payload of an ATM cell, and its size with its header (ITU-T I.361).
const ATM_PAYLOAD: u64 = 48;
const ATM_CELL: u64 = 53;

/// PTM sends 64 bytes as 65 (64/65-octet encapsulation, IEEE 802.3 section 61.3.3).
const PTM_PAYLOAD: u64 = 64;

choice! {
    /// How a link divides packets.
    pub enum Cells {
        None = "noatm",
        /// Into ATM cells, of which each carries 48 bytes in 53: ADSL.
        Atm = "atm",
        /// As PTM, with one more byte for each 64 or part of them: VDSL2.
        Ptm = "ptm",
    }
}

/// What a link adds to each packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Framing {
    /// Bytes of headers below the network layer.
    pub overhead: Bytes,
    /// The least size, overhead included: the minimum packet unit.
    pub mpu: Bytes,
    pub framing: Cells,
}

impl Default for Framing {
    fn default() -> Framing {
        Framing { overhead: Bytes(0), mpu: Bytes(0), framing: Cells::None }
    }
}

impl Framing {
    /// The bytes that a packet takes on the link, by the rules of tc-cake(8) and tc-stab(8).
    pub fn bytes(self, packet: u64) -> u64 {
        let whole = (packet + self.overhead.0).max(self.mpu.0);
        match self.framing {
            Cells::None => whole,
            Cells::Atm => whole.div_ceil(ATM_PAYLOAD) * ATM_CELL,
            Cells::Ptm => whole + whole.div_ceil(PTM_PAYLOAD),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Sizes that follow from the definitions: 1500 + 40 bytes (pppoe-llcsnap in tc-cake(8)) fill 33 cells of 53 bytes; an
    /// acknowledgement of 40 bytes becomes two cells with that overhead and one without; PTM adds 24 bytes to 1500 + 30
    /// (pppoe-ptm); Ethernet sends at least 84 (`ethernet`: overhead 38 mpu 84).
    #[test]
    fn sizes_on_links() {
        let bytes = |packet, overhead, mpu, framing| {
            Framing { overhead: Bytes(overhead), mpu: Bytes(mpu), framing }.bytes(packet)
        };
        assert_eq!(bytes(1500, 40, 0, Cells::Atm), 33 * 53);
        assert_eq!(bytes(1500, 40, 0, Cells::Atm), 1749);
        assert_eq!(bytes(40, 40, 0, Cells::Atm), 2 * 53);
        assert_eq!(bytes(40, 8, 0, Cells::Atm), 53);
        assert_eq!(bytes(40, 9, 0, Cells::Atm), 2 * 53);
        assert_eq!(bytes(1500, 30, 0, Cells::Ptm), 1530 + 24);
        assert_eq!(bytes(1506, 30, 0, Cells::Ptm), 1536 + 24);
        assert_eq!(bytes(1507, 30, 0, Cells::Ptm), 1537 + 25);
        assert_eq!(bytes(40, 38, 84, Cells::None), 84);
        assert_eq!(bytes(1500, 38, 84, Cells::None), 1538);
        assert_eq!(bytes(20, 0, 64, Cells::Atm), 2 * 53, "the least size is that before cells");
        assert_eq!(Framing::default().bytes(1500), 1500);
    }
}
