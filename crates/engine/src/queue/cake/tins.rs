//! The tins of CAKE: classes of traffic by their codepoint of differentiated services (tc-cake(8); Linux net/sched/sch_cake.c,
//! `cake_config_diffserv3` and its like).

use super::hosts::HostLoads;
use super::set_hash::SetHash;
use super::{MTU, QUEUES};
use crate::queue::parts::CobaltSettings;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The minimum quantum of a flow, in bytes (Linux, `cake_set_rate`). The maximum is the MTU.
const LEAST_QUANTUM: u64 = 300;
/// The bandwidth per byte of the quantum, in bytes per second (Linux, `cake_set_rate`).
const QUANTUM_SHARE: u64 = 1 << 12;
/// The lowest rate of a tin: 64 bytes per second (Linux, `cake_set_rate`).
const LEAST_RATE: u64 = 64 * 8;

choice! {
    /// Into how many tins packets are sorted.
    pub enum Tins {
        BestEffort = "besteffort",
        /// Bulk, best effort and voice.
        DiffServ3 = "diffserv3",
        /// Bulk, best effort, video and voice.
        DiffServ4 = "diffserv4",
        /// Eight, of the classes of RFC 4594.
        DiffServ8 = "diffserv8",
        /// Eight, of the precedences of RFC 791.
        Precedence = "precedence",
    }
}

/// Codepoints (RFC 2474, RFC 2597, RFC 3246, RFC 5865, RFC 8622), and the bit for little delay of RFC 1349.
mod codepoint {
    pub const LE: u8 = 1;
    pub const TOS4: u8 = 4;
    pub const CS1: u8 = 8;
    pub const CS2: u8 = 16;
    pub const AF21: u8 = 18;
    pub const AF22: u8 = 20;
    pub const AF23: u8 = 22;
    pub const CS3: u8 = 24;
    pub const AF31: u8 = 26;
    pub const AF32: u8 = 28;
    pub const AF33: u8 = 30;
    pub const CS4: u8 = 32;
    pub const AF41: u8 = 34;
    pub const AF42: u8 = 36;
    pub const AF43: u8 = 38;
    pub const CS5: u8 = 40;
    pub const VA: u8 = 44;
    pub const EF: u8 = 46;
    pub const CS6: u8 = 48;
    pub const CS7: u8 = 56;
    pub const TOS2: u8 = 2;
    pub const AF11: u8 = 10;
    pub const AF12: u8 = 12;
    pub const AF13: u8 = 14;
}

impl Tins {
    /// The tin of a codepoint. Of two tins that keep to their thresholds, the higher one is served.
    pub fn of(self, dscp: u8) -> usize {
        use codepoint::*;
        match (self, dscp) {
            (Tins::BestEffort, _) => 0,
            (Tins::Precedence, _) => usize::from(dscp >> 3),
            (Tins::DiffServ3 | Tins::DiffServ4, LE | CS1) => 1,
            (Tins::DiffServ3, TOS4 | VA | EF | CS6 | CS7) => 2,
            (Tins::DiffServ4, TOS4 | CS2 | CS3 | AF21 | AF22 | AF23 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43) => 2,
            (Tins::DiffServ4, CS4 | CS5 | VA | EF | CS6 | CS7) => 3,
            (Tins::DiffServ3 | Tins::DiffServ4, _) => 0,
            (Tins::DiffServ8, LE) => 0,
            (Tins::DiffServ8, CS1 | TOS2 | AF11 | AF12 | AF13) => 1,
            (Tins::DiffServ8, CS3 | AF31 | AF32 | AF33 | AF41 | AF42 | AF43) => 3,
            (Tins::DiffServ8, TOS4 | AF21 | AF22 | AF23) => 4,
            (Tins::DiffServ8, CS2) => 5,
            (Tins::DiffServ8, CS4 | CS5 | VA | EF) => 6,
            (Tins::DiffServ8, CS6 | CS7) => 7,
            (Tins::DiffServ8, _) => 2,
        }
    }

    /// The threshold of each tin as a share of the bandwidth, which is a numerator and a power of two, and its weight without a
    /// bandwidth.
    fn shares(self) -> Vec<(u64, u32, i64)> {
        match self {
            Tins::BestEffort => vec![(1, 0, 65535)],
            Tins::DiffServ3 => vec![(1, 0, 1024), (1, 4, 64), (1, 2, 256)],
            Tins::DiffServ4 => vec![(1, 0, 1024), (1, 4, 64), (1, 1, 512), (1, 2, 256)],
            // Each has seven eighths of the one before.
            Tins::DiffServ8 | Tins::Precedence => {
                let weights = std::iter::successors(Some(256i64), |weight| Some(weight * 7 / 8));
                weights
                    .take(8)
                    .enumerate()
                    .map(|(tin, weight)| (7u64.pow(tin as u32), 3 * tin as u32, weight))
                    .collect()
            }
        }
    }

    /// The tins, for a bandwidth or none.
    pub fn build(self, bandwidth: Option<Rate>, cobalt: &CobaltSettings) -> Vec<Tin> {
        let rate = |numerator: u64, shift: u32| {
            bandwidth.map(|rate| Rate(((u128::from(rate.0) * u128::from(numerator)) >> shift) as u64))
        };
        self.shares()
            .into_iter()
            .map(|(numerator, shift, weight)| Tin::new(rate(numerator, shift), weight, cobalt))
            .collect()
    }
}

/// A class of traffic, with queues of its own.
#[derive(Debug)]
pub struct Tin {
    /// The rate up to which it goes before lower tins.
    rate: Option<Rate>,
    /// What it gets in a round without a bandwidth, in bytes, and what is left of that.
    pub weight: i64,
    pub deficit: i64,
    /// When it has used its threshold up to now.
    pub next: Time,
    /// The quantum of its flows, in bytes.
    pub quantum: u64,
    /// How long a full packet takes at its rate.
    pub packet_time: Duration,
    pub cobalt: CobaltSettings,
    pub hash: SetHash,
    pub sources: HostLoads,
    pub destinations: HostLoads,
    pub bulk: u64,
    pub packets: u64,
}

impl Tin {
    /// An idle tin (Linux, `cake_set_rate`): targets are no less than the time of one and a half packets at its rate.
    fn new(rate: Option<Rate>, weight: i64, cobalt: &CobaltSettings) -> Tin {
        let rate = rate.map(|rate| Rate(rate.0.max(LEAST_RATE)));
        let packet_time = rate.map_or(Duration::ZERO, |rate| rate.transmission_time(MTU));
        let target = cobalt.target.max(Duration(packet_time.0 + packet_time.0 / 2));
        let interval = (cobalt.interval + (target - cobalt.target)).max(target * 2);
        Tin {
            rate,
            weight,
            deficit: 0,
            next: Time::ZERO,
            quantum: rate.map_or(MTU, |rate| (rate.0 / 8 / QUANTUM_SHARE).clamp(LEAST_QUANTUM, MTU)),
            packet_time,
            cobalt: CobaltSettings {
                target,
                interval,
                allowance: packet_time * 4,
                signals_at_once: true,
                ..cobalt.clone()
            },
            hash: SetHash::new(QUEUES),
            sources: HostLoads::new(1),
            destinations: HostLoads::new(1),
            bulk: 0,
            packets: 0,
        }
    }

    /// The settings of its control if what is dropped counts as sent: no queue is congested while it holds less than two packets
    /// of each bulk flow (Linux, `cobalt_should_drop`).
    pub fn crowded(&self) -> CobaltSettings {
        let allowance = self.cobalt.allowance.max(self.packet_time * (2 * self.bulk));
        CobaltSettings { allowance, ..self.cobalt.clone() }
    }

    /// Charges bytes to its threshold (Linux, `cake_advance_shaper`).
    pub fn charge(&mut self, bytes: u64, now: Time) {
        let Some(rate) = self.rate else { return };
        let time = rate.transmission_time(bytes);
        if self.next < now {
            self.next += time;
        } else {
            self.next = self.next.max(now + time);
        }
    }
}
