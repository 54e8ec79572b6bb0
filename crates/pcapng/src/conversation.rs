//! What the packets of a flow have in common, and what one says of those before it.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use sojourn_engine::numbers::{FIRST_ARRIVED, Numbers};
use sojourn_engine::packet::flags;
use sojourn_engine::probe::Passage;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::congestion::CongestionControl;
use sojourn_engine::tcp::profile::StackProfile;
use sojourn_engine::time::Time;

use crate::headers::{Frame, Route, address, tcp, udp};

/// The sender's ports, one a flow: those that nobody has registered (RFC 6335 section 6), so that no dissector claims them.
const FIRST_PORT: u16 = 49152;
const PORTS: u32 = 65536 - FIRST_PORT as u32;

/// The receiver's port: discard (RFC 863), and those above when one host has more flows than the sender has ports.
const DISCARD: u32 = 9;

pub struct Conversations {
    /// Those of the specification.
    flows: Vec<Conversation>,
    /// Connections that arrived, by their numbers.
    arrived: HashMap<u32, Conversation>,
    numbers: Numbers,
}

#[derive(Clone)]
struct Conversation {
    /// From the sender to the receiver.
    route: Route,
    /// The stack of a connection; none if it is UDP.
    stack: Option<Arc<StackProfile>>,
    /// The receiver's clock as its answers showed it, and when they passed: those that the sender cannot echo yet.
    answers: VecDeque<(Time, u32)>,
    /// What the sender echoes.
    echo: u32,
}

impl Conversations {
    /// The flows of a run that was built.
    ///
    /// # Errors
    /// The specification is of another run.
    pub fn new(specification: &Specification, simulation: &Simulation) -> Result<Conversations, String> {
        let mut flows = Vec::new();
        for group in &specification.flows {
            let source = &group.source;
            let algorithm = if group.count > 0 { simulation.algorithm(flows.len()) } else { None };
            let stack = match algorithm {
                None => None,
                Some(algorithm) => {
                    let profile = StackProfile::from_settings(&specification.stacks[source.stack])?;
                    Some(Arc::new(profile.adapted_to(&algorithm.needs())))
                }
            };
            for _ in 0..group.count {
                let index = flows.len() as u32;
                let (source_port, destination_port) = ports(index);
                let (source, destination) = (address(group.from), address(group.to));
                let route = Route { source, source_port, destination, destination_port, dscp: group.dscp };
                flows.push(Conversation { route, stack: stack.clone(), answers: VecDeque::new(), echo: 0 });
            }
        }
        Ok(Conversations { flows, arrived: HashMap::new(), numbers: Numbers::new(&specification.flow_groups()) })
    }

    /// The packet as it is on the wire.
    pub fn frame(&mut self, passage: &Passage) -> Frame {
        let number = passage.packet.flow;
        let flow = match self.flows.get_mut(number as usize) {
            Some(flow) => flow,
            None => self.arrived.entry(number).or_insert_with(|| {
                let mut flow = self.flows[self.numbers.row(number)].clone();
                (flow.route.source_port, flow.route.destination_port) =
                    ports(self.flows.len() as u32 + (number - FIRST_ARRIVED));
                flow
            }),
        };
        let is_answer = passage.packet.has(flags::ACK);
        let route = if is_answer { flow.route.reversed() } else { flow.route };
        match flow.stack.clone() {
            None => udp(&route, &passage.packet),
            Some(stack) => {
                let stamps = if is_answer { flow.answer(passage) } else { flow.data(passage) };
                tcp(&route, passage, &stack, stamps)
            }
        }
    }
}

/// The sender's and the receiver's port of a flow by its number.
fn ports(number: u32) -> (u16, u16) {
    (FIRST_PORT + (number % PORTS) as u16, (DISCARD + number / PORTS) as u16)
}

impl Conversation {
    /// TSval and TSecr of an answer. The engine's receivers echo a clock and show none; here it is the time of passage.
    fn answer(&mut self, passage: &Passage) -> (u32, u32) {
        let clock = ticks(passage.time);
        self.answers.push_back((passage.time, clock));
        (clock, ticks(passage.packet.stamp))
    }

    /// TSval and TSecr of what the sender sends: it echoes the latest answer that had passed when it was sent.
    fn data(&mut self, passage: &Passage) -> (u32, u32) {
        while let Some((passed, clock)) = self.answers.front()
            && *passed <= passage.packet.stamp
        {
            self.echo = *clock;
            self.answers.pop_front();
        }
        (ticks(passage.packet.stamp), self.echo)
    }
}

/// A clock of the usual tick, 1 ms (RFC 7323 section 5.4).
fn ticks(time: Time) -> u32 {
    (time.0 / 1_000_000_000) as u32
}
