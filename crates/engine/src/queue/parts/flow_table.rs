//! Sender and receiver of each flow, which a router reads in the headers.

use crate::packet::{Packet, flags};
use crate::specification::FlowSpecification;

/// The hosts and the group of every flow of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    /// By flow: its sender, its receiver and its group.
    flows: Vec<(u32, u32, u32)>,
    /// The names of the groups, each once.
    groups: Vec<String>,
}

impl FlowTable {
    /// The flows of a specification.
    pub fn new(groups: &[FlowSpecification]) -> FlowTable {
        let mut table = FlowTable::default();
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

    /// Where a packet comes from, as its network header says: for an acknowledgement that is the flow's receiver.
    pub fn source(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[packet.flow as usize];
        if packet.has(flags::ACK) { receiver } else { sender }
    }

    /// Where a packet goes to.
    pub fn destination(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[packet.flow as usize];
        if packet.has(flags::ACK) { sender } else { receiver }
    }

    /// How many hosts there may be: one more than the greatest number of any.
    pub fn hosts(&self) -> usize {
        self.flows.iter().map(|(sender, receiver, _)| *sender.max(receiver) as usize + 1).max().unwrap_or(0)
    }

    /// The number of a packet's group.
    pub fn group(&self, packet: &Packet) -> u32 {
        self.flows[packet.flow as usize].2
    }

    /// The number of the group of this name.
    ///
    /// # Errors
    /// One line that names the groups there are.
    pub fn group_named(&self, name: &str) -> Result<u32, String> {
        let number = self.groups.iter().position(|group| group == name);
        number
            .map(|number| number as u32)
            .ok_or_else(|| format!("unknown group of flows {name:?}; known: {}", self.groups.join(", ")))
    }
}
