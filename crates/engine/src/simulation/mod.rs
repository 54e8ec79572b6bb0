//! A run: processes the events of a network and its flows in order.

mod amounts;
mod arrivals;
mod build;
mod census;
mod ended;
mod flow;
mod flows;
mod generator;
mod group;
mod ideal;
mod look;
mod measuring;
mod memory;
mod open_sessions;
mod places;
mod plan;
mod sessions;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::agenda::{Clock, Due, Timer};
use crate::application::Action;
use crate::failure::Failure;
use crate::network::{Arrived, END_OF_PATH, Network};
use crate::numbers::FIRST_ARRIVED;
use crate::packet::{Packet, flags};
use crate::plugin::{Plugins, Unloaded};
use crate::probe::{Series, Transfers};
use crate::queue::QueueDiscipline;
use crate::result::RunResult;
use crate::specification::Specification;
use crate::time::{Duration, Time};
use amounts::count;
use build::{Built, build};
use flows::{Flows, Row};
use group::Group;
use memory::MOST_PACKETS;
use plan::Plan;

pub use build::check;
pub use census::Census;
pub use generator::{Command, Generator, Happening};
pub use ideal::Ideal;
pub use memory::memory;
pub use plan::{Layout, base_round_trips, carried, flow_starts, layout, loads, long_lived};

/// A run under way.
#[derive(Debug)]
pub struct Simulation {
    now: Time,
    end: Time,
    network: Network,
    flows: Flows,
    /// Of each group of the specification.
    ideals: Vec<Ideal>,
    /// Of each row.
    long_lived: Arc<[bool]>,
    transfers: Transfers,
    outbox: Vec<Packet>,
    /// What an application is about to do.
    actions: Vec<Action>,
    window_opens: Time,
    queue_series: Option<Duration>,
    flow_series: Option<Duration>,
    flow_state: bool,
    queue_state: bool,
    series: Series,
    events: u64,
    steps: u64,
    created: u64,
    delivered: u64,
    data_packets_delivered: u64,
    /// Packets queued and under way that the run ends at, by what they take of memory.
    pub most_packets: u64,
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
        let mut plan = Plan::new(specification, plugins)?;
        let Built { network, flows, long_lived, .. } = build(&mut plan, plugins)?;
        let mut simulation = Simulation {
            now: Time::ZERO,
            end: specification.duration,
            network,
            flows,
            ideals: plan.groups.iter().map(|group| group.ideal).collect(),
            long_lived,
            transfers: Transfers::default(),
            outbox: Vec::new(),
            actions: Vec::new(),
            window_opens: specification.warm_up,
            queue_series: specification.probe.queue_series,
            flow_series: specification.probe.flow_series,
            flow_state: specification.probe.flow_state,
            queue_state: specification.probe.queue_state,
            series: Series::default(),
            events: 0,
            steps: 0,
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
            self.network.agenda.set_timer(Clock::RUN, Timer::WindowOpens, self.window_opens);
        }
        if self.queue_series.is_some() {
            self.network.agenda.set_timer(Clock::RUN, Timer::SampleQueues, Time::ZERO);
        }
        if self.flow_series.is_some() {
            self.network.agenda.set_timer(Clock::RUN, Timer::SampleFlows, Time::ZERO);
        }
        for (index, link) in self.network.links.iter().enumerate() {
            let Some(queue) = link.egress.queue() else { continue };
            if let Some(interval) = queue.discipline.timer_interval() {
                self.network.agenda.set_timer(Clock::LINKS, Timer::Queue(index as u32), Time::ZERO + interval);
            }
            if let Some((time, _)) = queue.rate_changes.last() {
                self.network.agenda.set_timer(Clock::LINKS, Timer::LinkRate(index as u32), *time);
            }
        }
        for (index, row) in self.flows.rows.iter().enumerate() {
            let (clock, start, stop) = match row {
                Row::Flow(flow) => (flow.sender_clock, flow.start, flow.stop),
                Row::Group(group) => {
                    let Group { template, start, stop, .. } = &self.flows.groups[*group];
                    (template.clocks.0, *start, *stop)
                }
            };
            self.network.agenda.set_timer(clock, Timer::RowStarts(index as u32), start);
            if stop != Time::NEVER {
                self.network.agenda.set_timer(clock, Timer::RowStops(index as u32), stop);
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
    // Not inlined: a single call site lets LLVM inline the whole event path down to `Sender::on_ack`. With a second loop a packet takes
    // 130 instructions more.
    #[inline(never)]
    pub fn advance(&mut self, until: Time, most_events: u64) -> bool {
        // Temporarily shortens the run, so that `step` checks one bound.
        let end = self.end;
        self.end = until.min(end);
        self.set_horizon();
        let is_there = (0..most_events).any(|_| !self.step());
        // What leaves now is on its way.
        self.network.horizon = Time::ZERO;
        self.network.let_leave_before(if is_there { self.end } else { self.now });
        self.end = end;
        is_there
    }

    /// The time of the latest event.
    pub fn now(&self) -> Time {
        self.now
    }

    /// How often the agenda was asked for an event: fewer times than there are events, as hosts run ahead.
    pub fn steps(&self) -> u64 {
        self.steps
    }

    /// Processes the next event. False when none is left before the end.
    #[inline(always)]
    pub fn step(&mut self) -> bool {
        let Some((time, due)) = self.network.agenda.next_before(self.end) else {
            return false;
        };
        debug_assert!(time >= self.now, "time never runs back");
        self.now = time;
        self.steps += 1;
        match due {
            Due::Arrival(link) => {
                self.events += 1;
                self.on_arrival(link as usize);
            }
            Due::DeviceHasRoom(link) => self.network.on_room(link as usize, self.now),
            Due::Timer(clock) => {
                self.events += 1;
                if self.flows.ended.first() < time {
                    self.count_ended(time);
                }
                self.network.agenda.begin(clock);
                self.on_timer();
                self.network.agenda.finish();
                if clock == Clock::RUN {
                    self.set_horizon();
                }
            }
        }
        if !self.network.arrived.is_empty() {
            self.run_hosts_ahead();
        }
        true
    }

    /// Hosts run ahead until the run next measures, and no further than to its end.
    fn set_horizon(&mut self) {
        self.network.horizon = self.network.agenda.first_timer(Clock::RUN).min(self.end);
    }

    /// Hosts with clocks of their own handle packets whose arrival is known, after their timers that expire before. What they send is not
    /// handled ahead: it waits until the run is there.
    fn run_hosts_ahead(&mut self) {
        let now = self.now;
        let horizon = std::mem::replace(&mut self.network.horizon, Time::ZERO);
        let mut handled = std::mem::take(&mut self.network.arrived);
        for (position, &Arrived { host, arrival, ref packet }) in handled.iter().enumerate() {
            self.network.agenda.begin(host);
            while self.network.agenda.first_timer(host) < arrival {
                self.now = self.network.agenda.first_timer(host);
                self.events += 1;
                self.on_timer();
            }
            if packet.flow >= FIRST_ARRIVED && !packet.has(flags::ACK) && self.may_end(packet.flow) {
                self.network.put_back(&handled[position..]);
                self.network.agenda.finish();
                break;
            }
            self.now = arrival;
            self.events += 1;
            self.deliver(packet);
            self.network.agenda.finish();
        }
        handled.clear();
        self.network.arrived = handled;
        self.network.horizon = horizon;
        self.now = now;
    }

    #[inline(never)]
    fn may_end(&mut self, number: u32) -> bool {
        self.flows.get_mut(number).is_some_and(|flow| flow.may_end())
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
            return self.deliver_after_end(packet);
        };
        if packet.has(flags::ACK) {
            flow.endpoints.on_answer(packet, self.now, &mut self.network.options, &mut self.outbox);
            flow.arm_sender_timers(number, &mut self.network.agenda);
            let (has_overhead, is_told) = (flow.overhead.is_some(), number >= FIRST_ARRIVED && flow.is_told());
            self.send_outbox(number, has_overhead, is_told);
        } else {
            let answer = flow.endpoints.on_data(packet, self.now, &mut self.network.options);
            flow.arm_answer_timer(number, &mut self.network.agenda);
            self.send_answer(answer);
        }
    }

    /// A packet arrives whose sender has ended the connection, perhaps ahead of the run.
    #[cold]
    fn deliver_after_end(&mut self, packet: &Packet) {
        let ended = self.flows.ended.get_mut(packet.flow, self.now).filter(|_| !packet.has(flags::ACK));
        let Some(flow) = ended else { return self.network.options.release(packet.options) };
        let answer = flow.endpoints.on_data(packet, self.now, &mut self.network.options);
        flow.arm_answer_timer(packet.flow, &mut self.network.agenda);
        self.send_answer(answer);
    }

    /// Arms the timers that a sender now wants, and sends what it has to send.
    fn after_sender(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        flow.arm_sender_timers(number, &mut self.network.agenda);
        let (has_overhead, is_told) = (flow.overhead.is_some(), number >= FIRST_ARRIVED && flow.is_told());
        self.send_outbox(number, has_overhead, is_told);
    }

    fn send_outbox(&mut self, number: u32, has_overhead: bool, is_told: bool) {
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
        if is_told {
            self.end_if_over(number);
        }
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
        let Some(flow) = self.flows.get_mut(number) else { return };
        let clock = flow.sender_clock;
        let Some(overhead) = flow.overhead.as_mut() else { return };
        for packet in self.outbox.drain(..) {
            let ready = self.now + overhead.random.below(overhead.limit);
            let ready = overhead.waiting.back().map_or(ready, |(last, _)| ready.max(*last));
            if overhead.waiting.is_empty() {
                self.network.agenda.set_timer(clock, Timer::Overhead(number), ready);
            }
            overhead.waiting.push_back((ready, packet));
        }
    }

    /// The first timer of the host that is at work expires.
    fn on_timer(&mut self) {
        let Some(timer) = self.network.agenda.take_timer() else { return };
        match timer {
            Timer::RowStarts(row) => self.start_row(row),
            Timer::RowStops(row) => self.stop_row(row),
            Timer::Arrival(group) => self.on_flow_arrival(group as usize),
            Timer::Session(number) => self.on_session_timer(number),
            Timer::Pacing(number) => self.on_pacing_timer(number),
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
        if flow.pacing_armed != self.now {
            self.events -= 1; // An earlier deadline replaced this timer.
            return;
        }
        flow.pacing_armed = Time::NEVER;
        if flow.endpoints.pacing_deadline() > self.now {
            self.events -= 1; // It was put off.
        } else {
            flow.endpoints.on_pacing_timer(self.now, &mut self.outbox, &mut self.network.options);
        }
        self.after_sender(number);
    }

    fn on_delayed_ack_timer(&mut self, number: u32) {
        let flow = match self.flows.get_mut(number) {
            None => self.flows.ended.get_mut(number, self.now),
            open => open,
        };
        let Some(flow) = flow else { return };
        if flow.delayed_ack_armed != self.now {
            return;
        }
        flow.delayed_ack_armed = Time::NEVER;
        let is_due = flow.endpoints.answer_deadline() <= self.now;
        let answer = if is_due { flow.endpoints.on_answer_deadline(self.now, &mut self.network.options) } else { None };
        flow.arm_answer_timer(number, &mut self.network.agenda);
        self.send_answer(answer);
        if self.flows.has_session(number) {
            self.attend(number);
        }
    }

    fn on_overhead_timer(&mut self, number: u32) {
        let Some(flow) = self.flows.get_mut(number) else { return };
        let clock = flow.sender_clock;
        let Some(overhead) = flow.overhead.as_mut() else { return };
        let Some((_, packet)) = overhead.waiting.pop_front() else { return };
        if let Some((ready, _)) = overhead.waiting.front() {
            self.network.agenda.set_timer(clock, Timer::Overhead(number), *ready);
        }
        let is_told = number >= FIRST_ARRIVED && flow.is_told();
        self.network.enter(packet, self.now);
        if is_told {
            self.end_if_over(number);
        }
    }

    fn on_queue_timer(&mut self, link: u32) {
        self.network.let_leave_link_before(link as usize, self.now);
        if let Some(queue) = self.network.links[link as usize].egress.queue_mut() {
            queue.discipline.on_timer(self.now);
            if let Some(interval) = queue.discipline.timer_interval() {
                self.network.agenda.set_timer(Clock::LINKS, Timer::Queue(link), self.now + interval);
            }
        }
    }

    /// Tells a link's discipline of the rate that the link has from now on.
    fn on_rate_change(&mut self, link: u32) {
        self.network.let_leave_link_before(link as usize, self.now);
        if let Some(queue) = self.network.links[link as usize].egress.queue_mut() {
            if let Some((_, rate)) = queue.rate_changes.pop() {
                queue.discipline.set_link_rate(rate);
            }
            if let Some((time, _)) = queue.rate_changes.last() {
                self.network.agenda.set_timer(Clock::LINKS, Timer::LinkRate(link), *time);
            }
        }
    }
}
