//! Congestion control algorithms, one file each.
//!
//! An algorithm decides how the window grows in congestion avoidance and how far it falls on congestion. Everything
//! else - slow start, loss detection, recovery, timers - belongs to the sender and is the same for all, so an
//! algorithm states only what it changes. To add one: write its file, name it in a `mod` line and in [`algorithms!`] below.

mod bic;
mod compound;
mod cubic;
mod growth;
mod hstcp;
mod htcp;
mod hybla;
mod illinois;
mod newreno;
mod scalable;
mod veno;
mod westwood;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::about::About;
use crate::parameter::{Description, check_limits};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};

/// What an acknowledgement of new data tells.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ack {
    /// When it arrived.
    pub now: Time,
    /// Bytes it newly acknowledged.
    pub acked: u64,
    /// Bytes it is credited with for window growth: `acked`, or at most one segment where the stack counts
    /// acknowledgements instead of bytes (RFC 5681 section 3.1).
    pub credit: u64,
    /// Round-trip time sample, if it gave one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time, after this sample.
    pub srtt: Duration,
    /// First sequence number not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// Next sequence number to be sent.
    pub nxt: u64,
    /// Bytes sent and neither acknowledged nor known to be lost, after this acknowledgement.
    pub in_flight: u64,
    /// From the sender to the receiver, of the latest segment that the receiver had when it acknowledged. Only for
    /// algorithms that ask ([`Needs::one_way_delay`]).
    pub one_way_delay: Option<Duration>,
}

/// What an algorithm needs of the sender besides acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// One-way delays, which the receiver then reports.
    pub one_way_delay: bool,
}

/// A congestion controlled sender's window rule.
pub trait CongestionControl {
    /// Grows the window in congestion avoidance.
    fn increase(&mut self, window: &mut Window, ack: &Ack);

    /// The slow start threshold after congestion, in bytes, at least two segments. `flight_size` is the data sent but not yet acknowledged
    /// (RFC 5681 section 2).
    fn reduce(&mut self, window: &Window, flight_size: u64, now: Time) -> u64;

    /// Sees every acknowledgement of new data outside fast recovery, before the window grows: for algorithms that
    /// measure.
    fn on_ack(&mut self, _window: &Window, _ack: &Ack) {}

    /// The retransmission timer expired; the threshold has been reduced, the window is about to be one segment.
    fn on_timeout(&mut self) {}

    /// Grows the window below ssthresh in a way of its own, and gives the credit that is left for congestion avoidance;
    /// `None` leaves slow start to the one that the flow was given.
    fn increase_in_slow_start(&mut self, _window: &mut Window, _ack: &Ack) -> Option<u64> {
        None
    }

    /// Fast recovery ended; cwnd is what the recovery leaves.
    fn on_recovered(&mut self, _window: &mut Window, _now: Time) {}

    /// What it needs of the sender.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// The dispatch is an enum: one jump on the path of every acknowledgement, no allocation and no virtual call.
macro_rules! algorithms {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        /// Any of the algorithms.
        #[derive(Clone, Debug)]
        pub enum Algorithm {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        impl Algorithm {
            /// Builds the algorithm of this name with the parameters set for it, which its clones share.
            ///
            /// # Errors
            /// One line for an unknown name, an unknown parameter or a value out of range.
            pub fn new(name: &str, parameters: &Value) -> Result<Algorithm, String> {
                $(if name == $name::ABOUT.name {
                    check_limits(parameters, &$parameters::describe())?;
                    let parameters = $parameters::deserialize(parameters).map_err(|error| error.to_string())?;
                    return Ok(Algorithm::$name($name::new(Arc::new(parameters))));
                })*
                Err(format!("unknown congestion control {name:?}; known: {}", [$($name::ABOUT.name),*].join(", ")))
            }

            /// All algorithms, in the order of the catalogue.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
                vec![$((&$name::ABOUT, $parameters::describe())),*]
            }
        }

        impl CongestionControl for Algorithm {
            fn increase(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Algorithm::$name(algorithm) => algorithm.increase(window, ack),)* }
            }
            fn reduce(&mut self, window: &Window, flight_size: u64, now: Time) -> u64 {
                match self { $(Algorithm::$name(algorithm) => algorithm.reduce(window, flight_size, now),)* }
            }
            fn on_ack(&mut self, window: &Window, ack: &Ack) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_ack(window, ack),)* }
            }
            fn on_timeout(&mut self) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_timeout(),)* }
            }
            fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64> {
                match self { $(Algorithm::$name(algorithm) => algorithm.increase_in_slow_start(window, ack),)* }
            }
            fn on_recovered(&mut self, window: &mut Window, now: Time) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_recovered(window, now),)* }
            }
            fn needs(&self) -> Needs {
                match self { $(Algorithm::$name(algorithm) => algorithm.needs(),)* }
            }
        }
    };
}

algorithms! {
    newreno::NewReno(NewRenoParameters),
    cubic::Cubic(CubicParameters),
    compound::Compound(CompoundParameters),
    hstcp::HighSpeed(HighSpeedParameters),
    htcp::HTcp(HTcpParameters),
    westwood::Westwood(WestwoodParameters),
    bic::Bic(BicParameters),
    veno::Veno(VenoParameters),
    illinois::Illinois(IllinoisParameters),
    hybla::Hybla(HyblaParameters),
    scalable::Scalable(ScalableParameters),
}
