//! CAKE (Common Applications Kept Enhanced): Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN 2018, and
//! Linux net/sched/sch_cake.c. A shaper without bursts and a scheduler that is fair between hosts and between the flows
//! of a host. Each queue is under COBALT.

mod hosts;
mod set_hash;

use std::sync::Arc;

use super::parts::{AckFilter, Chains, CobaltControl, CobaltParameters, CobaltSettings, FlowQueues, Measure};
use super::{Context, DropCause, FlowHash, FlowTable, Limit, QueueDiscipline, Queued};
use crate::about::About;
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};
use crate::{choice, parameters};
use hosts::HostLoads;
use set_hash::{Found, SetHash};

choice! {
    /// What the capacity is shared between.
    pub enum Isolation {
        /// Between flows.
        Flows = "flows",
        /// Between sources. All flows of a source share a queue.
        SourceHost = "src_host",
        /// Between destinations. All flows of a destination share a queue.
        DestinationHost = "dst_host",
        /// Between sources, then between the flows of a source.
        DualSourceHost = "dual_src_host",
        /// Between destinations, then between the flows of a destination.
        DualDestinationHost = "dual_dst_host",
        /// Between sources and destinations, then between flows. The busier of its two hosts limits a flow.
        Triple = "triple",
    }
}

impl Isolation {
    fn divides_by_source(self) -> bool {
        matches!(self, Isolation::DualSourceHost | Isolation::Triple)
    }

    fn divides_by_destination(self) -> bool {
        matches!(self, Isolation::DualDestinationHost | Isolation::Triple)
    }
}

parameters! {
    /// Parameters of CAKE.
    pub struct CakeParameters {
        bandwidth: Rate = Rate(0), in 0..1e15, "Rate of the shaper; zero for the link's rate", "Linux, net/sched/sch_cake.c: unlimited unless set";
        overhead: Bytes = Bytes(0), in 0..256, "Size that the shaper adds to each packet", "Linux, net/sched/sch_cake.c: none unless set";
        isolation: Isolation = Isolation::Triple, "What the link is shared between", "Linux, net/sched/sch_cake.c";
        ack_filter: AckFilter = AckFilter::Off, "Which acknowledgements a newer one of their connection removes", "Linux, net/sched/sch_cake.c: none unless set (ack-filter, ack-filter-aggressive)";
        ..cobalt: CobaltParameters, except blue_threshold {
            target = Duration::from_milliseconds(5), "Linux, net/sched/sch_cake.c, which raises it for low bandwidths";
            interval = Duration::from_milliseconds(100), "Linux, net/sched/sch_cake.c (rtt)";
            blue_threshold = Duration::ZERO, "Linux, net/sched/sch_cake.c: none";
            ecn = false, "off here in every discipline; always on in Linux, net/sched/sch_cake.c";
        };
    }
}

/// The number of queues (Linux, net/sched/sch_cake.c, `CAKE_QUEUES`).
const QUEUES: usize = 1024;
/// The maximum packet size, in bytes: Linux's MTU of 1500 and 14 for the Ethernet header.
const MTU: u64 = 1514;
/// The minimum quantum, in bytes (Linux, `cake_set_rate`). The maximum is the MTU.
const LEAST_QUANTUM: u64 = 300;
/// The bandwidth per byte of the quantum, in bytes per second (Linux, `cake_set_rate`).
const QUANTUM_SHARE: u64 = 1 << 12;
/// The units of credit per byte. Credits have fractions because a host's share does not divide evenly.
const BYTE: i64 = 1 << 16;

/// The list of queues within their first credit.
const NEW: usize = 0;
/// The list of queues beyond their first credit.
const OLD: usize = 1;
/// The list of empty queues whose control is not at rest.
const DECAYING: usize = 2;

/// The state of a queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Standing {
    /// Not in use.
    #[default]
    Idle,
    Sparse,
    /// Sparse, in the list of old queues, without packets.
    SparseWaiting,
    /// Counted among the flows that divide their hosts' shares.
    Bulk,
    Decaying,
}

#[derive(Debug, Default)]
struct Flow {
    standing: Standing,
    /// In units of 1/[`BYTE`] byte.
    credit: i64,
    source: u32,
    destination: u32,
    control: CobaltControl,
}

/// The CAKE queue discipline.
#[derive(Debug)]
pub struct Cake {
    bandwidth: Option<Rate>,
    overhead: u64,
    quantum: u64,
    isolation: Isolation,
    ack_filter: AckFilter,
    cobalt: CobaltSettings,
    hash: SetHash,
    table: Option<Arc<FlowTable>>,
    queues: FlowQueues,
    flows: Box<[Flow]>,
    chains: Chains<3>,
    sources: HostLoads,
    destinations: HostLoads,
    /// When the shaper may send the next packet.
    next: Time,
    release: Option<Time>,
}

impl Cake {
    /// Name, aliases, source and deviations.
    pub const ABOUT: About = About {
        name: "cake",
        aliases: &["sch_cake", "common_applications_kept_enhanced"],
        title: "CAKE",
        class: "scheduler",
        year: 2018,
        source: "Høiland-Jørgensen, Täht and Morton, LANMAN 2018; Linux net/sched/sch_cake.c",
        deviations: "one tin (besteffort), as packets have no DSCP; no ingress mode, ATM framing or \
                     autorate; hosts are distinguished without a hash; credits have fractions where Linux dithers, and \
                     the credits of a round are multiplied by the number of bulk flows of the least loaded host, which \
                     changes no share; the limit is configurable (by default four intervals of bandwidth in Linux, at \
                     least 4 MiB); ecn is off by default; COBALT as in `cobalt`, without a threshold for BLUE; the ACK \
                     filter keeps acknowledgements with options, of which Linux compares what their SACK blocks cover",
    };

    /// Creates empty queues.
    pub fn new(limit: Limit, parameters: CakeParameters) -> Cake {
        let bandwidth = Some(parameters.bandwidth).filter(|rate| rate.0 > 0);
        // Linux, `cake_set_rate`.
        let mtu_time = bandwidth.map_or(Duration::ZERO, |rate| rate.transmission_time(MTU));
        let cobalt = CobaltSettings::new(&parameters.cobalt);
        let target = cobalt.target.max(Duration(mtu_time.0 + mtu_time.0 / 2));
        let interval = (cobalt.interval + (target - cobalt.target)).max(target * 2);
        let quantum = bandwidth.map_or(MTU, |rate| (rate.0 / 8 / QUANTUM_SHARE).clamp(LEAST_QUANTUM, MTU));
        Cake {
            bandwidth,
            overhead: parameters.overhead.0,
            quantum,
            isolation: parameters.isolation,
            ack_filter: parameters.ack_filter,
            cobalt: CobaltSettings { target, interval, allowance: mtu_time * 4, signals_at_once: true, ..cobalt },
            hash: SetHash::new(QUEUES),
            table: None,
            queues: FlowQueues::new(QUEUES, Measure::Bytes, limit),
            flows: (0..QUEUES).map(|_| Flow::default()).collect(),
            chains: Chains::new(QUEUES),
            sources: HostLoads::new(1),
            destinations: HostLoads::new(1),
            next: Time::ZERO,
            release: None,
        }
    }

    /// The queue of a packet, after storing the packet's hosts there.
    fn classify(&mut self, packet: &Packet, context: &mut Context) -> usize {
        let hosts = self.table.as_ref().map(|table| (table.source(packet), table.destination(packet)));
        let (source, destination) = hosts.unwrap_or_default();
        let key = match self.isolation {
            Isolation::SourceHost => u64::from(source),
            Isolation::DestinationHost => u64::from(destination),
            _ => FlowHash::key(packet),
        };
        let flows = &self.flows;
        match self.hash.find(key, |queue| flows[queue].standing != Standing::Idle, context.random) {
            Found::Own(queue) => queue,
            Found::Other(queue) => {
                let is_bulk = self.flows[queue].standing == Standing::Bulk;
                if is_bulk {
                    self.leave_bulk(queue);
                }
                self.flows[queue].source = source;
                self.flows[queue].destination = destination;
                if is_bulk {
                    self.join_bulk(queue);
                }
                queue
            }
        }
    }

    fn join_bulk(&mut self, queue: usize) {
        let flow = &self.flows[queue];
        self.sources.join(flow.source);
        self.destinations.join(flow.destination);
    }

    fn leave_bulk(&mut self, queue: usize) {
        let flow = &self.flows[queue];
        self.sources.leave(flow.source);
        self.destinations.leave(flow.destination);
    }

    /// The number of flows that divide the shares of the queue's hosts, and the factor by which credits may be
    /// increased without exceeding a quantum.
    fn load(&self, queue: usize) -> (i64, i64) {
        let flow = &self.flows[queue];
        let (mut load, mut least) = (1, 1);
        if self.isolation.divides_by_source() {
            load = load.max(self.sources.of(flow.source));
            least = least.max(self.sources.least());
        }
        if self.isolation.divides_by_destination() {
            load = load.max(self.destinations.of(flow.destination));
            least = least.max(self.destinations.least());
        }
        (i64::from(load), i64::from(least.min(load)))
    }

    /// Gives another quantum to a queue without credit and moves it behind the old queues.
    fn renew(&mut self, queue: usize) {
        if self.flows[queue].standing == Standing::Sparse {
            if self.queues.line(queue).packets() > 0 {
                self.flows[queue].standing = Standing::Bulk;
                self.join_bulk(queue);
            } else {
                self.flows[queue].standing = Standing::SparseWaiting;
            }
        }
        let (load, least) = self.load(queue);
        self.flows[queue].credit += self.quantum as i64 * BYTE * least / load;
        self.chains.append(OLD, queue);
    }

    /// Ends the turn of an empty queue.
    fn empty(&mut self, queue: usize, now: Time) {
        if self.flows[queue].standing == Standing::Bulk {
            self.leave_bulk(queue);
        }
        let flow = &mut self.flows[queue];
        flow.control.on_empty(&self.cobalt, now);
        if flow.control.is_at_rest(now) {
            flow.standing = Standing::Idle;
            self.chains.remove(queue);
        } else {
            flow.standing = Standing::Decaying;
            self.chains.append(DECAYING, queue);
        }
    }

    /// Computes when the next packet may be sent.
    fn plan(&mut self, now: Time) {
        let waits = self.queues.packets() > 0 && self.next > now;
        self.release = waits.then_some(self.next);
    }
}

impl QueueDiscipline for Cake {
    const RANDOM: Option<&'static str> = Some("drops and hash of flows to queues");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queues.admits_alone(&packet, context) {
            return;
        }
        if self.queues.packets() == 0 {
            self.next = self.next.max(context.now);
        }
        let queue = self.classify(&packet, context);
        self.queues.push(queue, packet, context.now);
        if let Some(position) = self.ack_filter.needless(self.queues.line(queue))
            && let Some(needless) = self.queues.with(queue, |line| line.remove(position))
        {
            context.drop(needless.packet, DropCause::Early, Some(needless.since));
        }
        match self.flows[queue].standing {
            Standing::Idle | Standing::Decaying => {
                let (load, _) = self.load(queue);
                self.flows[queue].standing = Standing::Sparse;
                self.flows[queue].credit = self.quantum as i64 * BYTE / load;
                self.chains.append(NEW, queue);
            }
            Standing::SparseWaiting => {
                self.flows[queue].standing = Standing::Bulk;
                self.join_bulk(queue);
            }
            Standing::Sparse | Standing::Bulk => {}
        }
        while self.queues.is_above_limit() {
            let Some(longest) = self.queues.longest() else { break };
            let Some(head) = self.queues.pop(longest) else { break };
            self.flows[longest].control.on_full(&self.cobalt, context.now);
            context.drop(head.packet, DropCause::Overflow, Some(head.since));
        }
        self.plan(context.now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let now = context.now;
        if self.queues.packets() == 0 || self.bandwidth.is_some() && self.next > now {
            return None;
        }
        let mut next = self.chains.first(DECAYING);
        loop {
            let first = next.take().or_else(|| self.chains.first(NEW)).or_else(|| self.chains.first(OLD));
            let queue = first.or_else(|| self.chains.first(DECAYING))?;
            if self.flows[queue].credit <= 0 {
                self.renew(queue);
                continue;
            }
            while let Some(mut head) = self.queues.pop(queue) {
                let is_last = self.queues.line(queue).packets() == 0;
                let flow = &mut self.flows[queue];
                if flow.control.drops(&mut head, is_last, &self.cobalt, context) {
                    context.drop(head.packet, DropCause::Early, Some(head.since));
                    continue;
                }
                let size = u64::from(head.packet.size) + self.overhead;
                flow.credit -= size as i64 * BYTE;
                if let Some(rate) = self.bandwidth {
                    self.next += rate.transmission_time(size);
                    self.plan(now);
                }
                return Some(head);
            }
            self.empty(queue, now);
        }
    }

    lengths_of!(queues);

    fn is_at_rest(&self) -> bool {
        self.queues.packets() == 0
    }

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.table = Some(Arc::clone(flows));
        self.sources = HostLoads::new(flows.hosts());
        self.destinations = HostLoads::new(flows.hosts());
        Ok(())
    }

    fn holds_back(&self) -> bool {
        true
    }

    fn release_time(&self) -> Option<Time> {
        self.release
    }
}
