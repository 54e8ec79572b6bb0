//! Two congestion controls side by side through one sequence of acknowledgements, losses, marks and timeouts.
//!
//! The sequence is what a simple path makes of the first one's window ([`path`]). The second is told the same, and its window has
//! no effect on the path, so that what differs between the two does not grow through the network. Recovery, which is the stack's, is
//! the same for both: the window falls to ssthresh at once.

mod lane;
mod path;

use serde::Deserialize;
use serde_json::Value;

use crate::plugin::Plugins;
use crate::random::{Purpose, Random};
use crate::specification::SourceSpecification;
use crate::tcp::congestion::{Algorithm, Plugin};
use crate::tcp::profile::StackProfile;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

use lane::Lane;
use path::Path;

/// What is replayed, and through which algorithms.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replay {
    /// The settings of the stack around both.
    pub stack: Value,
    /// The algorithm whose window makes the sequence.
    pub leader: SourceSpecification,
    /// The algorithm that is told the same.
    pub follower: SourceSpecification,
    /// How many acknowledgements and timeouts there are.
    pub events: u64,
    /// The round-trip time of the path without a queue.
    pub rtt: Duration,
    /// The rate of the path.
    pub rate: Rate,
    /// The seed of random losses, marks, timeouts, pauses and delays; without one, there are only those of the path and of a plan.
    pub seed: Option<u64>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// An acknowledgement.
    Acknowledgement,
    /// An acknowledgement during fast recovery.
    Repair,
    /// An acknowledgement that shows losses, so that fast recovery begins.
    Loss,
    /// An acknowledgement that ends it.
    Recovered,
    /// An acknowledgement with marks, on which the window is reduced.
    Mark,
    /// The retransmission timer expired.
    Timeout,
    /// An acknowledgement before which nothing was sent for some time.
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
            Kind::Restart => "restart",
        }
    }
}

/// One algorithm after an event.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Congestion window and threshold.
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
    /// See [`Replay::leader`].
    pub leader: Standing,
    /// See [`Replay::follower`].
    pub follower: Standing,
}

impl Replay {
    /// The events. They end early if a plugin fails, which then says so.
    ///
    /// # Errors
    /// One line if an algorithm or the stack makes no sense.
    pub fn rows(&self, plugins: &dyn Plugins) -> Result<Vec<Row>, String> {
        let profile = StackProfile::from_settings(&self.stack).map_err(|error| format!("stack: {error}"))?;
        let lane = |source: &SourceSpecification| {
            let algorithm = match source.plugin {
                Some(plugin) => {
                    let control = plugins.control(plugin, &source.parameters)?;
                    Algorithm::Plugin(Plugin::new(control, plugins.failure()))
                }
                None => Algorithm::new(&source.name, &source.parameters)?,
            };
            let random = Random::stream(self.seed.unwrap_or(1), Purpose::CongestionControl, 0);
            // What a plugin is made from has not begun; its clones have.
            Ok::<Lane, String>(Lane::new(algorithm.clone(), source.slow_start.clone(), &profile, random))
        };
        let mut path = Path::new(self, &profile, lane(&self.leader)?, lane(&self.follower)?);
        let mut rows = Vec::new();
        for _ in 0..self.events {
            rows.push(path.event());
            if plugins.failure().is_set() {
                break;
            }
        }
        Ok(rows)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::plugin::Unloaded;

    fn replay(leader: &str, follower: &str, seed: Option<u64>) -> Vec<Row> {
        replay_of(&json!({}), leader, follower, seed)
    }

    fn replay_of(stack: &Value, leader: &str, follower: &str, seed: Option<u64>) -> Vec<Row> {
        let source = |name: &str| json!({ "name": name, "slow_start": "standard", "stack": 0 });
        let replay: Replay = serde_json::from_value(json!({
            "stack": stack,
            "leader": source(leader),
            "follower": source(follower),
            "events": 4000,
            "rtt": Duration::from_milliseconds(40),
            "rate": Rate(50_000_000),
            "seed": seed,
        }))
        .expect("a replay");
        replay.rows(&Unloaded::default()).expect("rows")
    }

    /// An algorithm never parts from itself, whatever happens, and time does not run backwards.
    #[test]
    fn same_algorithm_agrees() {
        for (about, _) in Algorithm::catalogue() {
            for seed in [None, Some(1), Some(2)] {
                let rows = replay(about.name, about.name, seed);
                assert_eq!(rows.len(), 4000, "{}", about.name);
                for pair in rows.windows(2) {
                    assert!(pair[0].now <= pair[1].now, "{}", about.name);
                }
                for (event, row) in rows.iter().enumerate() {
                    let (leader, follower) = (row.leader, row.follower);
                    let apart = (leader.window, leader.pacing) != (follower.window, follower.pacing);
                    assert!(!apart, "{} seed {seed:?} event {event}: {row:?}", about.name);
                }
            }
        }
    }

    /// What happens follows from the leader alone, and the planned sequence has all that it promises.
    #[test]
    fn leader_makes_the_sequence() {
        let (one, other) = (replay("newreno", "newreno", None), replay("newreno", "cubic", None));
        for (one, other) in one.iter().zip(&other) {
            assert_eq!((one.now, one.kind, one.leader.window), (other.now, other.kind, other.leader.window));
        }
        for kind in [Kind::Loss, Kind::Repair, Kind::Recovered, Kind::Timeout, Kind::Mark, Kind::Acknowledgement] {
            assert!(one.iter().any(|row| row.kind == kind), "{kind:?}");
        }
        assert_eq!(one.iter().filter(|row| row.kind == Kind::Timeout).count(), 1);
    }

    /// The threshold after congestion is whole segments where the stack counts in segments, as Linux does (tcp.h, `snd_ssthresh`).
    #[test]
    fn threshold_is_whole_segments() {
        let rows = replay_of(&json!({"counting": "segments"}), "cubic", "westwood", Some(1));
        let losses: Vec<&Row> = rows.iter().filter(|row| row.kind == Kind::Loss).collect();
        assert!(losses.len() > 1, "{}", losses.len());
        for row in losses {
            for Window { ssthresh, mss, .. } in [row.leader.window, row.follower.window] {
                assert_eq!(ssthresh % mss, 0, "{row:?}");
            }
        }
    }

    /// New Reno halves its window on the first loss, and a round trip of acknowledgements afterwards adds a segment (RFC 5681).
    #[test]
    fn law_of_new_reno() {
        let rows = replay("newreno", "newreno", None);
        let loss = rows.iter().position(|row| row.kind == Kind::Loss).expect("a loss");
        let (before, after) = (rows[loss - 1].leader.window, rows[loss].leader.window);
        assert!(after.cwnd.abs_diff(before.cwnd / 2) <= 1448, "{before:?} {after:?}");
        let start = rows[loss..].iter().position(|row| row.kind == Kind::Recovered).expect("its end") + loss;
        let round = rows[start].now + rows[start + 1].rtt.expect("a sample");
        let end = rows[start..].iter().position(|row| row.now > round).expect("a round trip later") + start;
        assert!(rows[start..=end].iter().all(|row| row.kind != Kind::Loss), "a round trip without a loss");
        let growth = rows[end].leader.window.cwnd - rows[start].leader.window.cwnd;
        assert!((0.7..1.3).contains(&(growth as f64 / 1448.0)), "{growth} bytes");
    }
}
