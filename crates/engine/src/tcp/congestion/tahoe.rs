//! Tahoe: Jacobson, "Congestion avoidance and control", SIGCOMM 1988. New Reno's window; after a loss, slow start from one segment.

use std::sync::Arc;

use super::newreno::NewReno;
pub use super::newreno::NewRenoParameters;
use super::{Ack, CongestionControl, Needs};
use crate::about::About;
use crate::tcp::profile::RecoveryKind;
use crate::tcp::window::Window;
use crate::time::Time;

/// See the module.
#[derive(Clone, Debug)]
pub struct Tahoe(NewReno);

impl Tahoe {
    /// What it is.
    pub const ABOUT: About = About {
        name: "tahoe",
        aliases: &["tcp-tahoe"],
        title: "Tahoe",
        class: "loss",
        year: 1988,
        source: "Jacobson, SIGCOMM 1988; Fall and Floyd, SIGCOMM CCR 26 (1996)",
        departures: "limited transmit and the RTT estimator are the stack's",
    };

    /// A fresh Tahoe.
    pub fn new(parameters: Arc<NewRenoParameters>) -> Tahoe {
        Tahoe(NewReno::new(parameters))
    }
}

impl CongestionControl for Tahoe {
    fn increase(&mut self, window: &mut Window, ack: &Ack) {
        self.0.increase(window, ack);
    }

    fn reduce(&mut self, window: &Window, flight_size: u64, now: Time) -> u64 {
        self.0.reduce(window, flight_size, now)
    }

    fn reduce_on_marks(&mut self, window: &Window, flight_size: u64, now: Time, gently: bool) -> u64 {
        self.0.reduce_on_marks(window, flight_size, now, gently)
    }

    fn needs(&self) -> Needs {
        Needs { recovery: Some(RecoveryKind::Tahoe), ..Needs::default() }
    }
}
