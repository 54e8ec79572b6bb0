//! Two congestion controls in one run: the leader decides, and the follower hears the same, with a window of its own.
//!
//! The run is an ordinary one, whose congestion control is a [`Pair`]: it passes each hook to the leader and to a governor of the
//! follower's window, which has no effect on the run. What the sender does to the leader's window by itself, the pair does to the
//! follower's: one segment and what is in flight after a timeout, the threshold at the end of a recovery, the window of before when
//! a loss was none. So the two differ by their own rules only.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use crate::failure::Failure;
use crate::plugin::Plugins;
use crate::queue::PluginQueue;
use crate::random::Random;
use crate::simulation::Simulation;
use crate::specification::{SourceSpecification, Specification};
use crate::tcp::congestion::{
    Ack, Algorithm, CongestionControl, CongestionEvent, Delivery, Hook, Needs, Plugin, PluginControl, Told,
};
use crate::tcp::flight::Phase;
use crate::tcp::governor::Governor;
use crate::tcp::profile::StackProfile;
use crate::tcp::slow_start::SlowStartChoice;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// Events of the simulator between two looks at whether there are rows enough.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 12;

/// A run, and the congestion control that follows those of its flows.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Oracle {
    /// The run.
    pub specification: Specification,
    /// The algorithm that is told the same; its stack is that of the run.
    pub follower: SourceSpecification,
    /// How many acknowledgements and timeouts are wanted.
    pub events: usize,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An acknowledgement.
    Acknowledgement,
    /// An acknowledgement while losses are repaired, or marks reduce the window over a round trip.
    Repair,
    /// An acknowledgement that shows losses.
    Loss,
    /// An acknowledgement that ends the repair or reduction.
    Recovered,
    /// An acknowledgement with marks, on which the window is reduced.
    Mark,
    /// The retransmission timer expired.
    Timeout,
    /// An acknowledgement that shows that the latest loss was none.
    Undone,
    /// An acknowledgement after a pause of the application.
    Restart,
}

impl Kind {
    /// What people call it.
    pub fn name(self) -> &'static str {
        match self {
            Kind::Acknowledgement => "ack",
            Kind::Repair => "repair",
            Kind::Loss => "loss",
            Kind::Recovered => "recovered",
            Kind::Mark => "mark",
            Kind::Timeout => "timeout",
            Kind::Undone => "undone",
            Kind::Restart => "restart",
        }
    }
}

/// One algorithm after an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Standing {
    /// Congestion window and threshold. While a recovery or reduction sets the window, it is the threshold, where that ends.
    pub window: Window,
    /// Its own pacing rate, if it has one.
    pub pacing: Option<Rate>,
}

/// An event, and both algorithms after it.
#[derive(Clone, Copy, Debug)]
pub struct Row {
    /// When.
    pub now: Time,
    /// What.
    pub kind: Kind,
    /// The round-trip time that it showed.
    pub rtt: Option<Duration>,
    /// The algorithm of the run.
    pub leader: Standing,
    /// See [`Oracle::follower`].
    pub follower: Standing,
}

/// The rows of each flow.
pub type Rows = Arc<Mutex<BTreeMap<u32, Vec<Row>>>>;

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Oracle {
    /// The events of the flow that has most: of a session, the direction that sends the data. They end early if the run does, or if
    /// a plugin fails, which then says so.
    ///
    /// # Errors
    /// One line if the run or the follower makes no sense.
    pub fn rows(&self, plugins: &dyn Plugins) -> Result<Vec<Row>, String> {
        let rows = Rows::default();
        let mut simulation = self.simulation(plugins, &rows)?;
        let end = self.specification.duration;
        while !simulation.advance(end, EVENTS_BETWEEN_LOOKS)
            && simulation.failure().is_none()
            && lock(&rows).values().all(|rows| rows.len() < self.events)
        {}
        drop(simulation);
        let mut rows = std::mem::take(&mut *lock(&rows)).into_values().max_by_key(Vec::len).unwrap_or_default();
        rows.truncate(self.events);
        Ok(rows)
    }

    /// The run.
    ///
    /// # Errors
    /// As [`Oracle::rows`].
    pub fn simulation(&self, plugins: &dyn Plugins, rows: &Rows) -> Result<Simulation, String> {
        let SourceSpecification { name, slow_start, parameters, stack, plugin } = &self.follower;
        let settings = self.specification.stacks.get(*stack).ok_or_else(|| format!("stack {stack} does not exist"))?;
        let follower = Follower {
            algorithm: plugins.algorithm(*plugin, name, parameters)?,
            slow_start: slow_start.clone(),
            profile: StackProfile::from_settings(settings)?,
        };
        let rows = Arc::clone(rows);
        Simulation::with_plugins(&self.specification, &Pairs { plugins, follower, rows })
    }
}

/// What followers are made of.
#[derive(Clone, Debug)]
struct Follower {
    algorithm: Algorithm,
    slow_start: SlowStartChoice,
    profile: StackProfile,
}

/// Makes a pair of each congestion control of a run.
struct Pairs<'a> {
    plugins: &'a dyn Plugins,
    follower: Follower,
    rows: Rows,
}

impl Plugins for Pairs<'_> {
    fn control(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginControl>, String> {
        self.plugins.control(plugin, parameters)
    }

    fn queue(&self, plugin: usize, parameters: &Value) -> Result<Box<dyn PluginQueue>, String> {
        self.plugins.queue(plugin, parameters)
    }

    fn failure(&self) -> Failure {
        self.plugins.failure()
    }

    fn algorithm(&self, plugin: Option<usize>, name: &str, parameters: &Value) -> Result<Algorithm, String> {
        let pair = Pair {
            name: name.to_owned(),
            leader: self.plugins.algorithm(plugin, name, parameters)?,
            follower: self.follower.clone(),
            rows: Arc::clone(&self.rows),
            begun: Mutex::default(),
        };
        Ok(Algorithm::Plugin(Plugin::new(Box::new(pair), self.failure())))
    }
}

/// See the module. Until its flow begins it is only what pairs are made of.
#[derive(Debug)]
struct Pair {
    name: String,
    leader: Algorithm,
    follower: Follower,
    rows: Rows,
    begun: Mutex<Option<Begun>>,
}

impl PluginControl for Pair {
    fn fresh(&self) -> Box<dyn PluginControl> {
        let Pair { name, leader, follower, rows, .. } = self;
        let (leader, follower, rows) = (leader.clone(), follower.clone(), Arc::clone(rows));
        Box::new(Pair { name: name.clone(), leader, follower, rows, begun: Mutex::default() })
    }

    fn begin(&mut self, flow: u32, random: Option<Random>) {
        let (mut leader, mut follower) = (self.leader.clone(), self.follower.clone());
        for algorithm in [&mut leader, &mut follower.algorithm] {
            algorithm.take_flow(flow);
            if let Some(random) = random.clone().filter(|_| algorithm.needs().random) {
                algorithm.take_random(random);
            }
        }
        *lock(&self.begun) = Some(Begun::new(leader, follower, Arc::clone(&self.rows), flow));
    }

    /// Those of the leader, and what has no effect on the run.
    fn needs(&self) -> Needs {
        let (leader, follower) = (self.leader.needs(), self.follower.algorithm.needs());
        Needs { deliveries: true, random: leader.random || follower.random, ..leader }
    }

    fn hooks(&self) -> u32 {
        let is_paced = self.leader.needs().pacing;
        let hooks = Hook::ALL.iter().filter(|hook| is_paced || **hook != Hook::PacingRate);
        hooks.fold(0, |hooks, hook| hooks | hook.bit())
    }

    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        lock(&self.begun).as_mut().expect("the flow has begun").hear(hook, window, told)
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("{}: {hook} {what}", self.name)
    }
}

state! {
    /// A pair whose flow has begun. `window` is the follower's; the leader's is the sender's.
    Begun(leader: Algorithm, follower: Follower, rows: Rows, flow: u32) {
        /// What the leader and the follower need.
        leads: Needs = leader.needs(),
        needs: Needs = follower.algorithm.needs(),
        leader: Algorithm = leader,
        governor: Governor = Governor::new(follower.algorithm, follower.slow_start, &follower.profile),
        window: Window = Window { cwnd: 0, ssthresh: u64::MAX, mss: 0 },
        /// The phase of the sender. A reduction over a round trip after marks is a recovery here.
        phase: Phase = Phase::Open,
        /// Whether the latest acknowledgement has grown the window.
        has_grown: bool,
        /// The window before the latest loss, and before the one before.
        before: Window = window,
        before_latest: Window = window,
        lost_at: Time = Time::NEVER,
        /// When the timer expired, until the sender has set its window.
        timed_out: Option<Time>,
        /// The leader's window after a pause, until the sender has lowered it.
        idle: Option<Window>,
        /// What the current acknowledgement is, if it is more than one.
        kind: Option<Kind>,
        srtt: Duration,
        rows: Rows = rows,
        flow: u32 = flow,
    }
}

impl Begun {
    fn hear(&mut self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        match (hook, told) {
            (Hook::PacingRate, Told::Times(&[srtt], None)) => {
                return self.leader.pacing_rate(window, srtt).map(|rate| rate.0);
            }
            (Hook::PacingQuantum, Told::Bytes(mss)) => return Some(self.leader.pacing_quantum(mss)),
            (Hook::OnEstablished, Told::Times(&[srtt], Some(now))) => {
                self.window = *window;
                self.governor.on_established(&mut self.window, srtt, now);
                self.leader.on_established(window, srtt, now);
            }
            (Hook::OnAck, Told::Ack(ack)) => {
                self.settle(window);
                self.acknowledge(ack);
                self.leader.on_ack(window, ack);
            }
            (Hook::IncreaseInSlowStart, Told::Ack(ack)) => {
                self.grow(window, ack);
                return self.leader.increase_in_slow_start(window, ack);
            }
            (Hook::Increase, Told::Ack(ack)) => {
                self.grow(window, ack);
                self.leader.increase(window, ack);
            }
            (Hook::OnCongestion, Told::Event(event, now)) => {
                if event != CongestionEvent::Spurious {
                    self.settle(window);
                }
                self.congest(event, window, now);
                self.leader.on_congestion(window, event, now);
            }
            (Hook::OnSegmentLost, Told::Lost(lost)) => {
                self.settle(window);
                self.governor.on_segment_lost(&mut self.window, lost);
                if self.leads.deliveries {
                    self.leader.on_segment_lost(window, lost);
                }
            }
            (Hook::OnDelivery, Told::Delivery(delivery)) => {
                self.settle(window);
                self.governor.on_delivery(&mut self.window, delivery);
                if self.leads.deliveries {
                    self.leader.on_delivery(window, delivery);
                }
                self.end(delivery, window);
            }
            (Hook::OnRestart, Told::Times(&[], Some(now))) => {
                self.settle(window);
                self.governor.on_restart(&mut self.window, now);
                if self.leads.deliveries {
                    self.leader.on_restart(window, now);
                }
                self.kind = Some(Kind::Restart);
            }
            (Hook::OnIdle, Told::Times(&[idle], Some(now))) => {
                self.settle(window);
                self.governor.on_idle(&mut self.window, idle, now);
                self.leader.on_idle(window, idle, now);
                self.idle = Some(*window);
            }
            _ => unreachable!("{hook:?} is told {told:?}"),
        }
        None
    }

    /// Whether the sender sets the windows of both.
    fn is_governed(&self) -> bool {
        !self.leads.governs && !self.needs.governs
    }

    /// Does to the follower's window what the sender has done to the leader's since the last hook.
    fn settle(&mut self, leader: &Window) {
        if let Some(now) = self.timed_out.take() {
            self.window.cwnd = leader.cwnd;
            self.record(now, Kind::Timeout, None, leader);
        }
        if let Some(before) = self.idle.take()
            && before != *leader
            && !self.needs.governs
        {
            self.fall_after_pause(&before, leader);
        }
        if self.phase == Phase::Recovery && self.is_governed() {
            self.window.cwnd = match leader.cwnd.cmp(&leader.ssthresh) {
                std::cmp::Ordering::Less => leader.cwnd.min(self.window.ssthresh),
                std::cmp::Ordering::Equal => self.window.ssthresh,
                std::cmp::Ordering::Greater => leader.cwnd,
            };
        }
    }

    /// The window falls by as much of it as the leader's.
    fn fall_after_pause(&mut self, before: &Window, after: &Window) {
        if after.ssthresh != before.ssthresh {
            self.window.keep_threshold();
        }
        let fallen = u128::from(self.window.cwnd) * u128::from(after.cwnd) / u128::from(before.cwnd);
        let mss = self.window.mss;
        self.window.cwnd = (fallen as u64 / mss * mss).max(mss);
    }

    /// New data is acknowledged outside fast recovery. A leader that governs grows by no hook that says that the window may grow.
    fn acknowledge(&mut self, ack: &Ack) {
        if self.phase == Phase::Recovery {
            (self.phase, self.kind) = (Phase::Open, Some(Kind::Recovered));
        }
        self.has_grown = self.leads.governs;
        let mut ack = self.credited(ack);
        self.governor.on_ack(&mut self.window, &mut ack, self.leads.governs);
    }

    /// The leader's window grows.
    fn grow(&mut self, leader: &Window, ack: &Ack) {
        if self.has_grown {
            return;
        }
        self.settle(leader);
        self.has_grown = true;
        let mut ack = self.credited(ack);
        self.governor.grow(&mut self.window, &mut ack);
    }

    fn credited(&self, ack: &Ack) -> Ack {
        Ack { credit: self.governor.credit(ack.acked, ack.credit, &self.window, self.phase), ..*ack }
    }

    /// A flight that fills the leader's window fills the follower's.
    fn congest(&mut self, event: CongestionEvent, leader: &Window, now: Time) {
        let window = &mut self.window;
        let flight = |flight_size: u64| if flight_size == leader.cwnd { window.cwnd } else { flight_size };
        match event {
            CongestionEvent::Loss { flight_size } => {
                let flight_size = flight(flight_size);
                self.before_latest = std::mem::replace(&mut self.before, *window);
                self.lost_at = now;
                self.governor.on_loss(window, flight_size, now);
                self.governor.reduce(window);
                (self.phase, self.kind) = (Phase::Recovery, Some(Kind::Loss));
            }
            CongestionEvent::Ecn { flight_size, .. } => {
                let flight_size = flight(flight_size);
                self.governor.on_marks(window, flight_size, now);
                self.governor.reduce(window);
                (self.phase, self.kind) = (Phase::Recovery, Some(Kind::Mark));
            }
            CongestionEvent::Timeout => {
                self.governor.on_timeout(window, now);
                (self.phase, self.kind, self.timed_out) = (Phase::Loss, None, Some(now));
            }
            CongestionEvent::Spurious => {
                let Window { cwnd, ssthresh, .. } = self.before;
                if self.phase == Phase::Recovery && !self.needs.governs {
                    window.cwnd = window.ssthresh;
                }
                self.governor.on_spurious(window, cwnd, ssthresh, now);
                (self.phase, self.kind) = (Phase::Open, Some(Kind::Undone));
            }
        }
    }

    /// The end of an acknowledgement.
    fn end(&mut self, delivery: &Delivery, leader: &Window) {
        if !delivery.in_recovery && self.lost_at == delivery.now {
            // A tail loss probe has repaired it: nothing of that is taken back.
            self.before = self.before_latest;
        }
        let kind = self.kind.take().unwrap_or(match (self.phase, delivery.in_recovery) {
            (Phase::Recovery, true) => Kind::Repair,
            (Phase::Recovery, false) => Kind::Recovered,
            _ => Kind::Acknowledgement,
        });
        self.phase = match (self.phase, delivery.in_recovery) {
            (_, false) => Phase::Open,
            (Phase::Loss, true) => Phase::Loss,
            (_, true) => Phase::Recovery,
        };
        self.has_grown = false;
        self.srtt = delivery.srtt;
        self.record(delivery.now, kind, delivery.rtt, leader);
    }

    fn record(&self, now: Time, kind: Kind, rtt: Option<Duration>, leader: &Window) {
        let standing = |algorithm: &Algorithm, needs: &Needs, window: &Window| {
            let is_set = self.phase == Phase::Recovery && !needs.governs;
            let pacing = if needs.pacing { algorithm.pacing_rate(window, self.srtt) } else { None };
            Standing { window: Window { cwnd: if is_set { window.ssthresh } else { window.cwnd }, ..*window }, pacing }
        };
        let leader = standing(&self.leader, &self.leads, leader);
        let follower = standing(self.governor.algorithm(), &self.needs, &self.window);
        lock(&self.rows).entry(self.flow).or_default().push(Row { now, kind, rtt, leader, follower });
    }
}
