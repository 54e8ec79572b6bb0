//! Rate-based sources, one file or folder each: they keep to a rate, where a congestion control of `tcp::congestion`
//! keeps to a window.
//!
//! A source is both ends of a flow: what is sent, and what becomes of it at the receiver. A user names it like any
//! congestion control. To add one: write its file, name it in a `mod` line and in `sources!` below.

mod cbr;
mod tfrc;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::about::About;
use crate::packet::{OptionsPool, Packet};
use crate::parameter::{Description, check_limits};
use crate::probe::DelayStatistics;
use crate::tcp::profile::StackProfile;
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

/// The run and a source's place in it.
#[derive(Clone, Debug)]
pub struct Setting {
    /// Where its packets begin their path.
    pub address: Address,
    /// Where answers begin theirs; none for sources that are one-way.
    pub return_address: Option<Address>,
    /// The stack.
    pub profile: Arc<StackProfile>,
    /// Bytes to be sent; none without end.
    pub size: Option<u64>,
    /// The run's seed, for its random streams.
    pub seed: u64,
}

/// What a sender with feedback knows, as a window's would be sampled.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
    /// Its rate as a window: bytes it may send in a round-trip time.
    pub window: u64,
    /// Latest RTT sample.
    pub rtt: Option<Duration>,
}

/// What a source sends that nothing answers, and so nothing slows down.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Size of a packet, headers included.
    pub packet: Bytes,
    /// On average.
    pub average: Rate,
    /// Bits of a burst: what it sends at one go at more than the average rate.
    pub burst: u64,
}

/// Both ends of a flow whose sender keeps to a rate. State machines without a clock, as a connection's ends are: time
/// is an argument, packets go into an outbox, and timers are deadlines that the owner watches.
pub trait RateBased {
    /// What can be set of it.
    type Parameters;

    /// Whether nothing comes back to the sender, so that neither a way back nor a stack matters.
    const ONE_WAY: bool;

    /// The switches among its parameters that make it draw random numbers.
    const RANDOM_IF: &'static [&'static str] = &[];

    /// Whether parameters that are each within their limits go together.
    ///
    /// # Errors
    /// One line that names the parameter and says what is allowed.
    fn check(parameters: &Self::Parameters) -> Result<(), String>;

    /// What it sends if nothing answers it; none of a source that answers slow down.
    fn offered(_parameters: &Self::Parameters) -> Option<Offered> {
        None
    }

    /// A source that has not started.
    fn new(parameters: Arc<Self::Parameters>, setting: Setting) -> Self;

    /// Sends its first packet.
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);

    /// Nothing more is sent. False if all was sent before.
    fn stop(&mut self) -> bool;

    /// When the pacing timer expires: the next packet is due then; `NEVER` when none is.
    fn pacing_deadline(&self) -> Time;

    /// That timer expired.
    fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);

    /// When the sender's other timer expires; `NEVER` while it is off.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// That other timer expired.
    fn on_deadline(&mut self, _now: Time) {}

    /// An answer arrived at the sender.
    fn on_answer(&mut self, _packet: &Packet, _now: Time, _options: &mut OptionsPool) {}

    /// A packet arrived at the receiver, which may answer.
    fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet>;

    /// When the receiver answers without a packet; `NEVER` while it does not.
    fn answer_deadline(&self) -> Time {
        Time::NEVER
    }

    /// It is time for that.
    fn on_answer_deadline(&mut self, _now: Time, _options: &mut OptionsPool) -> Option<Packet> {
        None
    }

    /// Bytes handed to the receiving application so far.
    fn delivered(&self) -> u64;

    /// What its sender counted since the measuring window opened.
    fn statistics(&self) -> &SenderStatistics;

    /// One-way delays of its packets since then, if nothing answers them.
    fn delays(&self) -> Option<DelayStatistics> {
        None
    }

    /// The measuring window opens: counts begin anew.
    fn open_window(&mut self);

    /// What is sampled over time, if anything.
    fn sample(&self) -> Option<WindowSample> {
        None
    }
}

/// The dispatch is an enum, as with the congestion controls.
macro_rules! sources {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        /// Any of the sources. They differ much in size, and a run may have many of the small ones.
        #[derive(Debug)]
        pub enum Traffic {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(Box<$name>),)*
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

            /// See [`RateBased::offered`].
            pub fn offered(&self) -> Option<Offered> {
                match self { $(Blueprint::$name(parameters) => $name::offered(parameters),)* }
            }

            /// A source that has not started.
            pub fn build(&self, setting: Setting) -> Traffic {
                match self {
                    $(Blueprint::$name(parameters) => {
                        Traffic::$name(Box::new($name::new(Arc::clone(parameters), setting)))
                    })*
                }
            }
        }

        impl Traffic {
            /// All sources, in the order of the catalogue, and whether they are one-way.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>, bool)> {
                vec![$((&$name::ABOUT, $parameters::describe(), $name::ONE_WAY)),*]
            }

            /// The switches of the source of this name that make it draw random numbers: [`RateBased::RANDOM_IF`].
            pub fn random_if(name: &str) -> &'static [&'static str] {
                $(if name == $name::ABOUT.name {
                    return $name::RANDOM_IF;
                })*
                &[]
            }

            /// See [`RateBased::start`].
            pub fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
                match self { $(Traffic::$name(source) => source.start(now, outbox, options),)* }
            }

            /// See [`RateBased::stop`].
            pub fn stop(&mut self) -> bool {
                match self { $(Traffic::$name(source) => source.stop(),)* }
            }

            /// See [`RateBased::pacing_deadline`].
            pub fn pacing_deadline(&self) -> Time {
                match self { $(Traffic::$name(source) => source.pacing_deadline(),)* }
            }

            /// See [`RateBased::on_pacing_timer`].
            pub fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool) {
                match self { $(Traffic::$name(source) => source.on_pacing_timer(now, outbox, options),)* }
            }

            /// See [`RateBased::deadline`].
            pub fn deadline(&self) -> Time {
                match self { $(Traffic::$name(source) => source.deadline(),)* }
            }

            /// See [`RateBased::on_deadline`].
            pub fn on_deadline(&mut self, now: Time) {
                match self { $(Traffic::$name(source) => source.on_deadline(now),)* }
            }

            /// See [`RateBased::on_answer`].
            pub fn on_answer(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) {
                match self { $(Traffic::$name(source) => source.on_answer(packet, now, options),)* }
            }

            /// See [`RateBased::answer_deadline`].
            pub fn answer_deadline(&self) -> Time {
                match self { $(Traffic::$name(source) => source.answer_deadline(),)* }
            }

            /// See [`RateBased::on_answer_deadline`].
            pub fn on_answer_deadline(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet> {
                match self { $(Traffic::$name(source) => source.on_answer_deadline(now, options),)* }
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

            /// See [`RateBased::delays`].
            pub fn delays(&self) -> Option<DelayStatistics> {
                match self { $(Traffic::$name(source) => source.delays(),)* }
            }

            /// See [`RateBased::open_window`].
            pub fn open_window(&mut self) {
                match self { $(Traffic::$name(source) => source.open_window(),)* }
            }

            /// See [`RateBased::sample`].
            pub fn sample(&self) -> Option<WindowSample> {
                match self { $(Traffic::$name(source) => source.sample(),)* }
            }
        }
    };
}

sources! {
    cbr::Cbr(CbrParameters),
    tfrc::Tfrc(TfrcParameters),
}
