//! FACK: Mathis and Mahdavi, "Forward acknowledgement: refining TCP congestion control", SIGCOMM 1996. New Reno's window; losses
//! are told by how far the highest SACK lies above a segment.

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
pub struct Fack(NewReno);

impl Fack {
    /// What it is.
    pub const ABOUT: About = About {
        name: "fack",
        aliases: &["tcp-fack"],
        title: "FACK",
        class: "loss",
        year: 1996,
        source: "Mathis and Mahdavi, SIGCOMM 1996",
        departures: "overdamping and rampdown (section 4) are left out; the threshold of section 2.2 holds within an episode too, as in Linux",
    };

    /// A fresh FACK.
    pub fn new(parameters: Arc<NewRenoParameters>) -> Fack {
        Fack(NewReno::new(parameters))
    }
}

impl CongestionControl for Fack {
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
        Needs { recovery: Some(RecoveryKind::Fack), ..Needs::default() }
    }
}
