//! A run: processes the events of a network and its flows in order.

mod arrived;
mod build;
mod census;
mod flow;
mod ideal;
mod look;
mod memory;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::agenda::{Due, Timer};
use crate::application::Action;
use crate::failure::Failure;
use crate::network::{END_OF_PATH, Egress, Network};
use crate::numbers::FIRST_ARRIVED;
use crate::packet::{Packet, flags};
use crate::plugin::{Plugins, Unloaded};
use crate::probe::{End, Passage, QueueSample, Series, Transfers};
use crate::queue::QueueDiscipline;
use crate::result::{QueueResult, RunResult};
use crate::specification::Specification;
use crate::tcp::congestion::Algorithm;
use crate::tcp::sender::TcpInfo;
use crate::time::{Duration, Time};
use arrived::{Flows, Row};
use build::Built;
use flow::{Endpoints, Flow};
use memory::{MOST_PACKETS, count};

pub use build::{Layout, carried, check_whole as check, flow_starts, layout, loads, long_lived, memory};
pub use census::Census;
pub use ideal::Ideal;
pub use look::{FlowLook, QueueLook};

/// A run under way.
#[derive(Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
    network: Network,
    flows: Flows,
    /// Of each group of the specification.
    ideals: Vec<Ideal>,
    /// Of each flow of the specification.
    long_lived: Arc<[bool]>,
    transfers: Transfers,
    outbox: Vec<Packet>,
    /// What an application is about to do.
    actions: Vec<Action>,
    window_opens: Time,
    queue_series: Option<Duration>,
    flow_series: Option<Duration>,
    series: Series,
    events: u64,
    created: u64,
    delivered: u64,
    data_packets_delivered: u64,
    most_packets: u64,
    failure: Failure,
}

/// Why a run ended before its end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stopped {
    /// It was cancelled.
    Cancelled,
    /// It took more memory than a run may take: one line that says what of.
    TooLarge(String),
    /// A plugin failed: its complaint.
    Failed(String),
}

/// Events between two looks at whether the run is cancelled or has become too large.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

impl Simulation {
    /// Builds a run. One that has plugins ends at once; see [`Simulation::with_plugins`].
    ///
    /// # Errors
    /// One line that says what in the specification is wrong and what is allowed.
    pub fn new(specification: &Specification) -> Result<Simulation, String> {
        Simulation::with_plugins(specification, &Unloaded::new(specification.plugins.len()))
    }

    /// Builds a run with what makes its plugins.
    ///
    /// # Errors
    /// One line that says what in the specification is wrong and what is allowed.
    pub fn with_plugins(specification: &Specification, plugins: &dyn Plugins) -> Result<Simulation, String> {
        let Built { network, flows, ideals, long_lived, .. } = build::build(specification, plugins)?;
        let mut simulation = Simulation {
            now: Time::ZERO,
            end: specification.duration,
            network,
            flows,
            ideals,
            long_lived,
            transfers: Transfers::default(),
            outbox: Vec::new(),
            actions: Vec::new(),
            window_opens: specification.warm_up,
            queue_series: specification.probe.queue_series,
            flow_series: specification.probe.flow_series,
            series: Series::default(),
            events: 0,
            created: 0,
            delivered: 0,
            data_packets_delivered: 0,
            most_packets: MOST_PACKETS,
            failure: plugins.failure(),
        };
        simulation.arm_first_timers();
        Ok(simulation)
    }

    fn arm_first_timers(&mut self) {
        if self.window_opens > Time::ZERO {
            self.network.agenda.set_timer(Timer::WindowOpens, self.window_opens);
        }
        if self.queue_series.is_some() {
            self.network.agenda.set_timer(Timer::SampleQueues, Time::ZERO);
        }
        if self.flow_series.is_some() {
            self.network.agenda.set_timer(Timer::SampleFlows, Time::ZERO);
        }
        for (index, link) in self.network.links.iter().enumerate() {
            let Some(queue) = link.egress.queue() else { continue };
            if let Some(interval) = queue.discipline.timer_interval() {
                self.network.agenda.set_timer(Timer::Queue(index as u32), Time::ZERO + interval);
            }
            if let Some((time, _)) = queue.rate_changes.last() {
                self.network.agenda.set_timer(Timer::LinkRate(index as u32), *time);
            }
        }
        for (index, row) in self.flows.rows.iter().enumerate() {
            let (start, stop) = match row {
                Row::Flow(flow) => (flow.start, flow.stop),
                Row::Group(group) => (self.flows.groups[*group].start, self.flows.groups[*group].stop),
            };
            self.network.agenda.set_timer(Timer::RowStarts(index as u32), start);
            if stop != Time::NEVER {
                self.network.agenda.set_timer(Timer::RowStops(index as u32), stop);
            }
        }
    }

    /// Runs to the end.
    ///
    /// # Errors
    /// Why it ended before.
    pub fn run(mut self, cancelled: &AtomicBool) -> Result<RunResult, Stopped> {
        loop {
            if cancelled.load(Ordering::Relaxed) {
                return Err(Stopped::Cancelled);
            }
            if let Some(complaint) = self.failure() {
                return Err(Stopped::Failed(complaint.to_owned()));
            }
            if self.under_way() > self.most_packets {
                return Err(Stopped::TooLarge(self.too_large()));
            }
            if self.advance(self.end, EVENTS_BETWEEN_LOOKS) && self.failure().is_none() {
                return Ok(self.finish());
            }
        }
    }

    /// Why a plugin of the run failed, if one did: its result would mean nothing.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get()
    }

    /// Packets that are queued or on their way.
    fn under_way(&self) -> u64 {
        self.created + self.network.duplicates - self.delivered - self.network.drops.total
    }

    fn too_large(&self) -> String {
        let (packets, most) = (count(self.under_way().into()), count(self.most_packets.into()));
        let seconds = self.now.seconds();
        format!(
            "{packets} packets were queued and under way after {seconds} s; a run may hold {most}, about 4 GiB of memory"
        )
    }

    /// Processes what happens before a moment, or before the end if that is earlier, but at most a number of events.
    /// Whether all of it has happened.
    // Not inlined, so that there is one loop: what it calls for each event is then called nowhere else, and is inlined into
    // it down to `Sender::on_ack`. With a second loop a packet takes 130 instructions more.
    #[inline(never)]
    pub fn advance(&mut self, until: Time, most_events: u64) -> bool {
        // Meanwhile that moment is the end, so that `step` has no more to look at.
        let end = self.end;
        self.end = until.min(end);
        let is_there = (0..most_events).any(|_| !self.step());
        self.end = end;
        is_there
    }

    /// The time of the latest event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// The congestion control of a flow, as it stands; none if the flow has none.
    pub fn algorithm(&self, flow: usize) -> Option<&Algorithm> {
        match &self.flows.rows[flow] {
            Row::Flow(Flow { endpoints: Endpoints::Tcp(connection), .. }) => Some(connection.sender.algorithm()),
            Row::Flow(Flow { endpoints: Endpoints::Traffic(_), .. }) => None,
            Row::Group(group) => Some(&self.flows.groups[*group].template.algorithm),
        }
    }

    /// Processes the next event. False when none is left before the end.
    #[inline(always)]
    pub fn step(&mut self) -> bool {
        let Some((time, due)) = self.network.agenda.next_before(self.end) else {
            return false;
        };
        debug_assert!(time >= self.now, "time never runs back");
        self.now = time;
        self.events += 1;
        match due {
            Due::Arrival(link) => self.on_arrival(link as usize),
            Due::DeviceHasRoom(link) => self.network.feed_device(link as usize, self.now),
            Due::Pacing(number) => self.on_pacing_timer(number),
            Due::Timer(timer) => self.on_timer(timer),
        }
        true
    }

    fn on_arrival(&mut self, link: usize) {
        let packet = self.network.take_arrival(link);
        let next = self.network.routes.hop(packet.hop).link;
        if next == END_OF_PATH {
            self.deliver(&packet);
        } else {
            self.network.offer(next as usize, packet, self.now);
        }
    }

    fn deliver(&mut self, packet: &Packet) {
        self.delivered += 1;
        self.data_packets_delivered += u64::from(packet.flags & flags::DATA);
        let number = packet.flow;
        let Some(flow) = self.flows.get_mut(number) else {
            return self.network.options.release(packet.options); // Its connection has ended.
        };
        if packet.has(flags::ACK) {
            flow.endpoints.on_answer(packet, self.now, &mut self.network.options, &mut self.outbox);
            flow.arm_sender_timers(number, &mut self.network.agenda);
            let has_overhead = flow.overhead.is_some();
            self.send_outbox(number, has_overhead);
        } else {
            let answer = flow.endpoints.on_data(packet, self.now, &mut self.network.options);
            flow.arm_answer_timer(number, &mut self.network.agenda);
            self.send_answer(answer);
        }
    }

    /// Arms the timers that a sender now wants, and sends what it has to send.
    fn after_sender(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.arm_sender_timers(number, &mut self.network.agenda);
        let has_overhead = flow.overhead.is_some();
        self.send_outbox(number, has_overhead);
    }

    fn send_outbox(&mut self, number: u32, has_overhead: bool) {
        self.created += self.outbox.len() as u64;
        if has_overhead {
            self.hold_outbox(number);
        } else {
            for position in 0..self.outbox.len() {
                let packet = self.outbox[position];
                self.network.enter(packet, self.now);
            }
            self.outbox.clear();
        }
        if number >= FIRST_ARRIVED {
            self.end_if_over(number);
        }
    }

    /// A connection that arrived and has ended makes room.
    #[inline(never)]
    fn end_if_over(&mut self, number: u32) {
        if self.flows.has_session(number) {
            return self.attend_sender(number);
        }
        let Some(flow) = self.flows.take_ended(number, self.now) else { return };
        let row = self.flows.numbers.row(number);
        if let Some(transfer) = flow.transfer(row, &self.ideals[flow.group]) {
            self.transfers.add(transfer);
        }
        self.let_think(self.flows.numbers.group(number).0);
    }

    /// Arms the timer that a receiver now wants, and sends its answer.
    fn after_receiver(&mut self, number: u32, answer: Option<Packet>) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.arm_answer_timer(number, &mut self.network.agenda);
        self.send_answer(answer);
    }

    #[inline(always)]
    fn send_answer(&mut self, answer: Option<Packet>) {
        if let Some(answer) = answer {
            self.created += 1;
            self.network.enter(answer, self.now);
        }
    }

    /// The outbox of a flow whose sender has an overhead waits for that to pass.
    fn hold_outbox(&mut self, number: u32) {
        let Some(overhead) = self.flows.get_mut(number).and_then(|flow| flow.overhead.as_mut()) else { return };
        for packet in self.outbox.drain(..) {
            let ready = self.now + overhead.random.below(overhead.limit);
            let ready = overhead.waiting.back().map_or(ready, |(last, _)| ready.max(*last));
            if overhead.waiting.is_empty() {
                self.network.agenda.set_timer(Timer::Overhead(number), ready);
            }
            overhead.waiting.push_back((ready, packet));
        }
    }

    fn on_timer(&mut self, timer: Timer) {
        match timer {
            Timer::RowStarts(row) => self.start_row(row),
            Timer::RowStops(row) => self.stop_row(row),
            Timer::Arrival(group) => self.on_flow_arrival(group as usize),
            Timer::Session(number) => self.on_session_timer(number),
            Timer::Pacing(number) => self.on_pacing_timer_of_arrived(number),
            Timer::Retransmission(number) => self.on_retransmission_timer(number),
            Timer::DelayedAck(number) => self.on_delayed_ack_timer(number),
            Timer::Overhead(number) => self.on_overhead_timer(number),
            Timer::Queue(index) => self.on_queue_timer(index),
            Timer::LinkRate(index) => self.on_rate_change(index),
            Timer::WindowOpens => self.open_window(),
            Timer::SampleQueues => self.sample_queues(),
            Timer::SampleFlows => self.sample_flows(),
        }
    }

    fn start_row(&mut self, row: u32) {
        match self.flows.rows[row as usize] {
            Row::Flow(_) => self.start_flow(row),
            Row::Group(group) => self.await_arrival(group),
        }
    }

    fn start_flow(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.endpoints.start(self.now, &mut self.outbox, &mut self.network.options);
        self.after_sender(number);
    }

    /// The first connection of a group is to arrive.
    fn await_arrival(&mut self, group: usize) {
        let of_run = &mut self.flows.groups[group];
        of_run.next = of_run.arrivals.next();
        let users = of_run.arrivals.users();
        self.arm_arrival(group);
        for _ in 0..users {
            self.let_think(group);
        }
    }

    /// A user of a group begins to think.
    fn let_think(&mut self, group: usize) {
        let of_run = &mut self.flows.groups[group];
        if let Some(think) = of_run.arrivals.think()
            && !of_run.is_stopped
        {
            self.network.agenda.set_timer(Timer::Arrival(group as u32), self.now + think);
        }
    }

    fn arm_arrival(&mut self, group: usize) {
        if let Some(arrival) = self.flows.groups[group].next {
            self.network.agenda.set_timer(Timer::Arrival(group as u32), arrival.time);
        }
    }

    fn on_flow_arrival(&mut self, group: usize) {
        let Flows { groups, numbers, .. } = &mut self.flows;
        let of_run = &mut groups[group];
        if of_run.sessions.is_some() {
            return self.on_session_arrival(group);
        }
        let of_user = of_run.arrivals.size().filter(|_| !of_run.is_stopped);
        let Some(size) = of_user.or(of_run.next.map(|arrival| arrival.size)) else { return };
        let serial = of_run.arrive(size, |serial| numbers.number(group, serial), self.now);
        of_run.next = of_run.arrivals.next();
        let number = numbers.number(group, serial);
        self.start_flow(number);
        self.arm_arrival(group);
    }

    fn stop_row(&mut self, row: u32) {
        match &mut self.flows.rows[row as usize] {
            Row::Flow(flow) => {
                flow.is_stopped = flow.endpoints.stop(self.now);
                self.after_sender(row);
            }
            Row::Group(group) => {
                let group = *group;
                for number in self.flows.stop_group(group, self.now) {
                    self.after_sender(number);
                }
            }
        }
    }

    fn on_retransmission_timer(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.retransmission_armed != self.now {
            return; // An earlier deadline replaced this timer.
        }
        flow.retransmission_armed = Time::NEVER;
        if flow.endpoints.deadline() <= self.now {
            flow.endpoints.on_deadline(self.now, &mut self.outbox);
        }
        self.after_sender(number);
    }

    fn on_pacing_timer(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.endpoints.pacing_deadline() <= self.now {
            flow.endpoints.on_pacing_timer(self.now, &mut self.outbox, &mut self.network.options);
        }
        self.after_sender(number);
    }

    fn on_pacing_timer_of_arrived(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.pacing_armed == self.now {
            flow.pacing_armed = Time::NEVER;
            self.on_pacing_timer(number);
        }
    }

    fn on_delayed_ack_timer(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        if flow.delayed_ack_armed != self.now {
            return;
        }
        flow.delayed_ack_armed = Time::NEVER;
        let is_due = flow.endpoints.answer_deadline() <= self.now;
        let answer = if is_due { flow.endpoints.on_answer_deadline(self.now, &mut self.network.options) } else { None };
        self.after_receiver(number, answer);
        if self.flows.has_session(number) {
            self.attend(number);
        }
    }

    fn on_overhead_timer(&mut self, number: u32) {
        let Some(overhead) = self.flows.get_mut(number).and_then(|flow| flow.overhead.as_mut()) else { return };
        let Some((_, packet)) = overhead.waiting.pop_front() else { return };
        if let Some((ready, _)) = overhead.waiting.front() {
            self.network.agenda.set_timer(Timer::Overhead(number), *ready);
        }
        self.network.enter(packet, self.now);
        if number >= FIRST_ARRIVED {
            self.end_if_over(number);
        }
    }

    fn on_queue_timer(&mut self, link: u32) {
        if let Some(queue) = self.network.links[link as usize].egress.queue_mut() {
            queue.discipline.on_timer(self.now);
            if let Some(interval) = queue.discipline.timer_interval() {
                self.network.agenda.set_timer(Timer::Queue(link), self.now + interval);
            }
        }
    }

    /// Tells a link's discipline of the rate that the link has from now on.
    fn on_rate_change(&mut self, link: u32) {
        if let Some(queue) = self.network.links[link as usize].egress.queue_mut() {
            if let Some((_, rate)) = queue.rate_changes.pop() {
                queue.discipline.set_link_rate(rate);
            }
            if let Some((time, _)) = queue.rate_changes.last() {
                self.network.agenda.set_timer(Timer::LinkRate(link), *time);
            }
        }
    }

    fn open_window(&mut self) {
        for link in &mut self.network.links {
            link.transmitter.open_window(self.now);
            if let Some(queue) = link.egress.queue_mut()
                && let Some(probe) = &mut queue.probe
            {
                probe.open_window(self.now, link.transmitter.remaining(self.now));
            }
        }
        self.network.drops.open_window();
        for row in &mut self.flows.rows {
            if let Row::Flow(flow) = row {
                flow.open_window(self.now);
            }
        }
        for group in &mut self.flows.groups {
            group.open_window(self.now);
        }
    }

    fn sample_queues(&mut self) {
        for (index, link) in self.network.links.iter().enumerate() {
            if let Some(queue) = link.egress.queue() {
                let (packets, bytes) = (queue.discipline.packets(), queue.discipline.bytes());
                let drops = queue.probe.as_ref().map(|probe| probe.totals().counts.drops());
                self.series.queues.push(QueueSample { time: self.now, link: index, packets, bytes, drops });
            }
        }
        if let Some(interval) = self.queue_series {
            self.network.agenda.set_timer(Timer::SampleQueues, self.now + interval);
        }
    }

    fn sample_flows(&mut self) {
        for (row, flow) in self.flows.fixed() {
            self.series.flows.extend(flow.endpoints.sample(self.now, row));
        }
        if let Some(interval) = self.flow_series {
            self.network.agenda.set_timer(Timer::SampleFlows, self.now + interval);
        }
    }

    /// Records what passes an end of a link from now on. That changes nothing else.
    ///
    /// # Errors
    /// One line if there is no such link.
    pub fn record(&mut self, link: usize, end: End) -> Result<(), String> {
        let links = self.network.links.len();
        if link >= links {
            return Err(format!("link {link} does not exist; there are {links}"));
        }
        self.network.record_at(link, end);
        Ok(())
    }

    /// The recorded packets that pass before a moment, in order of time, each once. All of them are known when whatever
    /// happens before that moment has happened.
    pub fn take_passages_before(&mut self, moment: Time) -> Vec<Passage> {
        self.network.take_passages_before(moment)
    }

    /// The state of a flow's connection; none if the flow has none.
    pub fn tcp_info(&self, flow: usize) -> Option<TcpInfo> {
        match &self.flows.rows[flow] {
            Row::Flow(Flow { endpoints: Endpoints::Tcp(connection), .. }) => Some(connection.sender.info()),
            _ => None,
        }
    }

    /// Counts every packet.
    pub fn census(&self) -> Census {
        let mut census = Census {
            created: self.created + self.network.duplicates,
            delivered: self.delivered,
            dropped: self.network.drops.total,
            ..Census::default()
        };
        for link in &self.network.links {
            census.in_transit += link.in_transit.len() as u64;
            if let Some(queue) = link.egress.queue() {
                census.queued += queue.discipline.packets();
            }
        }
        for flow in self.flows.all() {
            census.in_senders += flow.overhead.as_ref().map_or(0, |overhead| overhead.waiting.len() as u64);
        }
        census
    }

    /// The result of a run that has come to its end.
    pub fn finish(mut self) -> RunResult {
        debug_assert!(self.census().is_complete(), "{:?}", self.census());
        let (drops, opens, end) = (&self.network.drops.data, self.window_opens, self.end);
        for (row, flow) in self.flows.fixed() {
            if let Some(transfer) = flow.transfer(row, &self.ideals[flow.group]) {
                self.transfers.add(transfer);
            }
        }
        let Flows { rows, mut groups, .. } = self.flows;
        // In place: of many flows there are never both all states and all results.
        let told = drops.iter().zip(self.long_lived.iter());
        let results = rows.into_iter().zip(told).map(|(row, (drops, long_lived))| match row {
            Row::Flow(flow) => flow.into_result(*long_lived, *drops, opens, end),
            Row::Group(group) => groups[group].result(*drops, opens, end),
        });
        let mut flows: Vec<_> = results.collect();
        flows.shrink_to_fit();
        let mut queues = Vec::new();
        for (index, mut link) in self.network.links.into_iter().enumerate() {
            if let Some(queue) = link.egress.queue_mut()
                && let Some(probe) = queue.probe.take()
            {
                let mut statistics = probe.close(self.end, link.transmitter.remaining(self.end));
                // Of frames the medium's time counts: they carry more than their packets.
                if let Egress::Queue(_) = link.egress
                    && let Some(share) = link.transmitter.use_of_changing_rate(statistics.window.bytes_sent, self.end)
                {
                    statistics.busy_share = share;
                }
                let link_losses = link.special.map_or(0, |special| special.lost);
                queues.push(QueueResult { link: index, link_losses, statistics });
            }
        }
        RunResult {
            flows,
            queues,
            series: self.series,
            transfers: self.transfers.into_rows(),
            events: self.events,
            data_packets_delivered: self.data_packets_delivered,
        }
    }
}
