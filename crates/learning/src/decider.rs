//! Who decides what an agent does.

use std::fmt::Debug;

/// Decides for one flow, or for one queue.
pub trait Decider: Debug + Send {
    /// Answers a question.
    ///
    /// `observation` has the features in the order of [`observe`](crate::AgentSpecification::observe), scaled, as many times as
    /// [`history`](crate::AgentSpecification::history) says: the oldest interval first, the latest last. Intervals before the first are
    /// what the features are before anything happened.
    ///
    /// The answer is the action in the units of the action's kind: of one that takes steps, the number of the step, from 0. None leaves
    /// everything as it is.
    fn decide(&mut self, observation: &[f32]) -> Option<f64>;
}

/// Carries out actions that were written down, in their order. After the last, everything stays as it is.
#[derive(Clone, Debug)]
pub struct Script {
    actions: std::vec::IntoIter<f64>,
}

impl Script {
    /// The actions of one flow or queue.
    pub fn new(actions: Vec<f64>) -> Script {
        Script { actions: actions.into_iter() }
    }
}

impl Decider for Script {
    fn decide(&mut self, _observation: &[f32]) -> Option<f64> {
        self.actions.next()
    }
}
