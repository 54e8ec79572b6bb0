//! A run that stops at each question of its agents, for a program that answers.

use std::sync::{Arc, Mutex};

use sojourn_engine::plugin::Unloaded;
use sojourn_engine::result::RunResult;
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::sender::State;
use sojourn_engine::time::Time;

use crate::action::Of;
use crate::agent::{ACKNOWLEDGEMENT_GRID, Asked, Asks, Kind, lock, next_multiple};
use crate::agents::{Agents, check};
use crate::observer::{Measured, TERMS};
use crate::reward::Around;
use crate::specification::{AgentSpecification, DeciderSpecification, Interval};

/// Events of the simulator between two looks at whether a plugin has failed, or too many packets are under way.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

/// A run under way, at a question or at its end.
#[derive(Debug)]
pub struct Environment {
    simulation: Simulation,
    /// The simulator's steps at the latest look at how many packets are under way.
    looked: u64,
    kind: Arc<Kind>,
    /// The agents by the numbers of their flows, or by the places of their queues, in order.
    agents: Vec<(u32, Arc<Mutex<dyn Asks>>)>,
    /// Which of them are asked now.
    asked: Vec<bool>,
    /// Which of them have come to the end of their data.
    ended: Vec<bool>,
    reached: Time,
    end: Time,
    capacity: f64,
    /// Flow, time and action, as they were given.
    actions: Vec<(u32, Time, f64)>,
}

/// What an agent sees after a step, and what it was worth.
#[derive(Debug)]
pub struct Outcome<'a> {
    /// Observations of all agents, one after the other.
    pub observations: &'a mut [f32],
    /// A reward for each agent.
    pub rewards: &'a mut [f64],
    /// [`TERMS`] for each agent.
    pub terms: &'a mut [f64],
    /// Whether an agent has come to the end of its data.
    pub terminated: &'a mut [u8],
    /// Whether the run has come to its end.
    pub truncated: &'a mut [u8],
}

impl Environment {
    /// A run, up to its first question. It is one of so many, which together may hold as many packets as a run alone.
    ///
    /// # Errors
    /// One line that says what is wrong and what is allowed.
    pub fn new(specification: &Specification, runs: usize) -> Result<Environment, String> {
        let waiting = waiting(specification)?;
        let found = Asked::default();
        let others = Unloaded::new(0);
        let mut simulation =
            Simulation::with_plugins(specification, &Agents::new(specification, &others, Some(&found))?)?;
        simulation.most_packets /= runs.max(1) as u64;
        let mut agents = std::mem::take(&mut *lock(&found));
        agents.sort_by_key(|(flow, _)| *flow);
        let rate = specification.links.iter().find(|link| link.queue.is_some()).map_or(1, |link| link.rate.0);
        let count = agents.len();
        let mut environment = Environment {
            simulation,
            looked: 0,
            kind: Arc::new(check(&waiting)?),
            agents,
            asked: vec![false; count],
            ended: vec![false; count],
            reached: Time::ZERO,
            end: specification.duration,
            capacity: rate as f64,
            actions: Vec::new(),
        };
        environment.go_on()?;
        Ok(environment)
    }

    /// How many numbers an agent sees.
    pub fn width(&self) -> usize {
        self.kind.width()
    }

    /// The numbers of the flows that agents decide for.
    pub fn flows(&self) -> Vec<u32> {
        self.agents.iter().map(|(flow, _)| *flow).collect()
    }

    /// Up to when all has happened.
    pub fn now(&self) -> Time {
        self.reached
    }

    /// Whether the run has come to its end, or all agents to that of their data.
    pub fn is_over(&self) -> bool {
        self.reached >= self.end || self.ended.iter().all(|ended| *ended)
    }

    /// What is wrong with the actions of those who are asked, if something is.
    pub fn fault(&self, actions: &[f64]) -> Option<String> {
        let asked = actions.iter().zip(&self.asked).filter(|(_, is_asked)| **is_asked);
        asked.filter_map(|(action, _)| self.kind.action.space().fault(*action)).next()
    }

    /// The actions so far: flow, time and action.
    pub fn actions(&self) -> &[(u32, Time, f64)] {
        &self.actions
    }

    /// Gives each agent that is asked its action, and goes on to the next question. Actions of others are ignored.
    ///
    /// # Errors
    /// Why the run cannot go on.
    pub fn step(&mut self, actions: &[f64]) -> Result<(), String> {
        for (place, action) in actions.iter().enumerate() {
            if self.asked[place] {
                let (flow, agent) = &self.agents[place];
                lock(agent).answer(*action);
                self.actions.push((*flow, self.reached, *action));
            }
        }
        self.go_on()
    }

    fn go_on(&mut self) -> Result<(), String> {
        self.asked.fill(false);
        loop {
            let due = self.due();
            let until = due.unwrap_or(self.end).min(self.end);
            let (stop, most_events) = self.stride(until);
            let is_there = self.simulation.advance(stop, most_events);
            self.look()?;
            self.reached = self.reached.max(if is_there { stop } else { self.simulation.now() });
            if is_there && stop == self.end {
                self.finish();
                return Ok(());
            }
            if is_there && due == Some(stop) && self.due() == due {
                self.ask(stop);
                return Ok(());
            }
        }
    }

    /// Whether the run may go on.
    fn look(&mut self) -> Result<(), String> {
        if let Some(complaint) = self.simulation.failure() {
            return Err(complaint.to_owned());
        }
        if self.simulation.steps() < self.looked + EVENTS_BETWEEN_LOOKS {
            return Ok(());
        }
        self.looked = self.simulation.steps();
        let (census, most) = (self.simulation.census(), self.simulation.most_packets);
        let under_way = census.created - census.delivered - census.dropped;
        if under_way <= most {
            return Ok(());
        }
        let seconds = self.simulation.now().seconds();
        Err(format!("{under_way} packets were queued and under way after {seconds} s; an environment may hold {most}"))
    }

    /// When the next question falls due.
    fn due(&self) -> Option<Time> {
        let agents = self.agents.iter().zip(&self.ended).filter(|(_, ended)| !**ended);
        agents.filter_map(|((_, agent), _)| lock(agent).due()).min()
    }

    /// How far the run can go without going past a question that is not known yet, and for how many events.
    fn stride(&self, until: Time) -> (Time, u64) {
        let is_open = self.agents.iter().all(|(_, agent)| lock(agent).is_open());
        match self.kind.interval {
            // The handshake's packets are handled one at a time, when they arrive.
            Interval::RoundTrips(_) if !is_open => (until, 1),
            Interval::Time(interval) if !is_open => {
                (until.min(next_multiple(interval, self.reached)), EVENTS_BETWEEN_LOOKS)
            }
            Interval::Acknowledgements(_) => {
                (until.min(next_multiple(ACKNOWLEDGEMENT_GRID, self.reached)), EVENTS_BETWEEN_LOOKS)
            }
            _ => (until, EVENTS_BETWEEN_LOOKS),
        }
    }

    fn ask(&mut self, now: Time) {
        for (place, (flow, agent)) in self.agents.iter().enumerate() {
            // Looking at a connection asks its congestion control for the pacing rate, so the agent is locked afterwards.
            let is_queue = self.kind.action.target.of() == Of::Queue;
            let info = self.simulation.tcp_info(*flow as usize);
            let mut agent = lock(agent);
            if self.ended[place] || agent.due() != Some(now) {
                continue;
            }
            agent.close(now);
            self.asked[place] = true;
            self.ended[place] = !is_queue && info.is_none_or(|info| info.state != State::Established);
        }
    }

    /// Ends the intervals that are under way at the end.
    fn finish(&mut self) {
        for (place, (_, agent)) in self.agents.iter().enumerate() {
            let mut agent = lock(agent);
            if agent.is_open() && !self.ended[place] {
                agent.close(self.end);
            }
            self.asked[place] = true;
        }
    }

    /// Writes what agents see and what their intervals were worth. Who was not asked sees what it saw before, and gets nothing.
    pub fn tell(&self, outcome: &mut Outcome<'_>) {
        let width = self.kind.width();
        let intervals: Vec<(Measured, Measured)> = self
            .agents
            .iter()
            .enumerate()
            .map(|(place, (_, agent))| {
                let agent = lock(agent);
                outcome.observations[place * width..][..width].copy_from_slice(agent.observation());
                let (own, before) = agent.intervals();
                (*own, *before)
            })
            .collect();
        let all: Vec<Measured> = intervals.iter().map(|(own, _)| *own).collect();
        for (place, (own, before)) in intervals.iter().enumerate() {
            let around = Around { own, before, all: &all, capacity: self.capacity };
            let reward = self.kind.reward.as_ref().filter(|_| self.asked[place]);
            outcome.rewards[place] = reward.map_or(0.0, |reward| reward.value(&around));
            outcome.terms[place * TERMS.len()..][..TERMS.len()].copy_from_slice(&own.terms());
            outcome.terminated[place] = u8::from(self.ended[place]);
            outcome.truncated[place] = u8::from(self.reached >= self.end && !self.ended[place]);
        }
    }

    /// The result of the run, which goes on to its end without further answers.
    ///
    /// # Errors
    /// Why it cannot.
    pub fn finish_run(mut self) -> Result<RunResult, String> {
        while !self.simulation.advance(self.end, EVENTS_BETWEEN_LOOKS) {
            self.look()?;
        }
        Ok(self.simulation.finish())
    }
}

/// The agent that a run waits for.
///
/// # Errors
/// There is none, or there are several that differ.
pub fn waiting(specification: &Specification) -> Result<AgentSpecification, String> {
    let mut found: Vec<AgentSpecification> = Vec::new();
    for plugin in &specification.plugins {
        let Some(agent) = AgentSpecification::of_plugin(plugin) else { continue };
        let agent = agent?;
        if agent.decider == DeciderSpecification::Environment {
            found.push(agent);
        }
    }
    let first = found.pop().ok_or("no flow and no queue has agent = true: an environment needs an agent to ask")?;
    if found.is_empty() { Ok(first) } else { Err("agents of one environment have the same keys".to_owned()) }
}
