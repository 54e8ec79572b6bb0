//! AVQ, the adaptive virtual queue: Kunniyur and Srikant, "An adaptive virtual queue (AVQ) algorithm for active queue
//! management", IEEE/ACM Transactions on Networking 12 (2004). A virtual queue has the same buffer but a lower
//! capacity. A packet that overflows the virtual queue is dropped or marked. The virtual capacity is adapted so that
//! the link has the desired utilisation.

use super::{BoundedFifo, Context, Limit, QueueDiscipline};
use crate::packet::Packet;
use crate::time::Time;
use crate::units::{Bytes, Rate};

parameters! {
    pub struct AvqParameters {
        alpha: f64 = 0.15, in 0..1000, "Step size of the virtual capacity, per second (alpha)", "Kunniyur and Srikant 2004; ns-2 queue/vq.cc";
        gamma: f64 = 0.98, in 0.01..1, "Desired utilisation (gamma)", "Kunniyur and Srikant 2004; ns-2 tcl/lib/ns-default.tcl, Queue/Vq";
        mean_packet_size: Bytes = Bytes(1500), in 1..65535, "Packet size that converts a limit in packets to bytes of the virtual buffer", "Ethernet's MTU; ns-2 tcl/lib/ns-default.tcl has 1000 bytes";
        ecn: bool = false, "Mark ECN-capable packets instead of dropping them", "Kunniyur and Srikant 2004: marks or drops; off in ns-2 tcl/lib/ns-default.tcl, Queue/Vq, markpkts_";
    }
}

/// The initial virtual capacity, as a share of the link's capacity (ns-2 tcl/lib/ns-default.tcl, Queue/Vq, `ecnlim_`).
const FIRST_SHARE: f64 = 0.8;

state! {
    pub Avq(limit: Limit, parameters: AvqParameters) {
        parameters: AvqParameters = parameters,
        queue: BoundedFifo = BoundedFifo::new(limit),
        /// The size of the virtual buffer, in bytes. Equal to the limit.
        virtual_buffer: f64 = limit.in_bytes(parameters.mean_packet_size) as f64,
        /// The capacity of the link, in bytes per second.
        capacity: f64,
        /// The capacity of the virtual queue, in bytes per second.
        virtual_capacity: f64,
        /// The length of the virtual queue, in bytes.
        virtual_queue: f64,
        /// When the length of the virtual queue was last updated.
        served_at: Time,
        /// When the virtual capacity was last updated.
        adapted_at: Time,
    }
}

about! { Avq:
    name: "avq",
    aliases: ["adaptive_virtual_queue"],
    title: "AVQ",
    class: "aqm",
    year: 2001,
    source: "Kunniyur and Srikant, SIGCOMM 2001 and IEEE/ACM Transactions on Networking 12 (2004)",
    deviations: "counts in bytes, and the virtual buffer is the queue's limit, both as in ns-2 by default; a dropped \
                 packet does not count as arrived, so that the rate of admitted packets is controlled, as in ns-2, but \
                 time advances then too; without a limit there are no early drops",
}

impl Avq {
    /// The length of the virtual queue after the latest arrival, in bytes.
    pub fn virtual_queue(&self) -> f64 {
        self.virtual_queue
    }

    /// The capacity of the virtual queue, in bytes per second.
    pub fn virtual_capacity(&self) -> f64 {
        self.virtual_capacity
    }

    /// Adds an arrival to the virtual queue. Returns whether it overflows.
    fn overflows_virtually(&mut self, size: f64, now: Time) -> bool {
        let served = self.virtual_capacity * now.since(self.served_at).seconds();
        self.virtual_queue = (self.virtual_queue - served).max(0.0);
        self.served_at = now;
        let overflows = self.virtual_queue + size > self.virtual_buffer;
        if !overflows {
            self.virtual_queue += size;
        }
        overflows
    }

    /// Updates the virtual capacity after `bytes` bytes were admitted.
    fn adapt(&mut self, bytes: f64, now: Time) {
        let AvqParameters { alpha, gamma, .. } = self.parameters;
        let credit = alpha * gamma * self.capacity * now.since(self.adapted_at).seconds();
        let raised = (self.virtual_capacity + credit).min(self.capacity);
        self.virtual_capacity = (raised - alpha * bytes).max(0.0);
        self.adapted_at = now;
    }
}

impl QueueDiscipline for Avq {
    const DECIDES_ON_ARRIVAL: bool = true;

    fn enqueue(&mut self, mut packet: Packet, context: &mut Context) {
        let size = f64::from(packet.size);
        let selected = self.overflows_virtually(size, context.now);
        let admitted = self.queue.admits(&packet, context);
        if !admitted || selected && !context.mark_or_drop(&mut packet, self.parameters.ecn, None) {
            // The elapsed time counts even for a dropped packet. Otherwise a virtual capacity of zero would never
            // recover.
            self.adapt(0.0, context.now);
            return;
        }
        self.adapt(size, context.now);
        self.queue.push(packet, context.now);
    }

    fifo!(queue);

    fn set_link_rate(&mut self, rate: Rate) {
        let capacity = rate.0 as f64 / 8.0;
        // When the rate changes, the virtual capacity keeps its share of it.
        let share = if self.capacity > 0.0 { self.virtual_capacity / self.capacity } else { FIRST_SHARE };
        self.virtual_capacity = share * capacity;
        self.capacity = capacity;
    }
}
