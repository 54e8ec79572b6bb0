//! Reno: RFC 5681. New Reno's window; fast recovery ends at the first acknowledgement of new data, so that each further loss of a
//! window costs another halving or a timeout.

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
pub struct Reno(NewReno);

impl Reno {
    /// What it is.
    pub const ABOUT: About = About {
        name: "reno",
        aliases: &["tcp-reno"],
        title: "Reno",
        class: "loss",
        year: 2009,
        source: "RFC 5681 section 3.2; Jacobson 1990",
        departures: "none",
    };

    /// A fresh Reno.
    pub fn new(parameters: Arc<NewRenoParameters>) -> Reno {
        Reno(NewReno::new(parameters))
    }
}

impl CongestionControl for Reno {
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
        Needs { recovery: Some(RecoveryKind::Reno), ..Needs::default() }
    }
}
