//! An agent that decides for a flow: a congestion control that is asked.
//!
//! One rule of time holds for whoever decides. A question falls due at a time T that is known when the one before is answered. What
//! hooks saw before T is its interval: the question is closed before the first hook of the flow at T or later, or by an environment that
//! has carried out all that happens before T. Where acknowledgements are counted, the interval ends with the last of them. The action
//! takes effect at the flow's first acknowledgement at T or later.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use sojourn_engine::inner::Tell;
use sojourn_engine::random::Random;
use sojourn_engine::tcp::congestion::{
    Algorithm, CongestionControl, CongestionEvent, Delivery, Hook, Needs, PluginControl, Told,
};
use sojourn_engine::tcp::window::Window;
use sojourn_engine::time::{Duration, Time};

use crate::action::{Action, Of, Space, Target};
use crate::decider::Decider;
use crate::feature::{Feature, FlowSeen, Seen};
use crate::observer::{Measured, Observer};
use crate::reward::Reward;
use crate::shown::Shown;
use crate::specification::{AgentSpecification, Interval};

/// What counts as a round-trip time before there is a sample: RFC 6298 section 2, the first timeout.
const FIRST_ROUND_TRIP: Duration = Duration::from_seconds(1);

/// A question after so many acknowledgements falls due at the next multiple of this, so that it is due at a time. Its interval ends
/// with the last of them.
pub const ACKNOWLEDGEMENT_GRID: Duration = Duration::from_microseconds(10);

/// What windows hold of a round trip at the paced rate: the gain of BBR (draft-cardwell-iccrg-bbr-congestion-control-02, section 2.7).
const WINDOWS_PER_ROUND_TRIP: f64 = 2.0;

/// Segments that the window of a paced flow has at least: as of BBR, section 2.7 there.
const LEAST_PACED: u64 = 4;

/// An agent's specification as it was checked: its features, action and reward.
#[derive(Debug)]
pub struct Kind {
    pub interval: Interval,
    pub features: Vec<&'static Feature>,
    pub history: usize,
    pub only_tcp_info: bool,
    pub action: Action,
    pub reward: Option<Reward>,
}

impl Kind {
    /// Checks an agent.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn of(specification: &AgentSpecification) -> Result<Kind, String> {
        let AgentSpecification { interval, observe, history, action, reward, only_tcp_info, over, .. } = specification;
        let action = Action::of(action)?;
        let of = action.target.of();
        let features =
            observe.iter().map(|name| Feature::named(name, of, *only_tcp_info)).collect::<Result<Vec<_>, _>>()?;
        if features.is_empty() || *history == 0 {
            return Err("observe: an agent needs at least one feature, and a history of at least 1".to_owned());
        }
        let is_zero = match *interval {
            Interval::Time(time) => time == Duration::ZERO,
            Interval::RoundTrips(round_trips) => !(round_trips.is_finite() && round_trips > 0.0),
            Interval::Acknowledgements(acknowledgements) => acknowledgements == 0,
        };
        if is_zero {
            return Err("interval: must be above 0".to_owned());
        }
        if of == Of::Queue && !matches!(interval, Interval::Time(_)) {
            return Err("interval: a queue is asked at times, such as every \"15 ms\"".to_owned());
        }
        if of == Of::Queue && over.is_some() {
            return Err("over: only a congestion control can be changed by an agent".to_owned());
        }
        let reward = reward.as_ref().map(|reward| Reward::of(reward, of)).transpose()?;
        Ok(Kind { interval: *interval, features, history: *history, only_tcp_info: *only_tcp_info, action, reward })
    }
}

impl Kind {
    /// The features of an interval.
    pub fn row(&self, seen: &Seen<'_>) -> Vec<f32> {
        self.features.iter().map(|feature| feature.observe(seen, self.only_tcp_info)).collect()
    }

    /// How many numbers an observation has.
    pub fn width(&self) -> usize {
        self.features.len() * self.history
    }

    /// The bounds of an observation's numbers.
    pub fn bounds(&self) -> Vec<(f32, f32)> {
        let row: Vec<_> = self.features.iter().map(|feature| feature.bounds()).collect();
        row.repeat(self.history)
    }
}

/// The questions of an agent: who answers, what has been seen, and which answers have not taken effect.
#[derive(Debug)]
pub struct Questions {
    pub kind: Arc<Kind>,
    /// None where an environment answers.
    decider: Option<Box<dyn Decider>>,
    /// When it is asked next; none before it can be, and while acknowledgements are counted.
    pub due: Option<Time>,
    answers: Vec<f64>,
    /// How many have been closed.
    closed: u64,
    /// What is told of them.
    pub shown: Shown,
    /// Features of the latest intervals, the oldest first.
    history: Vec<f32>,
    /// The latest interval, and the one before.
    latest: Measured,
    before: Measured,
}

impl Questions {
    /// `row` is what features are before anything happened.
    pub fn new(kind: Arc<Kind>, decider: Option<Box<dyn Decider>>, row: &[f32]) -> Questions {
        let history = row.repeat(kind.history);
        let (latest, before, shown) = Default::default();
        Questions { kind, decider, due: None, answers: Vec::new(), closed: 0, shown, history, latest, before }
    }

    /// Takes the interval that has ended.
    pub fn push(&mut self, row: &[f32], measured: Measured) {
        self.history.rotate_left(row.len());
        let end = self.history.len() - row.len();
        self.history[end..].copy_from_slice(row);
        self.before = std::mem::replace(&mut self.latest, measured);
        self.closed += 1;
    }

    /// The answers that have not taken effect, which they do now.
    pub fn take_effect(&mut self) -> Vec<f64> {
        if self.shown.questions < self.closed {
            self.shown.questions = self.closed;
            self.shown.reward = self.kind.reward.as_ref().and_then(|reward| reward.of_own(&self.latest));
        }
        self.shown.action = self.answers.last().copied().or(self.shown.action);
        std::mem::take(&mut self.answers)
    }

    /// Has the question answered, unless an environment does. What a policy wants beyond the bounds is the nearest that is allowed; what
    /// is no number is nothing.
    pub fn decide(&mut self) {
        let answer = self.decider.as_mut().and_then(|decider| decider.decide(&self.history));
        self.answers.extend(answer.filter(|answer| !answer.is_nan()).map(|answer| match self.kind.action.space() {
            Space::Box { least, most } => answer.clamp(least, most),
            Space::Discrete(steps) => libm::floor(answer).clamp(0.0, steps as f64 - 1.0),
        }));
    }
}

/// What an environment asks.
pub trait Asks: std::fmt::Debug + Send {
    /// Its questions.
    fn questions(&self) -> &Questions;

    /// See [`Asks::questions`].
    fn questions_mut(&mut self) -> &mut Questions;

    /// Whether it can be asked: a connection must be open.
    fn is_open(&self) -> bool;

    /// Ends the interval at the time at which its question falls due.
    fn close(&mut self, now: Time);

    /// When the next question falls due.
    fn due(&self) -> Option<Time> {
        self.questions().due
    }

    /// The latest observation: see [`Decider::decide`].
    fn observation(&self) -> &[f32] {
        &self.questions().history
    }

    /// The latest interval, and the one before.
    fn intervals(&self) -> (&Measured, &Measured) {
        (&self.questions().latest, &self.questions().before)
    }

    /// Takes the answer of an environment.
    fn answer(&mut self, action: f64) {
        self.questions_mut().answers.push(action);
    }

    /// Closes the questions that fell due before a hook, and has them answered.
    fn ask(&mut self, now: Time) {
        while let Some(due) = self.due().filter(|due| *due <= now) {
            self.close(due);
            self.questions_mut().decide();
        }
    }
}

/// An agent whose flow has begun, or is about to.
#[derive(Debug)]
pub struct Agent {
    questions: Questions,
    /// The built-in congestion control whose window it changes.
    leader: Option<Algorithm>,
    observer: Observer,
    /// The window that it set, to which the flow returns after a timeout; none before it has set one.
    window: Option<u64>,
    /// Whether a timeout has taken the window from that.
    has_fallen: bool,
    /// The rate that it set.
    rate: Option<f64>,
}

impl Asks for Agent {
    fn questions(&self) -> &Questions {
        &self.questions
    }

    fn questions_mut(&mut self) -> &mut Questions {
        &mut self.questions
    }

    fn is_open(&self) -> bool {
        self.observer.opened.is_some()
    }

    fn close(&mut self, now: Time) {
        if let Interval::Acknowledgements(_) = self.kind().interval
            && self.questions.due.take().is_some()
        {
            return;
        }
        self.end_interval(now);
        self.questions.due = match self.questions.kind.interval {
            Interval::Time(interval) => Some(now + interval),
            Interval::RoundTrips(round_trips) => Some(now + self.round_trips(round_trips)),
            Interval::Acknowledgements(_) => None,
        };
    }
}

impl Agent {
    fn new(kind: Arc<Kind>, leader: Option<Algorithm>, decider: Option<Box<dyn Decider>>) -> Agent {
        let observer = Observer::default();
        let measured = Measured::default();
        let seen = Seen::Flow(FlowSeen { now: Time::ZERO, observer: &observer, measured: &measured, pacing_rate: 0.0 });
        let row = kind.row(&seen);
        let questions = Questions::new(kind, decider, &row);
        Agent { questions, leader, observer, window: None, has_fallen: false, rate: None }
    }

    fn kind(&self) -> &Kind {
        &self.questions.kind
    }

    fn end_interval(&mut self, now: Time) {
        let measured = self.observer.measure(now);
        let row = self.row(now, &measured);
        self.observer.begin(now, &measured);
        self.questions.push(&row, measured);
    }

    fn row(&self, now: Time, measured: &Measured) -> Vec<f32> {
        let (observer, pacing_rate) = (&self.observer, self.pacing_rate());
        self.kind().row(&Seen::Flow(FlowSeen { now, observer, measured, pacing_rate }))
    }

    fn pacing_rate(&self) -> f64 {
        let of_leader = || {
            let leader = self.leader.as_ref()?;
            if !leader.needs().pacing {
                return None;
            }
            leader.pacing_rate(&self.observer.window, self.observer.srtt).map(|rate| rate.0 as f64)
        };
        self.rate.or_else(of_leader).unwrap_or(0.0)
    }

    /// At least a picosecond, so that time goes on.
    fn round_trips(&self, count: f64) -> Duration {
        let srtt = if self.observer.srtt > Duration::ZERO { self.observer.srtt } else { FIRST_ROUND_TRIP };
        Duration::from_seconds_f64(count * srtt.seconds()).max(Duration(1))
    }

    fn hear(&mut self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        match (hook, told) {
            (Hook::PacingRate, Told::Times(&[srtt], None)) => return self.rate_of(window, srtt),
            (Hook::PacingQuantum, Told::Bytes(mss)) => {
                return self.leader.as_ref().map(|leader| leader.pacing_quantum(mss));
            }
            _ => {}
        }
        if let Some(now) = told.now() {
            self.ask(now);
        }
        let answer = self.pass_on(hook, window, told);
        match (hook, told) {
            (Hook::OnEstablished, Told::Times(&[srtt], Some(now))) => {
                self.observer.open(srtt, now);
                self.questions.due = match self.kind().interval {
                    Interval::Time(interval) => Some(next_multiple(interval, now)),
                    Interval::RoundTrips(_) => Some(now),
                    Interval::Acknowledgements(_) => None,
                };
            }
            (Hook::OnSegmentLost, Told::Lost(lost)) => self.observer.lose(lost.now),
            (Hook::OnCongestion, Told::Event(event, _)) => {
                self.observer.congest(event);
                self.has_fallen |= event == CongestionEvent::Timeout;
            }
            (Hook::OnDelivery, Told::Delivery(delivery)) => {
                self.observer.deliver(delivery);
                self.act(window, delivery);
                if let Interval::Acknowledgements(count) = self.kind().interval
                    && self.due().is_none()
                    && self.observer.acknowledgements >= count
                {
                    self.observer.see(window, delivery.now);
                    self.end_interval(delivery.now);
                    self.questions.due = Some(next_multiple(ACKNOWLEDGEMENT_GRID, delivery.now));
                }
            }
            _ => {}
        }
        match told.now() {
            Some(now) => self.observer.see(window, now),
            None => self.observer.window = *window,
        }
        answer
    }

    /// The built-in congestion control hears what it would hear without an agent.
    fn pass_on(&mut self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        let leader = self.leader.as_mut()?;
        let hears = leader.needs().deliveries;
        match (hook, told) {
            (Hook::OnEstablished, Told::Times(&[srtt], Some(now))) => leader.on_established(window, srtt, now),
            (Hook::OnAck, Told::Ack(ack)) => leader.on_ack(window, ack),
            (Hook::IncreaseInSlowStart, Told::Ack(ack)) => return leader.increase_in_slow_start(window, ack),
            (Hook::Increase, Told::Ack(ack)) => leader.increase(window, ack),
            (Hook::OnCongestion, Told::Event(event, now)) => leader.on_congestion(window, event, now),
            (Hook::OnSegmentLost, Told::Lost(lost)) if hears => leader.on_segment_lost(window, lost),
            (Hook::OnDelivery, Told::Delivery(delivery)) if hears => leader.on_delivery(window, delivery),
            (Hook::OnRestart, Told::Times(&[], Some(now))) if hears => leader.on_restart(window, now),
            (Hook::OnIdle, Told::Times(&[idle], Some(now))) => leader.on_idle(window, idle, now),
            _ => {}
        }
        None
    }

    /// The answers take effect, after what the built-in congestion control did. An agent that alone sets the window returns after a
    /// timeout to what it set, by as much as is delivered.
    fn act(&mut self, window: &mut Window, delivery: &Delivery) {
        for answer in self.questions.take_effect() {
            self.questions.shown.set = Some(match self.kind().action.target {
                Target::Window => self.set_window(window, answer),
                Target::Rate => self.set_rate(window, answer),
                Target::Probability => unreachable!("flows have no such action"),
            });
        }
        if self.leader.is_some() {
            return;
        }
        if let Some(rate) = self.rate {
            let bytes = WINDOWS_PER_ROUND_TRIP * rate / 8.0 * self.observer.srtt.seconds();
            self.window = Some((bytes as u64).max(LEAST_PACED * window.mss));
        }
        let aim = *self.window.get_or_insert(window.cwnd);
        if self.has_fallen {
            window.cwnd = aim.min(window.cwnd + delivery.delivered);
            self.has_fallen = window.cwnd < aim;
        } else {
            window.cwnd = aim;
        }
    }

    /// Returns the window that it sets, in bytes.
    fn set_window(&mut self, window: &mut Window, answer: f64) -> f64 {
        let mss = window.mss as f64;
        let current = if self.leader.is_some() { window.cwnd } else { self.window.unwrap_or(window.cwnd) };
        let changed = self.kind().action.apply(answer, current as f64 / mss);
        if changed == current as f64 / mss {
            return current as f64;
        }
        let bytes = (libm::round(changed * mss) as u64).max(window.mss);
        if self.leader.is_some() {
            window.cwnd = bytes;
        } else {
            (self.window, self.has_fallen) = (Some(bytes), false);
        }
        bytes as f64
    }

    /// Without a rate of before, the action changes the one at which a window leaves in a round trip. Over a built-in congestion control
    /// it changes the rate that this asks for now; what changes nothing leaves it to that. Returns the rate that it sets.
    fn set_rate(&mut self, window: &Window, answer: f64) -> f64 {
        let srtt = if self.observer.srtt > Duration::ZERO { self.observer.srtt } else { FIRST_ROUND_TRIP };
        if self.leader.is_some() {
            self.rate = None;
        }
        let current = match self.pacing_rate() {
            0.0 => 8.0 * window.cwnd as f64 / srtt.seconds(),
            rate => rate,
        };
        let changed = self.kind().action.apply(answer, current);
        if self.leader.is_none() || changed != current {
            self.rate = Some(changed);
        }
        changed
    }

    fn rate_of(&self, window: &Window, srtt: Duration) -> Option<u64> {
        match self.rate {
            Some(rate) => Some(rate as u64),
            None => self.leader.as_ref()?.pacing_rate(window, srtt).map(|rate| rate.0),
        }
    }
}

/// The first multiple of an interval after a time.
pub fn next_multiple(interval: Duration, after: Time) -> Time {
    Time((after.0 / interval.0 + 1).saturating_mul(interval.0))
}

/// Where agents are that an environment asks: each with the number of its flow, or its place among the queues of agents.
pub type Asked = Arc<Mutex<Vec<(u32, Arc<Mutex<dyn Asks>>)>>>;

/// Who decides for the flows of an agent.
#[derive(Clone, Debug)]
pub enum Deciding {
    /// An environment, which finds them here.
    Environment(Asked),
    /// What makes a decider for a flow, by its number.
    Alone(Arc<dyn Makes>),
}

/// Makes deciders.
pub trait Makes: std::fmt::Debug + Send + Sync {
    /// One for the flow, or the queue, of this number.
    fn decider(&self, number: u32) -> Box<dyn Decider>;
}

/// The congestion control that an agent is.
#[derive(Debug)]
pub struct AgentControl {
    kind: Arc<Kind>,
    leader: Option<Algorithm>,
    deciding: Deciding,
    agent: Option<Arc<Mutex<Agent>>>,
}

impl AgentControl {
    pub fn new(kind: Arc<Kind>, leader: Option<Algorithm>, deciding: Deciding) -> AgentControl {
        AgentControl { kind, leader, deciding, agent: None }
    }
}

pub fn lock<T: ?Sized>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The hooks of an agent that alone sets the window.
const OWN_HOOKS: [Hook; 4] = [Hook::OnEstablished, Hook::OnDelivery, Hook::OnSegmentLost, Hook::OnCongestion];

impl PluginControl for AgentControl {
    fn fresh(&self) -> Box<dyn PluginControl> {
        Box::new(AgentControl::new(self.kind.clone(), self.leader.clone(), self.deciding.clone()))
    }

    fn begin(&mut self, flow: u32, random: Option<Random>) {
        let mut leader = self.leader.clone();
        if let Some(leader) = &mut leader {
            leader.take_flow(flow);
            if let Some(random) = random {
                leader.take_random(random);
            }
        }
        let decider = match &self.deciding {
            Deciding::Environment(_) => None,
            Deciding::Alone(makes) => Some(makes.decider(flow)),
        };
        let agent = Arc::new(Mutex::new(Agent::new(self.kind.clone(), leader, decider)));
        if let Deciding::Environment(asked) = &self.deciding {
            lock(asked).push((flow, agent.clone()));
        }
        self.agent = Some(agent);
    }

    fn needs(&self) -> Needs {
        let is_paced = self.kind.action.target == Target::Rate;
        match &self.leader {
            None => Needs { governs: true, deliveries: true, pacing: is_paced, ..Needs::default() },
            Some(leader) => {
                let needs = leader.needs();
                Needs { deliveries: true, pacing: needs.pacing || is_paced, ..needs }
            }
        }
    }

    fn hooks(&self) -> u32 {
        let is_paced = self.needs().pacing;
        let set = |hooks: &[Hook]| hooks.iter().fold(0, |set, hook| set | hook.bit());
        match &self.leader {
            None => set(&OWN_HOOKS) | if is_paced { Hook::PacingRate.bit() } else { 0 },
            Some(_) if is_paced => set(Hook::ALL),
            Some(_) => set(Hook::ALL) & !Hook::PacingRate.bit(),
        }
    }

    fn call(&self, hook: Hook, window: &mut Window, told: Told<'_>) -> Option<u64> {
        let agent = self.agent.as_ref()?;
        lock(agent).hear(hook, window, told)
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        if let Some(agent) = &self.agent {
            let questions = &lock(agent).questions;
            questions.shown.tell(questions.kind.action.target, tell);
        }
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("agent: {hook} {what}")
    }
}
