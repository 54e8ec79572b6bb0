//! An agent that decides in a queue: with which probability an arrival is marked or dropped. The rule of time is that of
//! [`agent`](crate::agent); the hooks are arrivals and departures, and an action takes effect at the first arrival at T or later.

use std::sync::{Arc, Mutex};

use sojourn_engine::inner::Tell;
use sojourn_engine::queue::{PluginQueue, Seen as SeenPacket, Verdict, View};
use sojourn_engine::time::{Duration, Time};
use sojourn_engine::units::Rate;

use crate::action::Target;
use crate::agent::{Asks, Deciding, Kind, Questions, lock, next_multiple};
use crate::decider::Decider;
use crate::feature::{QueueSeen, Seen};
use crate::observer::Measured;
use crate::queue_observer::QueueObserver;
use crate::specification::Interval;

/// An agent of a queue.
#[derive(Debug)]
pub struct QueueAgent {
    questions: Questions,
    observer: QueueObserver,
    probability: f64,
    greatest: f64,
}

impl Asks for QueueAgent {
    fn questions(&self) -> &Questions {
        &self.questions
    }

    fn questions_mut(&mut self) -> &mut Questions {
        &mut self.questions
    }

    fn is_open(&self) -> bool {
        true
    }

    fn close(&mut self, now: Time) {
        let mut measured = self.observer.measure(now);
        self.greatest = self.greatest.max(measured.throughput);
        measured.greatest_rate = self.greatest;
        let seen = QueueSeen { observer: &self.observer, measured: &measured, probability: self.probability };
        let row = self.questions.kind.row(&Seen::Queue(seen));
        self.observer.begin(now);
        self.questions.push(&row, measured);
        self.questions.due = self.questions.due.map(|due| due + interval(&self.questions.kind));
    }
}

fn interval(kind: &Kind) -> Duration {
    match kind.interval {
        Interval::Time(interval) => interval,
        _ => unreachable!("queues are asked at times"),
    }
}

impl QueueAgent {
    fn new(kind: Arc<Kind>, decider: Option<Box<dyn Decider>>) -> QueueAgent {
        let (observer, measured) = (QueueObserver::default(), Measured::default());
        let row = kind.row(&Seen::Queue(QueueSeen { observer: &observer, measured: &measured, probability: 0.0 }));
        let due = next_multiple(interval(&kind), Time::ZERO);
        let mut questions = Questions::new(kind, decider, &row);
        questions.due = Some(due);
        QueueAgent { questions, observer, probability: 0.0, greatest: 0.0 }
    }

    fn overflow(&mut self, packet: &SeenPacket, view: &View<'_>) {
        self.take_answers(view.now);
        self.observer.overflow(packet);
    }

    fn arrive(&mut self, packet: &SeenPacket, view: &mut View<'_>) -> Verdict {
        self.take_answers(view.now);
        let verdict =
            if self.probability > 0.0 && view.random.unit() < self.probability { Verdict::Mark } else { Verdict::Pass };
        self.observer.arrive(packet, verdict, view);
        verdict
    }

    /// Actions take effect at an arrival.
    fn take_answers(&mut self, now: Time) {
        self.ask(now);
        for answer in self.questions.take_effect() {
            self.probability = self.questions.kind.action.apply(answer, self.probability);
            self.questions.shown.set = Some(self.probability);
        }
    }

    fn leave(&mut self, packet: &SeenPacket, view: &View<'_>) {
        self.ask(view.now);
        self.observer.leave(packet, view);
    }
}

/// The discipline that an agent is: one line of first in, first out.
#[derive(Debug)]
pub struct AgentQueue(Arc<Mutex<QueueAgent>>);

impl AgentQueue {
    /// The queue of this place among those of agents.
    pub fn new(kind: Arc<Kind>, deciding: &Deciding, place: u32) -> AgentQueue {
        match deciding {
            Deciding::Environment(asked) => {
                let agent = Arc::new(Mutex::new(QueueAgent::new(kind, None)));
                lock(asked).push((place, agent.clone()));
                AgentQueue(agent)
            }
            Deciding::Alone(makes) => {
                AgentQueue(Arc::new(Mutex::new(QueueAgent::new(kind, Some(makes.decider(place))))))
            }
        }
    }
}

impl PluginQueue for AgentQueue {
    fn overflow(&mut self, packet: &SeenPacket, view: &mut View) {
        lock(&self.0).overflow(packet, view);
    }

    fn admit(&mut self, packet: &SeenPacket, _line: usize, view: &mut View) -> Verdict {
        lock(&self.0).arrive(packet, view)
    }

    fn release(&mut self, packet: &SeenPacket, _line: usize, view: &mut View) -> Verdict {
        lock(&self.0).leave(packet, view);
        Verdict::Pass
    }

    fn set_link_rate(&mut self, rate: Rate) {
        lock(&self.0).observer.rate = rate.0 as f64;
    }

    fn tell_state(&self, tell: &mut Tell<'_>) {
        lock(&self.0).questions.shown.tell(Target::Probability, tell);
    }

    fn complaint(&self, hook: &str, what: &str) -> String {
        format!("agent: {hook} {what}")
    }
}
