//! Traffic without congestion control: packets at a constant rate, equally spaced or with exponential gaps.

use crate::packet::{OptionsHandle, Packet, flags};
use crate::random::Random;
use crate::specification::ConstantRateSpecification;
use crate::tcp::sender::Address;
use crate::time::{Duration, Time};

/// A source that does not respond to congestion, and the count of what arrives.
#[derive(Debug)]
pub struct ConstantRate {
    address: Address,
    packet_size: u64,
    gap: Duration,
    poisson: bool,
    random: Random,
    /// Bytes still to be sent; none without end.
    remaining: Option<u64>,
    /// Packets sent since the measuring window opened.
    pub packets_sent: u64,
    /// Bytes that arrived since the start of the run.
    pub bytes_delivered: u64,
}

impl ConstantRate {
    /// A source that has not started.
    pub fn new(
        address: Address,
        specification: &ConstantRateSpecification,
        size: Option<u64>,
        random: Random,
    ) -> ConstantRate {
        ConstantRate {
            address,
            packet_size: specification.packet_size.0,
            gap: specification.rate.transmission_time(specification.packet_size.0),
            poisson: specification.poisson,
            random,
            remaining: size,
            packets_sent: 0,
            bytes_delivered: 0,
        }
    }

    /// Sends a packet and tells when the next is due; none after the last.
    pub fn emit(&mut self, now: Time, outbox: &mut Vec<Packet>) -> Option<Time> {
        let size = self.remaining.map_or(self.packet_size, |remaining| remaining.min(self.packet_size));
        outbox.push(Packet {
            number: 0,
            stamp: now,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags: flags::DATA,
        });
        self.packets_sent += 1;
        if let Some(remaining) = &mut self.remaining {
            *remaining -= size;
            if *remaining == 0 {
                return None;
            }
        }
        Some(now + if self.poisson { self.random.exponential(self.gap) } else { self.gap })
    }
}
