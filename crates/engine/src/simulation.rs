//! A run: builds the network and the flows of a specification, and processes events in order.

use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::agenda::{Agenda, Due, Timer};
use crate::network::{END_OF_PATH, Egress, InTransit, Link, Losses, MeasuredQueue, Routes};
use crate::packet::{Packet, SackPool, flags};
use crate::probe::{FlowSample, QueueProbe, QueueSample, Series};
use crate::queue::{Context, Discipline, Outcome, QueueDiscipline, Queued};
use crate::random::{Purpose, Random};
use crate::result::{FlowResult, QueueResult, RunResult, TcpResult};
use crate::specification::{FlowSpecification, LossPattern, SourceSpecification, Specification};
use crate::tcp::congestion::Algorithm;
use crate::tcp::connection::Connection;
use crate::tcp::profile::StackProfile;
use crate::tcp::sender::{Address, Sender, SenderStatistics};
use crate::time::{Duration, Time};
use crate::traffic::ConstantRate;

/// What a flow is at its two ends.
#[derive(Debug)]
enum Endpoints {
    Tcp(Box<Connection>),
    ConstantRate(Box<ConstantRate>),
}

#[derive(Debug)]
struct Flow {
    group: usize,
    start: Time,
    endpoints: Endpoints,
    /// When the retransmission timer on the agenda fires; it is re-armed only then, however often the deadline moves.
    retransmission_armed: Time,
    /// The same for the delayed acknowledgement.
    delayed_ack_armed: Time,
    delivered_before_window: u64,
    overhead: Option<Overhead>,
}

/// Packets that wait for their sender's random overhead to pass.
#[derive(Debug)]
struct Overhead {
    limit: Duration,
    random: Random,
    waiting: VecDeque<(Time, Packet)>,
}

/// Where every packet is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Census {
    /// Made by hosts.
    pub created: u64,
    /// Reached their host.
    pub delivered: u64,
    /// Dropped by a queue or by a link's plan.
    pub dropped: u64,
    /// Waiting in queues.
    pub queued: u64,
    /// On links.
    pub in_transit: u64,
    /// Waiting for their sender's overhead to pass.
    pub in_senders: u64,
}

impl Census {
    /// The law of conservation.
    pub fn is_complete(&self) -> bool {
        self.created == self.delivered + self.dropped + self.queued + self.in_transit + self.in_senders
    }
}

/// A run under way.
#[derive(Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
    agenda: Agenda,
    network: Network,
    flows: Vec<Flow>,
    sacks: SackPool,
    outbox: Vec<Packet>,
    window_opens: Time,
    queue_series: Option<Duration>,
    flow_series: Option<Duration>,
    series: Series,
    events: u64,
    created: u64,
    delivered: u64,
    data_packets_delivered: u64,
}

/// Events between two looks at whether the run is cancelled.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

impl Simulation {
    /// Builds a run.
    ///
    /// # Errors
    /// One line that says what in the specification is wrong and what is allowed.
    pub fn new(specification: &Specification) -> Result<Simulation, String> {
        check(specification)?;
        let mut builder = Builder { specification, routes: Routes::default(), stacks: Vec::new(), flows: Vec::new() };
        builder.build_stacks()?;
        builder.build_flows()?;
        let Builder { routes, flows, .. } = builder;
        let links = build_links(specification, &routes)?;
        let mut simulation = Simulation {
            now: Time::ZERO,
            end: specification.duration,
            agenda: Agenda::new(links.len()),
            network: Network { links, routes, dropped: 0 },
            flows,
            sacks: SackPool::default(),
            outbox: Vec::new(),
            window_opens: specification.warm_up,
            queue_series: specification.probe.queue_series,
            flow_series: specification.probe.flow_series,
            series: Series::default(),
            events: 0,
            created: 0,
            delivered: 0,
            data_packets_delivered: 0,
        };
        simulation.arm_first_timers();
        Ok(simulation)
    }

    fn arm_first_timers(&mut self) {
        if self.window_opens > Time::ZERO {
            self.agenda.set_timer(Timer::WindowOpens, self.window_opens);
        }
        if self.queue_series.is_some() {
            self.agenda.set_timer(Timer::SampleQueues, Time::ZERO);
        }
        if self.flow_series.is_some() {
            self.agenda.set_timer(Timer::SampleFlows, Time::ZERO);
        }
        for (index, link) in self.network.links.iter().enumerate() {
            if let Egress::Queue(queue) = &link.egress
                && let Some(interval) = queue.discipline.timer_interval()
            {
                self.agenda.set_timer(Timer::Queue(index as u32), Time::ZERO + interval);
            }
        }
        for (index, flow) in self.flows.iter().enumerate() {
            self.agenda.set_timer(Timer::FlowStart(index as u32), flow.start);
        }
    }

    /// Runs to the end. None if cancelled.
    pub fn run(mut self, cancelled: &AtomicBool) -> Option<RunResult> {
        loop {
            if cancelled.load(Ordering::Relaxed) {
                return None;
            }
            for _ in 0..EVENTS_BETWEEN_LOOKS {
                if !self.step() {
                    return Some(self.finish());
                }
            }
        }
    }

    /// The time of the latest event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// Processes the next event. False when none is left before the end.
    pub fn step(&mut self) -> bool {
        let Some((time, due)) = self.agenda.next_before(self.end) else {
            return false;
        };
        debug_assert!(time >= self.now, "time never runs back");
        self.now = time;
        self.events += 1;
        match due {
            Due::Arrival(link) => self.on_arrival(link),
            Due::Transmitted(link) => self.network.transmit_next(link, self.now, &mut self.agenda, &mut self.sacks),
            Due::Timer(timer) => self.on_timer(timer),
        }
        true
    }

    fn on_arrival(&mut self, link: usize) {
        let packet = self.network.take_arrival(link, &mut self.agenda);
        if self.network.routes.link(packet.hop) == END_OF_PATH {
            self.deliver(&packet);
        } else {
            self.network.offer(packet, self.now, &mut self.agenda, &mut self.sacks);
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        self.delivered += 1;
        self.data_packets_delivered += u64::from(packet.flags & flags::DATA);
        let index = packet.flow as usize;
        match &mut self.flows[index].endpoints {
            Endpoints::Tcp(connection) => {
                connection.on_packet(packet, self.now, &mut self.sacks, &mut self.outbox);
                self.after_connection(index);
            }
            Endpoints::ConstantRate(source) => source.bytes_delivered += u64::from(packet.size),
        }
    }

    /// Arms the timers that a connection now wants, and sends what it has to send.
    fn after_connection(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if let Endpoints::Tcp(connection) = &flow.endpoints {
            let deadline = connection.sender.deadline;
            if deadline < flow.retransmission_armed {
                flow.retransmission_armed = deadline;
                self.agenda.set_timer(Timer::Retransmission(index as u32), deadline);
            }
            let deadline = connection.receiver.ack_deadline;
            if deadline < flow.delayed_ack_armed {
                flow.delayed_ack_armed = deadline;
                self.agenda.set_timer(Timer::DelayedAck(index as u32), deadline);
            }
        }
        self.send_outbox(index);
    }

    fn send_outbox(&mut self, index: usize) {
        self.created += self.outbox.len() as u64;
        for packet in self.outbox.drain(..) {
            match &mut self.flows[index].overhead {
                Some(overhead) if !packet.has(flags::ACK) => {
                    let ready = self.now + overhead.random.below(overhead.limit);
                    let ready = overhead.waiting.back().map_or(ready, |(last, _)| ready.max(*last));
                    if overhead.waiting.is_empty() {
                        self.agenda.set_timer(Timer::Release(index as u32), ready);
                    }
                    overhead.waiting.push_back((ready, packet));
                }
                _ => self.network.offer(packet, self.now, &mut self.agenda, &mut self.sacks),
            }
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::FlowStart(index) => self.start_flow(index as usize),
            Timer::Emission(index) => self.emit(index as usize),
            Timer::Retransmission(index) => self.on_retransmission_timer(index as usize),
            Timer::DelayedAck(index) => self.on_delayed_ack_timer(index as usize),
            Timer::Release(index) => self.release(index as usize),
            Timer::Queue(index) => self.on_queue_timer(index),
            Timer::WindowOpens => self.open_window(),
            Timer::SampleQueues => self.sample_queues(),
            Timer::SampleFlows => self.sample_flows(),
        }
    }

    fn start_flow(&mut self, index: usize) {
        if let Endpoints::Tcp(connection) = &mut self.flows[index].endpoints {
            connection.sender.open(self.now, &mut self.outbox);
            self.after_connection(index);
        } else {
            self.emit(index);
        }
    }

    fn emit(&mut self, index: usize) {
        if let Endpoints::ConstantRate(source) = &mut self.flows[index].endpoints {
            if let Some(next) = source.emit(self.now, &mut self.outbox) {
                self.agenda.set_timer(Timer::Emission(index as u32), next);
            }
            self.send_outbox(index);
        }
    }

    fn on_retransmission_timer(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if flow.retransmission_armed != self.now {
            return; // An earlier deadline replaced this timer.
        }
        flow.retransmission_armed = Time::NEVER;
        if let Endpoints::Tcp(connection) = &mut flow.endpoints {
            if connection.sender.deadline <= self.now {
                connection.sender.on_timeout(self.now, &mut self.outbox);
            }
            self.after_connection(index);
        }
    }

    fn on_delayed_ack_timer(&mut self, index: usize) {
        let flow = &mut self.flows[index];
        if flow.delayed_ack_armed != self.now {
            return;
        }
        flow.delayed_ack_armed = Time::NEVER;
        if let Endpoints::Tcp(connection) = &mut flow.endpoints {
            if connection.receiver.ack_deadline <= self.now {
                connection.acknowledge(&mut self.sacks, &mut self.outbox);
            }
            self.after_connection(index);
        }
    }

    fn release(&mut self, index: usize) {
        let Some(overhead) = &mut self.flows[index].overhead else {
            return;
        };
        let Some((_, packet)) = overhead.waiting.pop_front() else {
            return;
        };
        if let Some((ready, _)) = overhead.waiting.front() {
            self.agenda.set_timer(Timer::Release(index as u32), *ready);
        }
        self.network.offer(packet, self.now, &mut self.agenda, &mut self.sacks);
    }

    fn on_queue_timer(&mut self, link: u32) {
        if let Egress::Queue(queue) = &mut self.network.links[link as usize].egress {
            queue.discipline.on_timer(self.now);
            if let Some(interval) = queue.discipline.timer_interval() {
                self.agenda.set_timer(Timer::Queue(link), self.now + interval);
            }
        }
    }

    fn open_window(&mut self) {
        for link in &mut self.network.links {
            if let Egress::Queue(queue) = &mut link.egress {
                queue.probe.open_window(self.now, link.busy_until);
            }
        }
        for flow in &mut self.flows {
            flow.delivered_before_window = flow.endpoints.delivered();
            match &mut flow.endpoints {
                Endpoints::Tcp(connection) => connection.sender.statistics = SenderStatistics::default(),
                Endpoints::ConstantRate(source) => source.packets_sent = 0,
            }
        }
    }

    fn sample_queues(&mut self) {
        for (index, link) in self.network.links.iter().enumerate() {
            if let Egress::Queue(queue) = &link.egress {
                let (packets, bytes) = (queue.discipline.packets(), queue.discipline.bytes());
                self.series.queues.push(QueueSample { time: self.now, link: index, packets, bytes });
            }
        }
        if let Some(interval) = self.queue_series {
            self.agenda.set_timer(Timer::SampleQueues, self.now + interval);
        }
    }

    fn sample_flows(&mut self) {
        for (index, flow) in self.flows.iter().enumerate() {
            if let Endpoints::Tcp(connection) = &flow.endpoints {
                let window = connection.sender.window();
                self.series.flows.push(FlowSample {
                    time: self.now,
                    flow: index,
                    cwnd: window.cwnd,
                    ssthresh: (window.ssthresh != u64::MAX).then_some(window.ssthresh),
                    rtt: connection.sender.latest_rtt(),
                    bytes_delivered: connection.delivered(),
                });
            }
        }
        if let Some(interval) = self.flow_series {
            self.agenda.set_timer(Timer::SampleFlows, self.now + interval);
        }
    }

    /// Counts every packet.
    pub fn census(&self) -> Census {
        let mut census = Census {
            created: self.created,
            delivered: self.delivered,
            dropped: self.network.dropped,
            ..Census::default()
        };
        for link in &self.network.links {
            census.in_transit += link.in_transit.len() as u64;
            if let Egress::Queue(queue) = &link.egress {
                census.queued += queue.discipline.packets();
            }
        }
        for flow in &self.flows {
            census.in_senders += flow.overhead.as_ref().map_or(0, |overhead| overhead.waiting.len() as u64);
        }
        census
    }

    fn finish(self) -> RunResult {
        debug_assert!(self.census().is_complete(), "{:?}", self.census());
        let flows = self.flows.iter().map(Flow::result).collect();
        let mut queues = Vec::new();
        for (index, link) in self.network.links.into_iter().enumerate() {
            if let Egress::Queue(queue) = link.egress {
                queues.push(QueueResult {
                    link: index,
                    drops_planned: link.losses.map_or(0, |losses| losses.lost),
                    statistics: queue.probe.close(self.end, link.busy_until),
                });
            }
        }
        RunResult {
            flows,
            queues,
            series: self.series,
            events: self.events,
            data_packets_delivered: self.data_packets_delivered,
        }
    }
}

impl Endpoints {
    fn delivered(&self) -> u64 {
        match self {
            Endpoints::Tcp(connection) => connection.delivered(),
            Endpoints::ConstantRate(source) => source.bytes_delivered,
        }
    }
}

impl Flow {
    fn result(&self) -> FlowResult {
        let delivered = self.endpoints.delivered();
        let (tcp, segments_sent) = match &self.endpoints {
            Endpoints::Tcp(connection) => {
                let sender = &connection.sender;
                let tcp = TcpResult {
                    state: sender.state(),
                    established: sender.established_at(),
                    completed: sender.completed_at(),
                    statistics: sender.statistics,
                };
                (Some(tcp), sender.statistics.segments_sent)
            }
            Endpoints::ConstantRate(source) => (None, source.packets_sent),
        };
        FlowResult {
            group: self.group,
            start: self.start,
            bytes_delivered: delivered - self.delivered_before_window,
            total_bytes_delivered: delivered,
            tcp,
            segments_sent,
        }
    }
}

/// Links and paths, apart from the flows, so that a flow's packets can be sent while the flow is at work.
#[derive(Debug)]
struct Network {
    links: Vec<Link>,
    routes: Routes,
    dropped: u64,
}

impl Network {
    /// A packet comes to the link that its hop names.
    fn offer(&mut self, packet: Packet, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let index = self.routes.link(packet.hop) as usize;
        let link = &mut self.links[index];
        if let Some(losses) = &mut link.losses
            && losses.takes(&packet)
        {
            self.dropped += 1;
            sacks.take(packet.sacks);
            return;
        }
        match &mut link.egress {
            Egress::Unlimited { .. } => {
                let arrival = link.transmit(packet.size, now);
                self.forward(index, packet, arrival, agenda);
            }
            Egress::Queue(queue) => {
                queue.probe.on_arrival();
                let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
                queue.discipline.enqueue(packet, &mut context);
                self.dropped += settle(queue, now, sacks);
                if link.busy_until <= now {
                    self.transmit_next(index, now, agenda, sacks);
                }
            }
        }
    }

    /// The transmitter of a link with a queue is free.
    fn transmit_next(&mut self, index: usize, now: Time, agenda: &mut Agenda, sacks: &mut SackPool) {
        let link = &mut self.links[index];
        let Egress::Queue(queue) = &mut link.egress else { return };
        let mut context = Context { now, random: &mut queue.random, outcome: &mut queue.outcome };
        let next = queue.discipline.dequeue(&mut context);
        self.dropped += settle(queue, now, sacks);
        let Some(Queued { packet, since }) = next else {
            agenda.clear_transmitted(index);
            return;
        };
        let arrival = link.transmit(packet.size, now);
        agenda.set_transmitted(index, link.busy_until);
        if let Egress::Queue(queue) = &mut link.egress {
            queue.probe.on_departure(packet.size, now.since(since), link.busy_until.since(now));
        }
        self.forward(index, packet, arrival, agenda);
    }

    /// A packet that was put on link `index` reaches its end at `arrival`. While the links that follow only ever get
    /// packets from this one, their part of the way is computed at once.
    fn forward(&mut self, mut index: usize, mut packet: Packet, mut arrival: Time, agenda: &mut Agenda) {
        loop {
            packet.hop += 1;
            let next = self.routes.link(packet.hop);
            if next == END_OF_PATH {
                break;
            }
            let next_link = &mut self.links[next as usize];
            if !matches!(next_link.egress, Egress::Unlimited { follows_one_link: true }) {
                break;
            }
            arrival = next_link.transmit(packet.size, arrival);
            index = next as usize;
        }
        let sequence = agenda.sequence();
        let in_transit = &mut self.links[index].in_transit;
        if in_transit.is_empty() {
            agenda.set_arrival(index, arrival, sequence);
        }
        in_transit.push_back(InTransit { arrival, sequence, packet });
    }

    /// Takes the packet that arrives at the end of a link.
    fn take_arrival(&mut self, index: usize, agenda: &mut Agenda) -> Packet {
        let in_transit = &mut self.links[index].in_transit;
        let arrived = in_transit.pop_front().expect("an arrival is due only while a packet is under way");
        match in_transit.front() {
            Some(head) => agenda.set_arrival(index, head.arrival, head.sequence),
            None => agenda.clear_arrival(index),
        }
        arrived.packet
    }
}

/// Takes account of what a discipline has just done; returns how many packets it dropped.
fn settle(queue: &mut MeasuredQueue, now: Time, sacks: &mut SackPool) -> u64 {
    queue.probe.on_length(queue.discipline.packets(), queue.discipline.bytes(), now);
    let dropped = queue.outcome.dropped.len() as u64;
    if dropped + queue.outcome.marks > 0 {
        queue.probe.on_outcome(&queue.outcome);
        for drop in queue.outcome.dropped.drain(..) {
            sacks.take(drop.packet.sacks);
        }
        queue.outcome.marks = 0;
    }
    dropped
}

/// Checks what can be checked before anything is built.
fn check(specification: &Specification) -> Result<(), String> {
    if specification.warm_up >= specification.duration {
        return Err("warm_up: the measuring window must open before the end".to_owned());
    }
    let nodes = specification.nodes.len();
    for (index, link) in specification.links.iter().enumerate() {
        let name = |end: usize| specification.nodes.get(end).map_or("?", String::as_str);
        let place = format!("links[{index}] ({} -> {})", name(link.from), name(link.to));
        if link.from >= nodes || link.to >= nodes || link.from == link.to {
            return Err(format!("{place}: must join two different nodes of the {nodes} there are"));
        }
        if link.rate.0 == 0 {
            return Err(format!("{place}: rate must be above zero"));
        }
        if matches!(&link.drop, Some(LossPattern::Every(0))) {
            return Err(format!("{place}: drop every must be at least 1"));
        }
    }
    for (index, flow) in specification.flows.iter().enumerate() {
        let place = format!("flows[{index}] ({})", flow.group);
        if flow.from >= nodes || flow.to >= nodes || flow.from == flow.to {
            return Err(format!("{place}: must join two different nodes of the {nodes} there are"));
        }
        if flow.size.is_some_and(|size| size.0 == 0) {
            return Err(format!("{place}: size must be at least one byte"));
        }
        match &flow.source {
            SourceSpecification::Tcp(tcp) if tcp.stack >= specification.stacks.len() => {
                return Err(format!("{place}: stack {} is not among the {}", tcp.stack, specification.stacks.len()));
            }
            SourceSpecification::ConstantRate(source)
                if source.rate.0 == 0 || source.packet_size.0 == 0 || source.packet_size.0 > u64::from(u16::MAX) =>
            {
                return Err(format!("{place}: constant_rate needs a rate above zero and packets of 1 to 65535 bytes"));
            }
            _ => {}
        }
    }
    for interval in [specification.probe.queue_series, specification.probe.flow_series].into_iter().flatten() {
        if interval == Duration::ZERO {
            return Err("probe: a sampling interval must be above zero".to_owned());
        }
    }
    Ok(())
}

struct Builder<'a> {
    specification: &'a Specification,
    routes: Routes,
    stacks: Vec<Arc<StackProfile>>,
    flows: Vec<Flow>,
}

impl Builder<'_> {
    fn build_stacks(&mut self) -> Result<(), String> {
        for (index, settings) in self.specification.stacks.iter().enumerate() {
            let profile = StackProfile::from_settings(settings).map_err(|error| format!("stacks[{index}]: {error}"))?;
            self.stacks.push(Arc::new(profile));
        }
        Ok(())
    }

    fn build_flows(&mut self) -> Result<(), String> {
        for (group, flow) in self.specification.flows.iter().enumerate() {
            let forward = self.path(flow.from, flow.to, flow)?;
            let backward = self.path(flow.to, flow.from, flow)?;
            for _ in 0..flow.count {
                self.build_flow(group, flow, forward, backward)
                    .map_err(|error| format!("flows[{group}] ({}): {error}", flow.group))?;
            }
        }
        Ok(())
    }

    fn path(&mut self, from: usize, to: usize, flow: &FlowSpecification) -> Result<u32, String> {
        let specification = self.specification;
        self.routes.path(from, to, specification.nodes.len(), &specification.links).ok_or_else(|| {
            let name = |node: usize| &specification.nodes[node];
            format!("flow {}: there is no route from {} to {}", flow.group, name(from), name(to))
        })
    }

    fn build_flow(
        &mut self,
        group: usize,
        flow: &FlowSpecification,
        forward: u32,
        backward: u32,
    ) -> Result<(), String> {
        let index = self.flows.len() as u64;
        let seed = self.specification.seed;
        let address = Address { flow: index as u32, first_hop: forward };
        let size = flow.size.map(|size| size.0);
        let endpoints = match &flow.source {
            SourceSpecification::Tcp(tcp) => {
                let profile = &self.stacks[tcp.stack];
                let algorithm = Algorithm::new(&tcp.name, &tcp.parameters)?;
                let sender = Sender::new(address, Arc::clone(profile), algorithm, tcp.slow_start, size);
                let return_address = Address { flow: index as u32, first_hop: backward };
                Endpoints::Tcp(Box::new(Connection::new(sender, profile, return_address)))
            }
            SourceSpecification::ConstantRate(source) => {
                let random = Random::stream(seed, Purpose::Source, index);
                Endpoints::ConstantRate(Box::new(ConstantRate::new(address, source, size, random)))
            }
        };
        let limit = self.specification.sender_overhead;
        let overhead = (limit > Duration::ZERO).then(|| Overhead {
            limit,
            random: Random::stream(seed, Purpose::SenderOverhead, index),
            waiting: VecDeque::new(),
        });
        let start = flow.start + Random::stream(seed, Purpose::FlowStart, index).below(flow.start_within);
        self.flows.push(Flow {
            group,
            start,
            endpoints,
            retransmission_armed: Time::NEVER,
            delayed_ack_armed: Time::NEVER,
            delivered_before_window: 0,
            overhead,
        });
        Ok(())
    }
}

fn build_links(specification: &Specification, routes: &Routes) -> Result<Vec<Link>, String> {
    let followers = links_that_follow_one(specification.links.len(), routes);
    let mut links = Vec::new();
    for (index, link) in specification.links.iter().enumerate() {
        let losses = link.drop.clone().map(Losses::new);
        let egress = match &link.queue {
            None => Egress::Unlimited { follows_one_link: followers[index] && losses.is_none() },
            Some(queue) => {
                let name = |node: usize| &specification.nodes[node];
                let discipline = Discipline::new(&queue.name, queue.limit, &queue.parameters)
                    .map_err(|error| format!("queue {} -> {}: {error}", name(link.from), name(link.to)))?;
                Egress::Queue(Box::new(MeasuredQueue {
                    discipline,
                    random: Random::stream(specification.seed, Purpose::Queue, index as u64),
                    outcome: Outcome::default(),
                    probe: QueueProbe::default(),
                }))
            }
        };
        links.push(Link::new(link.rate, link.delay, egress, losses));
    }
    Ok(links)
}

/// For each link whether all its packets come from one and the same other link.
fn links_that_follow_one(links: usize, routes: &Routes) -> Vec<bool> {
    #[derive(Clone, Copy, PartialEq)]
    enum Feeder {
        Unknown,
        One(u32),
        Several,
    }
    let mut feeders = vec![Feeder::Unknown; links];
    for path in routes.paths() {
        feeders[path[0] as usize] = Feeder::Several; // Fed by a host.
        for hop in path.windows(2) {
            let feeder = &mut feeders[hop[1] as usize];
            *feeder = match *feeder {
                Feeder::Unknown => Feeder::One(hop[0]),
                known if known == Feeder::One(hop[0]) => known,
                _ => Feeder::Several,
            };
        }
    }
    feeders.iter().map(|feeder| matches!(feeder, Feeder::One(_))).collect()
}
