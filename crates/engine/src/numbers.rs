//! The numbers of flows. Those of the specification have the numbers from zero on. Connections that arrive during the run have
//! numbers of their own, which are never used again, so that what is left of a connection that has ended - a packet under way, a
//! timer - is never taken for a later one's, and hashes of flows differ.
//!
//! The number of such a connection has the highest bit set, the number of its group in its lowest bits, and between them a serial
//! number within the group. Sessions have serial numbers of their own. Their connections are two flows, one for each direction, of
//! which that from the client has an even serial number and that from the server an odd one.

/// The first number of connections that arrive.
pub const FIRST_ARRIVED: u32 = 1 << 31;

/// What a row of a run is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RowKind {
    /// A flow.
    #[default]
    Flow,
    /// A group of connections that arrive.
    Arrivals,
    /// A group of sessions, with connections in both directions.
    Sessions,
}

/// A group of identical flows, as routers know it.
#[derive(Clone, Debug, Default)]
pub struct FlowGroup {
    /// The number of flows.
    pub count: u64,
    /// The sending host.
    pub from: u32,
    /// The receiving host.
    pub to: u32,
    /// Its name.
    pub name: String,
    /// The codepoint of differentiated services.
    pub dscp: u8,
    /// What each of its rows is.
    pub row: RowKind,
}

/// What the numbers of connections that arrive say.
#[derive(Clone, Debug, Default)]
pub struct Numbers {
    /// Bits that hold the group.
    bits: u32,
    /// The row that each group is.
    rows: Vec<u32>,
    /// Whether each group has sessions.
    has_sessions: Vec<bool>,
}

impl Numbers {
    /// The numbers for the flows of these groups.
    pub fn new(groups: &[FlowGroup]) -> Numbers {
        // So many flows that their numbers would not do are refused for the memory that they take.
        let mut row: u32 = 0;
        let (mut rows, mut has_sessions) = (Vec::new(), Vec::new());
        for group in groups {
            let next = row.saturating_add(u32::try_from(group.count).unwrap_or(u32::MAX));
            if group.row != RowKind::Flow {
                rows.extend(row..next);
                has_sessions.extend((row..next).map(|_| group.row == RowKind::Sessions));
            }
            row = next;
        }
        Numbers { bits: rows.len().next_power_of_two().ilog2(), rows, has_sessions }
    }

    /// The greatest serial number.
    pub fn most(&self) -> u32 {
        (FIRST_ARRIVED - 1) >> self.bits
    }

    /// The number of a connection.
    pub fn number(&self, group: usize, serial: u32) -> u32 {
        FIRST_ARRIVED | serial << self.bits | group as u32
    }

    /// The group of a connection that arrived, and its serial number there.
    pub fn group(&self, number: u32) -> (usize, u32) {
        let within = number & !FIRST_ARRIVED;
        ((within & ((1 << self.bits) - 1)) as usize, within >> self.bits)
    }

    /// Whether the data of a flow go from the receiver of its flow of the specification to the sender.
    pub fn is_reversed(&self, number: u32) -> bool {
        if number < FIRST_ARRIVED {
            return false;
        }
        let (group, serial) = self.group(number);
        self.has_sessions[group] && serial % 2 == 0
    }

    /// The row that a flow belongs to: its own, unless it arrived.
    pub fn row(&self, number: u32) -> usize {
        if number < FIRST_ARRIVED { number as usize } else { self.rows[self.group(number).0] as usize }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Group and serial number are found again, for one group as for several, up to the greatest serial number.
    #[test]
    fn found_again() {
        for groups in [1, 2, 3, 5] {
            let numbers = Numbers {
                bits: u32::next_power_of_two(groups).ilog2(),
                rows: (0..groups).collect(),
                has_sessions: Vec::new(),
            };
            for group in 0..groups as usize {
                for serial in [0, 1, 1000, numbers.most()] {
                    let number = numbers.number(group, serial);
                    assert!(number >= FIRST_ARRIVED);
                    assert_eq!((numbers.group(number), numbers.row(number)), ((group, serial), group));
                }
            }
        }
    }
}
