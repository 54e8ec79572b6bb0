//! A link that sends frames of several packets, each with a fixed airtime besides that of its packets: a simple model of Wi-Fi.
//!
//! It is the model of Høiland-Jørgensen, Kazior, Täht, Hurtig and Brunstrom, "Ending the Anomaly: Achieving Low Latency and Airtime
//! Fairness in WiFi", USENIX ATC 2017, section 2.2.1, without errors and other stations: a frame of n packets of l bytes takes
//! T_phy + 8 n (l + header, padded) / r for its data (equations 1 and 2), and besides the time of the interframe spaces, of the mean
//! backoff and of the block acknowledgement (equation 3).

use super::{Drops, MeasuredQueue, Transmitter};
use crate::packet::{OptionsPool, Packet};
use crate::queue::{Context, QueueDiscipline};
use crate::specification::AggregationSpecification;
use crate::time::{Duration, Time};

/// Packets of an A-MPDU are padded to multiples of this size (IEEE 802.11-2016 section 9.7.1).
const ALIGNMENT: u64 = 4;

/// A queue whose device takes packets by the frame.
#[derive(Debug)]
pub struct FramedQueue {
    pub queue: MeasuredQueue,
    /// What a frame may hold, and how long it takes.
    aggregation: AggregationSpecification,
    /// The packets of the frame that is taken; empty between calls.
    packets: Vec<Packet>,
}

impl FramedQueue {
    pub fn new(queue: MeasuredQueue, aggregation: AggregationSpecification) -> FramedQueue {
        FramedQueue { queue, aggregation, packets: Vec::new() }
    }

    /// The bytes of a packet in a frame.
    fn on_air(&self, size: u16) -> u16 {
        let bytes = (u64::from(size) + self.aggregation.header.0).next_multiple_of(ALIGNMENT);
        u16::try_from(bytes).unwrap_or(u16::MAX)
    }

    /// The device takes the next frame: its packets, and when their transmission ends; none if there is no packet. A frame ends
    /// where one more packet like its last one would exceed a limit.
    pub fn take(
        &mut self,
        now: Time,
        transmitter: &mut Transmitter,
        drops: &mut Drops,
        options: &mut OptionsPool,
    ) -> Option<(Vec<Packet>, Time)> {
        debug_assert!(self.packets.is_empty());
        let AggregationSpecification { packets: most, size, airtime, access, response, response_size, .. } =
            self.aggregation;
        let (mut bytes, mut used) = (0, Duration::ZERO);
        let mut latest = (0, Duration::ZERO);
        while (self.packets.len() as u64) < most
            && (self.packets.is_empty() || bytes + latest.0 <= size.0 && used + latest.1 <= airtime)
        {
            let queue = &mut self.queue;
            let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
            let next = queue.discipline.dequeue(&mut context);
            queue.settle(now, drops, options);
            let Some(next) = next else { break };
            if self.packets.is_empty() {
                transmitter.occupy(access, now);
            }
            let on_air = self.on_air(next.packet.size);
            transmitter.transmit(on_air, now);
            latest = (u64::from(on_air), transmitter.latest_transmission());
            (bytes, used) = (bytes + latest.0, used + latest.1);
            if let Some(probe) = &mut self.queue.probe {
                probe.on_departure(next.packet.size, now.since(next.since), latest.1, now);
            }
            self.packets.push(next.packet);
        }
        debug_assert!(self.queue.is_balanced());
        if self.packets.is_empty() {
            return None;
        }
        let completion = transmitter.busy_until;
        transmitter.occupy(response, now);
        transmitter.transmit(response_size.0 as u16, now);
        self.queue.device.take(transmitter.busy_until);
        if let Some(probe) = &mut self.queue.probe {
            probe.on_overhead(access + response + transmitter.latest_transmission());
        }
        Some((std::mem::take(&mut self.packets), completion))
    }

    /// Gives back the memory of a frame that is on its way.
    pub fn recycle(&mut self, mut packets: Vec<Packet>) {
        packets.clear();
        self.packets = packets;
    }
}
