//! The connection that takes the most bandwidth: configured, or estimated from the arriving packets (Hanai, Yamaguchi
//! and Kobayashi, "Modified controlling queue delay for TCP fairness improvement", 2016, sections II.H and IV).

use std::sync::Arc;

use super::FlowHash;
use crate::packet::Packet;
use crate::queue::flow_table::FlowTable;

/// Who the hungriest connection is.
pub trait Hungriest {
    /// Tells the hosts and groups of the flows.
    ///
    /// # Errors
    /// One line if a parameter names a group that does not exist.
    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String>;

    /// Counts an arriving packet, whether it is queued or dropped.
    fn receive(&mut self, packet: &Packet);

    /// Whether the packet is of the hungriest connection.
    fn sent(&self, packet: &Packet) -> bool;
}

state! {
    /// The hungriest connections as configured: a group of flows.
    #[derive(Clone)]
    pub NamedHungriest(name: String) {
        name: String = name,
        /// `None` before the flows are known. No packet then belongs to the group.
        group: Option<(Arc<FlowTable>, u32)>,
    }
}

impl Hungriest for NamedHungriest {
    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        let group = flows.group_named(&self.name).map_err(|error| format!("hungriest: {error}"))?;
        self.group = Some((Arc::clone(flows), group));
        Ok(())
    }

    fn receive(&mut self, _packet: &Packet) {}

    fn sent(&self, packet: &Packet) -> bool {
        self.group.as_ref().is_some_and(|(flows, group)| flows.group(packet) == *group)
    }
}

choice! {
    /// What counts as one connection when the hungriest is estimated.
    pub enum ConnectionKind {
        /// All packets from one host to another. Section IV.B identifies a connection by its two addresses.
        Hosts = "hosts",
        Flow = "flow",
    }
}

parameters! {
    pub struct GuessParameters {
        connection: ConnectionKind = ConnectionKind::Hosts, "What counts as one connection", "Hanai et al. 2016 section IV.B: the MAC addresses of sender and receiver";
        record_interval: u64 = 10, in 1..1e9, "Record the connection of every n-th packet (rec_int)", "assumed: Hanai et al. 2016 gives no value";
        history_length: u64 = 100, in 1..1000000, "Number of records kept (hist_len)", "assumed, so that the records cover a thousand packets: Hanai et al. 2016 gives no value";
        statistics_interval: u64 = 100, in 1..1e9, "Take the most frequent connection of the records at every n-th packet (stat_int)", "assumed: Hanai et al. 2016 gives no value";
    }
}

state! {
    /// The hungriest connection as estimated (section IV.A): the most frequent of the recorded connections.
    #[derive(Clone)]
    pub GuessedHungriest(parameters: &GuessParameters) {
        kind: ConnectionKind = parameters.connection,
        record_interval: u64 = parameters.record_interval,
        statistics_interval: u64 = parameters.statistics_interval,
        flows: Option<Arc<FlowTable>>,
        /// The number of packets received.
        received: u64,
        /// The latest records. The oldest is overwritten.
        log: Box<[u64]> = vec![0; parameters.history_length as usize].into(),
        /// The total number of records made.
        recorded: u64,
        /// Buffer for a sorted copy of the log.
        sorted: Box<[u64]> = log.clone(),
        hungriest: Option<u64>,
    }
}

impl GuessedHungriest {
    fn connection(&self, packet: &Packet) -> u64 {
        match (&self.flows, self.kind) {
            (Some(flows), ConnectionKind::Hosts) => {
                u64::from(flows.source(packet)) << 32 | u64::from(flows.destination(packet))
            }
            _ => FlowHash::key(packet),
        }
    }

    /// The most frequent connection, of equally frequent ones that with the lowest number.
    fn most_frequent(&mut self) -> Option<u64> {
        let length = self.recorded.min(self.log.len() as u64) as usize;
        let sorted = &mut self.sorted[..length];
        sorted.copy_from_slice(&self.log[..length]);
        sorted.sort_unstable();
        let mut best: Option<(usize, u64)> = None;
        for run in sorted.chunk_by(|one, next| one == next) {
            if best.is_none_or(|(most, _)| run.len() > most) {
                best = Some((run.len(), run[0]));
            }
        }
        best.map(|(_, connection)| connection)
    }
}

impl Hungriest for GuessedHungriest {
    /// Until then each flow is a connection.
    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.flows = Some(Arc::clone(flows));
        Ok(())
    }

    fn receive(&mut self, packet: &Packet) {
        self.received += 1;
        if self.received.is_multiple_of(self.record_interval) {
            let oldest = self.recorded % self.log.len() as u64;
            self.log[oldest as usize] = self.connection(packet);
            self.recorded += 1;
        }
        if self.received.is_multiple_of(self.statistics_interval) {
            self.hungriest = self.most_frequent();
        }
    }

    /// There is no estimate at first.
    fn sent(&self, packet: &Packet) -> bool {
        self.hungriest.is_some_and(|hungriest| hungriest == self.connection(packet))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::numbers::FlowGroup;
    use crate::packet::flags;

    fn parameters(kind: ConnectionKind, record: u64, history: u64, statistics: u64) -> GuessParameters {
        let (record_interval, history_length, statistics_interval) = (record, history, statistics);
        GuessParameters { connection: kind, record_interval, history_length, statistics_interval }
    }

    fn packet(flow: u32, flags: u8) -> Packet {
        Packet { flow, flags, ..Packet::FULL }
    }

    fn data(flow: u32) -> Packet {
        packet(flow, flags::DATA)
    }

    /// Flows 0 and 1 from host 0 to host 9, flow 2 from host 1 to host 9, flow 3 from host 0 to host 8.
    fn flows() -> Arc<FlowTable> {
        let group =
            |name: &str, count, from, to| FlowGroup { count, from, to, name: name.to_owned(), ..FlowGroup::default() };
        Arc::new(FlowTable::new(&[group("big", 2, 0, 9), group("small", 1, 1, 9), group("other", 1, 0, 8)]))
    }

    /// Packets of the named group, and only these, are of the hungriest. An unknown name is an error that lists the
    /// groups.
    #[test]
    fn named_group() {
        let mut named = NamedHungriest::new("big".to_owned());
        assert!(!named.sent(&data(0)), "before the flows are told");
        named.set_flows(&flows()).unwrap();
        assert_eq!([0, 1, 2, 3].map(|flow| named.sent(&data(flow))), [true, true, false, false]);
        for name in ["", "bigger"] {
            let error = NamedHungriest::new(name.to_owned()).set_flows(&flows()).unwrap_err();
            assert!(error.contains(&format!("{name:?}; known: big, small, other")), "{error}");
        }
    }

    /// Feeds packets of these flows. Returns for each flow whether it is the hungriest.
    fn hungriest_after(guess: &mut GuessedHungriest, arrivals: &[u32]) -> [bool; 4] {
        for flow in arrivals {
            guess.receive(&data(*flow));
        }
        [0, 1, 2, 3].map(|flow| guess.sent(&data(flow)))
    }

    /// With a record of every second packet and room for four records, every sixth packet selects the most frequent
    /// connection.
    #[test]
    fn most_frequent_record() {
        let mut guess = GuessedHungriest::new(&parameters(ConnectionKind::Flow, 2, 4, 6));
        guess.set_flows(&flows()).unwrap();
        // Records: 1, 1. There is no estimate yet.
        assert_eq!(hungriest_after(&mut guess, &[0, 1, 0, 1, 0]), [false; 4]);
        // Records: 1, 1, 2, although flow 0 sent most packets.
        assert_eq!(hungriest_after(&mut guess, &[2]), [false, true, false, false]);
        // Records kept: 2, 3, 2, 3. The lower is selected at the sixth packet, not before.
        assert_eq!(hungriest_after(&mut guess, &[1, 3, 1, 2, 1]), [false, true, false, false]);
        assert_eq!(hungriest_after(&mut guess, &[3]), [false, false, true, false]);
        // Records kept: 3, 0, 3, 3.
        assert_eq!(hungriest_after(&mut guess, &[2, 0, 2, 3, 2, 3]), [false, false, false, true]);
    }

    /// Flows between the same hosts count as one connection. They count separately if connections are flows, or if the
    /// hosts are unknown.
    #[test]
    fn connection_identity() {
        let arrivals = [2, 0, 2, 1, 0, 1, 2, 3];
        let guess = |kind, told: bool| {
            let mut guess = GuessedHungriest::new(&parameters(kind, 1, 8, 8));
            if told {
                guess.set_flows(&flows()).unwrap();
            }
            hungriest_after(&mut guess, &arrivals)
        };
        assert_eq!(guess(ConnectionKind::Hosts, true), [true, true, false, false]);
        assert_eq!(guess(ConnectionKind::Flow, true), [false, false, true, false]);
        assert_eq!(guess(ConnectionKind::Hosts, false), [false, false, true, false]);
    }

    /// Packets in the reverse direction belong to another connection, since their addresses are swapped.
    #[test]
    fn reverse_direction() {
        for kind in [ConnectionKind::Hosts, ConnectionKind::Flow] {
            let mut guess = GuessedHungriest::new(&parameters(kind, 1, 4, 1));
            guess.set_flows(&flows()).unwrap();
            guess.receive(&packet(0, flags::ACK));
            assert!(guess.sent(&packet(0, flags::ACK)) && !guess.sent(&data(0)));
        }
    }
}
