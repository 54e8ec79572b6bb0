//! CAKE (Common Applications Kept Enhanced): Høiland-Jørgensen, Täht and Morton, "Piece of CAKE", LANMAN 2018, and
//! Linux net/sched/sch_cake.c. A shaper without bursts, tins for classes of traffic, and in each a scheduler that is fair
//! between hosts and between the flows of a host. Each queue is under COBALT.

mod hosts;
mod set_hash;
mod tins;

use std::sync::Arc;

use super::parts::{AckFilter, Chains, CobaltControl, CobaltParameters, CobaltSettings, FlowQueues, Measure};
use super::{Context, DropCause, FlowHash, FlowTable, Limit, QueueDiscipline, Queued};
use crate::framing::{Cells, Framing};
use crate::packet::Packet;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};
use hosts::HostLoads;
use set_hash::Found;
use tins::Tin;
pub use tins::Tins;

choice! {
    /// What the capacity is shared between.
    pub enum Isolation {
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
    pub struct CakeParameters {
        bandwidth: Rate = Rate(0), in 0..1e15, "Rate of the shaper; zero for the link's rate", "Linux, net/sched/sch_cake.c: unlimited unless set";
        overhead: Bytes = Bytes(0), in 0..256, "Size that the shaper adds to each packet", "Linux, net/sched/sch_cake.c: none unless set";
        mpu: Bytes = Bytes(0), in 0..256, "Least size of a packet for the shaper, overhead included", "Linux, net/sched/sch_cake.c: none unless set";
        framing: Cells = Cells::None, "Cells of the link that the shaper allows for: ATM of ADSL, PTM of VDSL2", "Linux, net/sched/sch_cake.c: none unless set (noatm)";
        tins: Tins = Tins::DiffServ3, "Into which tins packets are sorted by their codepoint (dscp of flows)", "Linux, net/sched/sch_cake.c: diffserv3";
        ingress: bool = false, "Count what is dropped as sent, for a shaper behind the bottleneck", "Linux, net/sched/sch_cake.c: off unless set (ingress)";
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
/// The units of credit per byte. Credits have fractions because a host's share does not divide evenly.
const BYTE: i64 = 1 << 16;

/// A tin's list of queues within their first credit.
const NEW: usize = 0;
/// Its list of queues beyond their first credit.
const OLD: usize = 1;
/// Its list of empty queues whose control is not at rest.
const DECAYING: usize = 2;
/// Its lists, and those of eight tins.
const LISTS: usize = 3;
const ALL_LISTS: usize = 8 * LISTS;

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

// Aligned, so that it stands on one cache line.
#[derive(Debug, Default)]
#[repr(align(64))]
struct Flow {
    standing: Standing,
    /// In units of 1/[`BYTE`] byte.
    credit: i64,
    source: u32,
    destination: u32,
    control: CobaltControl,
}

state! {
    pub Cake(limit: Limit, parameters: CakeParameters) {
        bandwidth: Option<Rate> = Some(parameters.bandwidth).filter(|rate| rate.0 > 0),
        framing: Framing = Framing { overhead: parameters.overhead, mpu: parameters.mpu, framing: parameters.framing },
        isolation: Isolation = parameters.isolation,
        ack_filter: AckFilter = parameters.ack_filter,
        ingress: bool = parameters.ingress,
        classes: Tins = parameters.tins,
        tins: Vec<Tin> = parameters.tins.build(bandwidth, &CobaltSettings::new(&parameters.cobalt)),
        /// The tin in service, of a link without a bandwidth.
        turn: usize,
        table: Option<Arc<FlowTable>>,
        /// The queues of all tins, one tin's after another's.
        flows: Box<[Flow]> = (0..tins.len() * QUEUES).map(|_| Flow::default()).collect(),
        queues: FlowQueues = FlowQueues::new(flows.len(), Measure::Bytes, limit),
        chains: Chains<ALL_LISTS> = Chains::new(flows.len()),
        /// When the shaper may send the next packet.
        next: Time,
        /// When it may in any case: drops that count as sent must not stop the link (Linux, `failsafe_next_packet`).
        failsafe: Time,
        release: Option<Time>,
    }
}

about! { Cake:
    name: "cake",
    aliases: ["sch_cake", "common_applications_kept_enhanced"],
    title: "CAKE",
    class: "scheduler",
    year: 2018,
    source: "Høiland-Jørgensen, Täht and Morton, LANMAN 2018; Linux net/sched/sch_cake.c",
    deviations: "no autorate, wash or negative overhead; hosts are distinguished without a hash; credits have \
                 fractions where Linux dithers, and the credits of a round are multiplied by the number of bulk flows \
                 of the least loaded host, which changes no share; the limit is configurable (by default four \
                 intervals of bandwidth in Linux, at least 4 MiB); ecn is off by default; COBALT as in `cobalt`, \
                 without a threshold for BLUE; the ACK filter keeps acknowledgements with options, of which Linux \
                 compares what their SACK blocks cover",
}

impl Cake {
    /// Brings the clocks of idle shapers up to date before a packet for this tin is queued (Linux, `cake_enqueue`).
    fn wake(&mut self, tin: usize, now: Time) {
        if self.bandwidth.is_none() {
            return;
        }
        if self.tins[tin].packets == 0 {
            self.tins[tin].next = self.tins[tin].next.max(now);
        }
        if self.queues.packets() == 0 && self.next < now {
            (self.next, self.failsafe) = (now, now);
        }
    }

    /// The queue of a packet in its tin, after storing the packet's hosts there.
    fn classify(&mut self, packet: &Packet, tin: usize, context: &mut Context) -> usize {
        let source = || self.table.as_ref().map_or(0, |table| table.source(packet));
        let destination = || self.table.as_ref().map_or(0, |table| table.destination(packet));
        let key = match self.isolation {
            Isolation::SourceHost => u64::from(source()),
            Isolation::DestinationHost => u64::from(destination()),
            _ => FlowHash::key(packet),
        };
        let first = tin * QUEUES;
        let flows = &self.flows;
        let is_used = |queue: usize| flows[first + queue].standing != Standing::Idle;
        match self.tins[tin].hash.find(key, is_used, context.random) {
            Found::Own(queue) => first + queue,
            Found::Other(queue) => {
                let (queue, source, destination) = (first + queue, source(), destination());
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
        let (flow, tin) = (&self.flows[queue], &mut self.tins[queue / QUEUES]);
        tin.bulk += 1;
        tin.sources.join(flow.source);
        tin.destinations.join(flow.destination);
    }

    fn leave_bulk(&mut self, queue: usize) {
        let (flow, tin) = (&self.flows[queue], &mut self.tins[queue / QUEUES]);
        tin.bulk -= 1;
        tin.sources.leave(flow.source);
        tin.destinations.leave(flow.destination);
    }

    /// The number of flows that divide the shares of the queue's hosts, and the factor by which credits may be
    /// increased without exceeding a quantum.
    fn load(&self, queue: usize) -> (i64, i64) {
        let (flow, tin) = (&self.flows[queue], &self.tins[queue / QUEUES]);
        let (mut load, mut least) = (1, 1);
        if self.isolation.divides_by_source() {
            load = load.max(tin.sources.of(flow.source));
            least = least.max(tin.sources.least());
        }
        if self.isolation.divides_by_destination() {
            load = load.max(tin.destinations.of(flow.destination));
            least = least.max(tin.destinations.least());
        }
        (i64::from(load), i64::from(least.min(load)))
    }

    /// The credit of a round of a queue's tin.
    fn quantum(&self, queue: usize) -> i64 {
        self.tins[queue / QUEUES].quantum as i64 * BYTE
    }

    /// A list of the tin that a queue belongs to.
    fn list(queue: usize, list: usize) -> usize {
        queue / QUEUES * LISTS + list
    }

    // The head is handed on as it is, so that it is not copied again.
    #[inline(always)]
    fn pop(&mut self, queue: usize) -> Option<Queued> {
        let head = self.queues.pop(queue);
        self.tins[queue / QUEUES].packets -= u64::from(head.is_some());
        head
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
        let quantum = self.quantum(queue);
        self.flows[queue].credit += if least == load { quantum } else { quantum * least / load };
        self.chains.append(Self::list(queue, OLD), queue);
    }

    /// Ends the turn of an empty queue.
    fn empty(&mut self, queue: usize, now: Time) {
        if self.flows[queue].standing == Standing::Bulk {
            self.leave_bulk(queue);
        }
        let flow = &mut self.flows[queue];
        flow.control.on_empty(&self.tins[queue / QUEUES].cobalt, now);
        if flow.control.is_at_rest(now) {
            flow.standing = Standing::Idle;
            self.chains.remove(queue);
        } else {
            flow.standing = Standing::Decaying;
            self.chains.append(Self::list(queue, DECAYING), queue);
        }
    }

    /// Charges bytes that leave a queue to its tin and the link.
    fn charge(&mut self, queue: usize, bytes: u64, now: Time) {
        let Some(rate) = self.bandwidth else { return };
        self.tins[queue / QUEUES].charge(bytes, now);
        self.next += rate.transmission_time(bytes);
    }

    /// Charges a packet that was sent, which also bounds how long drops may hold the link back.
    fn charge_sent(&mut self, queue: usize, bytes: u64, now: Time) {
        self.charge(queue, bytes, now);
        if let Some(rate) = self.bandwidth {
            let time = rate.transmission_time(bytes);
            self.failsafe += Duration(time.0 + time.0 / 2);
        }
    }

    /// Charges a packet that was dropped, if drops count as sent.
    fn charge_dropped(&mut self, queue: usize, packet: &Packet, now: Time) {
        if self.ingress {
            self.charge(queue, self.framing.bytes(packet.size.into()), now);
        }
    }

    fn due(&self) -> Time {
        self.next.min(self.failsafe)
    }

    fn plan(&mut self, now: Time) {
        let waits = self.bandwidth.is_some() && self.queues.packets() > 0 && self.due() > now;
        self.release = waits.then_some(self.due());
    }

    /// Whether a tin has queues that wait for service.
    fn waits(&self, tin: usize) -> bool {
        [NEW, OLD].iter().any(|list| self.chains.first(tin * LISTS + list).is_some())
    }

    /// The tin to serve (Linux, `cake_dequeue`): the highest that keeps to its threshold, or else the one whose threshold allows
    /// its next packet first. Without a bandwidth tins take turns by their weights.
    fn choose(&mut self, now: Time) -> Option<usize> {
        if self.bandwidth.is_none() {
            return self.next_turn();
        }
        let waiting = (0..self.tins.len()).rev().filter(|tin| self.waits(*tin));
        waiting.min_by_key(|tin| self.tins[*tin].next.max(now))
    }

    fn next_turn(&mut self) -> Option<usize> {
        // A queue with packets waits for service, and one without may.
        if self.queues.packets() == 0 && !(0..self.tins.len()).any(|tin| self.waits(tin)) {
            return None;
        }
        loop {
            if self.tins[self.turn].deficit >= 0 && self.waits(self.turn) {
                return Some(self.turn);
            }
            let tin = &mut self.tins[self.turn];
            if tin.deficit <= 0 {
                tin.deficit += tin.weight;
            }
            self.turn += 1;
            if self.turn == self.tins.len() {
                self.turn = 0;
            }
        }
    }

    /// The queue of a tin to serve next: of the new, the old and the decaying ones, or of the decaying ones before them.
    fn first(&self, tin: usize, decaying_first: bool) -> Option<usize> {
        let first = |list| self.chains.first(tin * LISTS + list);
        let waiting = || first(NEW).or_else(|| first(OLD));
        if decaying_first { first(DECAYING).or_else(waiting) } else { waiting().or_else(|| first(DECAYING)) }
    }

    /// Takes a packet from a queue of this tin, or finds out that a queue is empty.
    fn serve(&mut self, tin: usize, is_first: &mut bool, context: &mut Context) -> Option<Queued> {
        let now = context.now;
        'flow: loop {
            let queue = self.first(tin, std::mem::take(is_first))?;
            if self.flows[queue].credit <= 0 {
                self.renew(queue);
                continue;
            }
            while let Some(mut head) = self.pop(queue) {
                let bytes = self.framing.bytes(head.packet.size.into());
                let is_last = self.queues.line(queue).packets() == 0;
                let (settings, flow) = (&self.tins[tin], &mut self.flows[queue]);
                let settings = if self.ingress { &settings.crowded() } else { &settings.cobalt };
                let drops = flow.control.drops(&mut head, is_last, settings, context);
                if !drops || self.ingress {
                    flow.credit -= bytes as i64 * BYTE;
                    self.tins[tin].deficit -= bytes as i64;
                }
                if !drops {
                    self.charge_sent(queue, bytes, now);
                    self.plan(now);
                    return Some(head);
                }
                self.charge_dropped(queue, &head.packet, now);
                context.drop(head.packet, DropCause::Early, Some(head.since));
                if self.ingress {
                    continue 'flow;
                }
            }
            self.empty(queue, now);
            return None;
        }
    }
}

impl QueueDiscipline for Cake {
    const RANDOM: Option<&'static str> = Some("drops and hash of flows to queues");

    fn enqueue(&mut self, packet: Packet, context: &mut Context) {
        if !self.queues.admits_alone(&packet, context) {
            return;
        }
        let now = context.now;
        let tin = self.classes.of(self.table.as_ref().map_or(0, |table| table.dscp(&packet)));
        self.wake(tin, now);
        let queue = self.classify(&packet, tin, context);
        self.queues.push(queue, packet, now);
        self.tins[tin].packets += 1;
        if let Some(position) = self.ack_filter.needless(self.queues.line(queue))
            && let Some(needless) = self.queues.with(queue, |line| line.remove(position))
        {
            self.tins[tin].packets -= 1;
            self.charge_dropped(queue, &needless.packet, now);
            context.drop(needless.packet, DropCause::Early, Some(needless.since));
        }
        match self.flows[queue].standing {
            Standing::Idle | Standing::Decaying => {
                let (load, _) = self.load(queue);
                self.flows[queue].standing = Standing::Sparse;
                self.flows[queue].credit = self.quantum(queue) / load;
                self.chains.append(Self::list(queue, NEW), queue);
            }
            Standing::SparseWaiting => {
                self.flows[queue].standing = Standing::Bulk;
                self.join_bulk(queue);
            }
            Standing::Sparse | Standing::Bulk => {}
        }
        while self.queues.is_above_limit() {
            let Some(longest) = self.queues.longest() else { break };
            let Some(head) = self.pop(longest) else { break };
            self.flows[longest].control.on_full(&self.tins[longest / QUEUES].cobalt, now);
            self.charge_dropped(longest, &head.packet, now);
            context.drop(head.packet, DropCause::Overflow, Some(head.since));
        }
        self.plan(now);
    }

    fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
        let now = context.now;
        if self.queues.packets() == 0 || self.bandwidth.is_some() && self.due() > now {
            return None;
        }
        let mut is_first = true;
        loop {
            let tin = self.choose(now)?;
            if let Some(sent) = self.serve(tin, &mut is_first, context) {
                return Some(sent);
            }
        }
    }

    lengths_of!(queues, at_rest_when_empty);

    fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
        self.table = Some(Arc::clone(flows));
        for tin in &mut self.tins {
            tin.sources = HostLoads::new(flows.hosts());
            tin.destinations = HostLoads::new(flows.hosts());
        }
        Ok(())
    }

    fn holds_back(&self) -> bool {
        self.bandwidth.is_some()
    }

    fn release_time(&self) -> Option<Time> {
        self.release
    }
}
