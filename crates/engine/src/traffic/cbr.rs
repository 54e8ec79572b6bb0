//! Constant bit rate: packets at a rate that nothing changes, equally spaced or with exponential gaps, as ns-2's
//! Application/Traffic/CBR and Poisson traffic. Nothing comes back to the sender.

use std::sync::Arc;

use super::{RateBased, Setting};
use crate::about::About;
use crate::packet::{OptionsHandle, OptionsPool, Packet, flags};
use crate::parameters;
use crate::random::{Purpose, Random};
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

parameters! {
    /// What can be set of it.
    pub struct CbrParameters {
        rate: Rate = Rate(448_000), "Rate of whole packets, as the link sees them", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR rate_";
        packet_size: Bytes = Bytes(210), in 1 .. 65535, "Size of a whole packet, as the link sees it", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR packetSize_";
        poisson: bool = false, "Exponential gaps between packets, of the same mean, instead of equal ones", "ns-2.35 tcl/lib/ns-default.tcl, Application/Traffic/CBR random_: equal gaps";
    }
}

/// See the module.
#[derive(Debug)]
pub struct Cbr {
    parameters: Arc<CbrParameters>,
    address: Address,
    gap: Duration,
    random: Random,
    /// Bytes still to be sent; none without end.
    remaining: Option<u64>,
    release: Time,
    bytes_delivered: u64,
    statistics: SenderStatistics,
}

impl Cbr {
    /// What it is.
    pub const ABOUT: About = About {
        name: "cbr",
        aliases: &[],
        title: "constant bit rate",
        class: "rate",
        year: 1997,
        source: "ns-2.35 apps/cbr_traffic_PP.cc and tcl/lib/ns-default.tcl",
        departures: "exponential gaps instead of ns-2's uniform ones where gaps are random",
    };

    /// A packet, and when the next is due; never after the last.
    fn emit(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        let full = self.parameters.packet_size.0;
        let size = self.remaining.map_or(full, |remaining| remaining.min(full));
        outbox.push(Packet {
            number: 0,
            stamp: now,
            flow: self.address.flow,
            hop: self.address.first_hop,
            options: OptionsHandle::NONE,
            size: size as u16,
            flags: flags::DATA,
        });
        self.statistics.segments_sent += 1;
        self.remaining = self.remaining.map(|remaining| remaining - size);
        self.release = if self.remaining == Some(0) { Time::NEVER } else { now + self.next_gap() };
    }

    fn next_gap(&mut self) -> Duration {
        if self.parameters.poisson { self.random.exponential(self.gap) } else { self.gap }
    }
}

impl RateBased for Cbr {
    type Parameters = CbrParameters;

    const ONE_WAY: bool = true;

    fn new(parameters: Arc<CbrParameters>, setting: Setting) -> Cbr {
        Cbr {
            gap: parameters.rate.transmission_time(parameters.packet_size.0),
            parameters,
            address: setting.address,
            random: Random::stream(setting.seed, Purpose::Source, u64::from(setting.address.flow)),
            remaining: setting.size,
            release: Time::NEVER,
            bytes_delivered: 0,
            statistics: SenderStatistics::default(),
        }
    }

    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.emit(now, outbox);
    }

    fn release(&self) -> Time {
        self.release
    }

    fn on_release(&mut self, now: Time, outbox: &mut Vec<Packet>) {
        self.emit(now, outbox);
    }

    fn on_data(&mut self, packet: &Packet, _now: Time, _options: &mut OptionsPool) -> Option<Packet> {
        self.bytes_delivered += u64::from(packet.size);
        None
    }

    fn delivered(&self) -> u64 {
        self.bytes_delivered
    }

    fn statistics(&self) -> &SenderStatistics {
        &self.statistics
    }

    fn open_window(&mut self) {
        self.statistics = SenderStatistics::default();
    }
}
