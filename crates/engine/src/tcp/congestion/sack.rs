//! SACK TCP: New Reno's window with the recovery of RFC 6675. Any algorithm takes that recovery: a stack with recovery = "sack".

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
pub struct Sack(NewReno);

impl Sack {
    /// What it is.
    pub const ABOUT: About = About {
        name: "sack",
        aliases: &["sack1", "tcp-sack"],
        title: "SACK TCP",
        class: "loss",
        year: 2012,
        source: "RFC 6675; Fall and Floyd, SIGCOMM CCR 26 (1996)",
        departures: "none",
    };

    /// A fresh SACK TCP.
    pub fn new(parameters: Arc<NewRenoParameters>) -> Sack {
        Sack(NewReno::new(parameters))
    }
}

impl CongestionControl for Sack {
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
        Needs { recovery: Some(RecoveryKind::Sack), ..Needs::default() }
    }
}
