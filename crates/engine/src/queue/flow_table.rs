//! The sender, receiver and codepoint of each flow, which a router reads from packet headers.

use crate::numbers::{FlowGroup, Numbers};
use crate::packet::{Packet, flags};

/// The hosts and the group of each flow of a run.
#[derive(Clone, Debug, Default)]
pub struct FlowTable {
    /// The sender, receiver and group of each flow.
    flows: Vec<(u32, u32, u32)>,
    /// The codepoint of each flow; empty if all are zero.
    codepoints: Vec<u8>,
    groups: Vec<String>,
    numbers: Numbers,
}

impl FlowTable {
    pub fn new(groups: &[FlowGroup]) -> FlowTable {
        let mut table = FlowTable { numbers: Numbers::new(groups), ..FlowTable::default() };
        for group in groups {
            let known = table.groups.iter().position(|name| *name == group.name);
            let number = known.unwrap_or(table.groups.len());
            if known.is_none() {
                table.groups.push(group.name.clone());
            }
            let flow = (group.from, group.to, number as u32);
            table.flows.extend(std::iter::repeat_n(flow, group.count as usize));
        }
        if groups.iter().any(|group| group.dscp > 0) {
            let codepoints = groups.iter().flat_map(|group| std::iter::repeat_n(group.dscp, group.count as usize));
            table.codepoints = codepoints.collect();
        }
        table
    }

    /// The source host of a packet, as in its network header. For an acknowledgement this is the flow's receiver.
    pub fn source(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[self.numbers.row(packet.flow)];
        if packet.has(flags::ACK) == self.numbers.is_reversed(packet.flow) { sender } else { receiver }
    }

    pub fn destination(&self, packet: &Packet) -> u32 {
        let (sender, receiver, _) = self.flows[self.numbers.row(packet.flow)];
        if packet.has(flags::ACK) == self.numbers.is_reversed(packet.flow) { receiver } else { sender }
    }

    /// The codepoint of differentiated services of a packet, the same in both directions of its flow.
    pub fn dscp(&self, packet: &Packet) -> u8 {
        self.codepoints.get(self.numbers.row(packet.flow)).copied().unwrap_or(0)
    }

    /// The number of hosts: one more than the highest host number.
    pub fn hosts(&self) -> usize {
        self.flows.iter().map(|(sender, receiver, _)| *sender.max(receiver) as usize + 1).max().unwrap_or(0)
    }

    pub fn group(&self, packet: &Packet) -> u32 {
        self.flows[self.numbers.row(packet.flow)].2
    }

    pub fn group_named(&self, name: &str) -> Result<u32, String> {
        let number = self.groups.iter().position(|group| group == name);
        number
            .map(|number| number as u32)
            .ok_or_else(|| format!("unknown group of flows {name:?}; known: {}", self.groups.join(", ")))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::RowKind;

    /// Data of a session's client have the addresses of the acknowledgements that go the same way: from the receiver of its flow of the
    /// specification to the sender.
    #[test]
    fn hosts_of_both_directions() {
        let flows = [RowKind::Flow, RowKind::Sessions].map(|row| FlowGroup {
            count: 1,
            from: 3,
            to: 7,
            row,
            ..FlowGroup::default()
        });
        let (table, numbers) = (FlowTable::new(&flows), Numbers::new(&flows));
        let ends = |number: u32, flags: u8| {
            let packet = Packet { flow: number, flags, ..Packet::FULL };
            (table.source(&packet), table.destination(&packet))
        };
        let (up, down) = (numbers.number(0, 4), numbers.number(0, 5));
        assert_eq!([0, up, down].map(|flow| ends(flow, flags::DATA)), [(3, 7), (7, 3), (3, 7)]);
        assert_eq!([0, up, down].map(|flow| ends(flow, flags::ACK)), [(7, 3), (3, 7), (7, 3)]);
    }
}
