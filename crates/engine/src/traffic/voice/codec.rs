//! Codecs of calls: their packets, and how they bear losses.

use super::e_model::Robustness;
use crate::time::Duration;

choice! {
    /// A codec, and how much speech is in a packet.
    pub enum Codec {
        /// 64 kbit/s, packets of 20 ms, with the loss concealment of G.711 appendix I.
        G711 = "g711",
        /// The same without loss concealment.
        G711WithoutConcealment = "g711_without_concealment",
        /// 8 kbit/s, packets of 20 ms: two frames.
        G729a = "g729a",
        /// 6.3 kbit/s, packets of 30 ms: one frame.
        G7231 = "g723",
        /// 12.2 kbit/s, packets of 20 ms: one frame.
        GsmEfr = "gsm_efr",
    }
}

impl Codec {
    /// The payload of a packet, in bytes (RFC 3551, sections 4.5.14, 4.5.6, 4.5.3 and 4.5.9).
    pub fn payload(self) -> u64 {
        match self {
            Codec::G711 | Codec::G711WithoutConcealment => 160,
            Codec::G729a => 20,
            Codec::G7231 => 24,
            Codec::GsmEfr => 31,
        }
    }

    /// The speech in a packet.
    pub fn interval(self) -> Duration {
        match self {
            Codec::G7231 => Duration::from_milliseconds(30),
            _ => Duration::from_milliseconds(20),
        }
    }

    /// How much speech after its own a packet needs before it can be encoded (ITU-T G.729; RFC 3551, section 4.5.3, for G.723.1).
    pub fn look_ahead(self) -> Duration {
        match self {
            Codec::G729a => Duration::from_milliseconds(5),
            Codec::G7231 => Duration::from_microseconds(7_500),
            _ => Duration::ZERO,
        }
    }

    /// ITU-T Recommendation G.113, appendix I. Those of G.729A and G.723.1 are for use with voice activity detection: without it the
    /// appendix has no robustness.
    pub(super) fn robustness(self) -> Robustness {
        let (impairment, loss_robustness) = match self {
            Codec::G711 => (0.0, 25.1),
            Codec::G711WithoutConcealment => (0.0, 4.3),
            Codec::G729a => (11.0, 19.0),
            Codec::G7231 => (15.0, 16.1),
            Codec::GsmEfr => (5.0, 10.0),
        };
        Robustness { impairment, loss_robustness }
    }
}
