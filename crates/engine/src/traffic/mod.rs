//! Rate-based sources, one file or folder each: they keep to a rate, where a congestion control of `tcp::congestion`
//! keeps to a window.
//!
//! A source is both ends of a flow: what is sent, and what becomes of it at the receiver. A user names it like any
//! congestion control. To add one: write its file, name it in a `mod` line and in `sources!` below.

mod cbr;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::about::About;
use crate::packet::{OptionsPool, Packet};
use crate::parameter::{Description, check_limits};
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::Time;

/// What a source is told of the run and its place in it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where its packets begin their path.
    pub address: Address,
    /// Bytes to be sent; none without end.
    pub size: Option<u64>,
    /// The run's seed, for its random streams.
    pub seed: u64,
}

/// Both ends of a flow whose sender keeps to a rate. State machines without a clock, as a connection's ends are: time
/// is an argument, packets go into an outbox, and timers are deadlines that the owner watches.
pub trait RateBased {
    /// What can be set of it.
    type Parameters;

    /// Whether nothing comes back to the sender, so that neither a way back nor a stack matters.
    const ONE_WAY: bool;

    /// Whether parameters that are each within their limits go together.
    ///
    /// # Errors
    /// One line that names the parameter and says what is allowed.
    fn check(parameters: &Self::Parameters) -> Result<(), String>;

    /// A source that has not started.
    fn new(parameters: Arc<Self::Parameters>, setting: Setting) -> Self;

    /// Sends its first packet.
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>);

    /// When the next packet is due; `NEVER` when none is.
    fn release(&self) -> Time;

    /// The next packet is due.
    fn on_release(&mut self, now: Time, outbox: &mut Vec<Packet>);

    /// A packet arrived at the receiver, which may answer.
    fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet>;

    /// Bytes handed to the receiving application so far.
    fn delivered(&self) -> u64;

    /// What its sender counted since the measuring window opened.
    fn statistics(&self) -> &SenderStatistics;

    /// The measuring window opens: counts begin anew.
    fn open_window(&mut self);
}

/// The dispatch is an enum, as with the congestion controls.
macro_rules! sources {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        /// Any of the sources.
        #[derive(Debug)]
        pub enum Traffic {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        /// A source of which only name and parameters are settled; all those it builds share the parameters.
        #[derive(Clone, Debug)]
        pub enum Blueprint {
            $(#[doc = concat!("Of [`", stringify!($name), "`].")] $name(Arc<$parameters>),)*
        }

        impl Blueprint {
            /// The source of this name with the parameters set for it; none if no source has the name.
            ///
            /// # Errors
            /// One line for an unknown parameter or a value that is not allowed.
            pub fn of(name: &str, parameters: &Value) -> Result<Option<Blueprint>, String> {
                $(if name == $name::ABOUT.name {
                    check_limits(parameters, &$parameters::describe())?;
                    let parameters = $parameters::deserialize(parameters).map_err(|error| error.to_string())?;
                    $name::check(&parameters)?;
                    return Ok(Some(Blueprint::$name(Arc::new(parameters))));
                })*
                Ok(None)
            }

            /// Whether nothing comes back to the sender.
            pub fn is_one_way(&self) -> bool {
                match self { $(Blueprint::$name(_) => $name::ONE_WAY,)* }
            }

            /// A source that has not started.
            pub fn build(&self, setting: Setting) -> Traffic {
                match self {
                    $(Blueprint::$name(parameters) => Traffic::$name($name::new(Arc::clone(parameters), setting)),)*
                }
            }
        }

        impl Traffic {
            /// All sources, in the order of the catalogue, and whether they are one-way.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>, bool)> {
                vec![$((&$name::ABOUT, $parameters::describe(), $name::ONE_WAY)),*]
            }

            /// See [`RateBased::start`].
            pub fn start(&mut self, now: Time, outbox: &mut Vec<Packet>) {
                match self { $(Traffic::$name(source) => source.start(now, outbox),)* }
            }

            /// See [`RateBased::release`].
            pub fn release(&self) -> Time {
                match self { $(Traffic::$name(source) => source.release(),)* }
            }

            /// See [`RateBased::on_release`].
            pub fn on_release(&mut self, now: Time, outbox: &mut Vec<Packet>) {
                match self { $(Traffic::$name(source) => source.on_release(now, outbox),)* }
            }

            /// See [`RateBased::on_data`].
            pub fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet> {
                match self { $(Traffic::$name(source) => source.on_data(packet, now, options),)* }
            }

            /// See [`RateBased::delivered`].
            pub fn delivered(&self) -> u64 {
                match self { $(Traffic::$name(source) => source.delivered(),)* }
            }

            /// See [`RateBased::statistics`].
            pub fn statistics(&self) -> &SenderStatistics {
                match self { $(Traffic::$name(source) => source.statistics(),)* }
            }

            /// See [`RateBased::open_window`].
            pub fn open_window(&mut self) {
                match self { $(Traffic::$name(source) => source.open_window(),)* }
            }
        }
    };
}

sources! {
    cbr::Cbr(CbrParameters),
}
