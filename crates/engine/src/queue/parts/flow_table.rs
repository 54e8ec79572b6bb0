//! The sender and receiver of each flow, which a router reads from packet headers.

use crate::numbers::Numbers;
use crate::packet::{Packet, flags};
use crate::specification::FlowSpecification;

/// The hosts and the group of each flow of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    /// The sender, receiver and group of each flow.
    flows: Vec<(u32, u32, u32)>,
    /// The name of each group.
    groups: Vec<String>,
    numbers: Numbers,
}

impl FlowTable {
    /// Creates the table for the flows of a specification.
    pub fn new(groups: &[FlowSpecification]) -> FlowTable {
        let mut table = FlowTable { numbers: Numbers::new(groups), ..FlowTable::default() };
        for group in groups {
            let known = table.groups.iter().position(|name| *name == group.group);
            let number = known.unwrap_or(table.groups.len());
            if known.is_none() {
                table.groups.push(group.group.clone());
            }
            let flow = (group.from as u32, group.to as u32, number as u32);
            table.flows.extend(std::iter::repeat_n(flow, group.count as usize));
        }
        table
    }

    /// The source host of a packet, as in its network header. For an acknowledgement this is the flow's receiver.
    pub fn source(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[self.numbers.row(packet.flow)];
        if packet.has(flags::ACK) { receiver } else { sender }
    }

    /// The destination host of a packet.
    pub fn destination(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[self.numbers.row(packet.flow)];
        if packet.has(flags::ACK) { sender } else { receiver }
    }

    /// The number of hosts: one more than the highest host number.
    pub fn hosts(&self) -> usize {
        self.flows.iter().map(|(sender, receiver, _)| *sender.max(receiver) as usize + 1).max().unwrap_or(0)
    }

    /// The number of a packet's group.
    pub fn group(&self, packet: &Packet) -> u32 {
        self.flows[self.numbers.row(packet.flow)].2
    }

    /// The number of the group of this name.
    ///
    /// # Errors
    /// One line that lists the known groups.
    pub fn group_named(&self, name: &str) -> Result<u32, String> {
        let number = self.groups.iter().position(|group| group == name);
        number
            .map(|number| number as u32)
            .ok_or_else(|| format!("unknown group of flows {name:?}; known: {}", self.groups.join(", ")))
    }
}
