//! Controllers that learn, for flows and queues of the engine.
//!
//! An agent is a congestion control or a queue discipline that is asked at intervals what to do: what happened since the last
//! question is an observation, and the answer an action. Who answers is a [`Decider`]: a file with the actions of an earlier episode,
//! a policy, or a program that trains one. All of them see the same and act at the same times, so that the same actions give the
//! same bytes.

pub mod decider;
pub mod specification;

pub use decider::Decider;
pub use specification::AgentSpecification;
