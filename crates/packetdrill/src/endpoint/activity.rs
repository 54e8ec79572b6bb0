//! When something last happened, and for how long there was something to send: Linux tcp.c, tcp_get_info and tcp_chrono_start.

use sojourn_engine::time::{Duration, Time};

use super::Endpoint;

/// What `TCP_INFO` tells of times.
#[derive(Clone, Copy, Debug, Default)]
pub struct Activity {
    /// When data, and when an acknowledgement, last arrived, and when data last left.
    pub received_at: Time,
    pub acknowledged_at: Time,
    pub sent_at: Time,
    /// The largest segment that arrived.
    pub largest_arrival: u64,
    /// Since when there is something to send or to be acknowledged, if there is, and for how long there was before.
    busy_since: Option<Time>,
    busy: Duration,
}

impl Activity {
    /// For how long there was something to send or to be acknowledged.
    pub fn busy(&self, now: Time) -> Duration {
        self.busy + self.busy_since.map_or(Duration::ZERO, |since| now.since(since))
    }
}

impl Endpoint {
    pub(super) fn note_activity(&mut self, now: Time) {
        let outstanding = self.stream.as_ref().map_or(0, |stream| stream.sender.info().outstanding);
        let is_busy = outstanding > 0 || self.unsent() > 0;
        let activity = &mut self.activity;
        match activity.busy_since {
            None if is_busy => activity.busy_since = Some(now),
            Some(since) if !is_busy => {
                activity.busy = activity.busy + now.since(since);
                activity.busy_since = None;
            }
            _ => {}
        }
    }
}
