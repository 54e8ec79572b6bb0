//! Rate-based sources, one file or folder each. They control a rate, where a congestion control of `tcp::congestion`
//! controls a window.
//!
//! A source implements both ends of a flow: what is sent and how the receiver processes it. Users name it like a
//! congestion control. To add one: write its file, name it in a `mod` line and in `sources!` below.

mod cbr;
mod ping;
mod tfrc;
mod voice;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::about::{About, Listed};
use crate::packet::{OptionsPool, Packet};
use crate::parameter::{Description, check_limits};
use crate::probe::DelayStatistics;
use crate::tcp::profile::StackProfile;
use crate::tcp::sender::{Address, SenderStatistics};
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

pub use voice::{CallQuality, Codec};

/// The configuration of a source within a run.
#[derive(Clone, Debug)]
pub struct SourceSetup {
    /// Start of the path of its packets.
    pub address: Address,
    /// Start of the path of its feedback, `None` for one-way sources.
    pub return_address: Option<Address>,
    pub profile: Arc<StackProfile>,
    /// Bytes to be sent, `None` if unlimited.
    pub size: Option<u64>,
    /// The seed of the run, for the source's random streams.
    pub seed: u64,
}

/// A sample of the state of a sender with feedback, comparable with that of a window.
#[derive(Clone, Copy, Debug)]
pub struct WindowSample {
    /// The rate expressed as a window, in bytes per round-trip time.
    pub window: u64,
    pub rtt: Option<Duration>,
}

/// The load offered by a source that does not respond to congestion.
#[derive(Clone, Copy, Debug)]
pub struct Offered {
    /// Packet size, in bytes, including headers.
    pub packet: Bytes,
    pub average: Rate,
    /// The size of a burst above the average rate, in bits.
    pub burst: u64,
}

/// What the catalogue says of a source.
#[derive(Debug)]
pub struct SourceEntry {
    pub about: &'static About,
    pub parameters: Vec<Description>,
    /// See [`Source::ONE_WAY`].
    pub one_way: bool,
    /// See [`Source::UNRESPONSIVE`].
    pub unresponsive: bool,
}

/// A kind of source: what is known of it before it is built. `new` builds one that has not started.
pub trait Source: RateBased + Listed + Sized {
    type Parameters;

    /// Whether nothing is sent back to the sender, so that neither a reverse path nor a stack matters.
    const ONE_WAY: bool;

    /// Whether it sends the same whatever the network does, so that the network never limits it.
    const UNRESPONSIVE: bool;

    /// The boolean parameters that make the source draw random numbers.
    const RANDOM_IF: &'static [&'static str] = &[];

    /// Checks the combination of parameters that are each within their limits.
    ///
    /// # Errors
    /// One line that names the parameter and says what is allowed.
    fn check(_parameters: &Self::Parameters) -> Result<(), String> {
        Ok(())
    }

    /// The offered load, `None` if the source responds to congestion.
    fn offered(_parameters: &Self::Parameters) -> Option<Offered> {
        None
    }
}

/// Both ends of a flow with a rate-based sender. Like the ends of a connection, they are state machines without a
/// clock: time is an argument, packets go to an outbox, and timers are deadlines that the owner observes.
pub trait RateBased {
    /// Sends the first packet.
    fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);

    /// Stops sending. Returns false if all data was sent before.
    fn stop(&mut self) -> bool;

    /// When the pacing timer expires and the next packet is due, `NEVER` if there is none.
    fn pacing_deadline(&self) -> Time;

    /// Handles the expiry of the pacing timer.
    fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);

    /// When the sender's other timer expires, `NEVER` while it is stopped.
    fn deadline(&self) -> Time {
        Time::NEVER
    }

    /// Handles the expiry of the sender's other timer.
    fn on_deadline(&mut self, _now: Time) {}

    /// Processes feedback at the sender.
    fn on_answer(&mut self, _packet: &Packet, _now: Time, _options: &mut OptionsPool) {}

    /// Processes a packet at the receiver. Returns its feedback, if any.
    fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet>;

    /// When the receiver sends feedback without a packet, `NEVER` if it does not.
    fn answer_deadline(&self) -> Time {
        Time::NEVER
    }

    /// Handles the expiry of the receiver's feedback timer.
    fn on_answer_deadline(&mut self, _now: Time, _options: &mut OptionsPool) -> Option<Packet> {
        None
    }

    /// Bytes delivered to the receiving application so far.
    fn delivered(&self) -> u64;

    /// The sender's counters since the start of the measuring window.
    fn statistics(&self) -> &SenderStatistics;

    /// One-way delays of its packets since the start of the measuring window, if nothing answers them.
    fn delays(&self) -> Option<DelayStatistics> {
        None
    }

    /// What the listener of a call hears in the measuring window, given the packets dropped there; none if it is no call.
    fn call(&self, _dropped: u64) -> Option<CallQuality> {
        None
    }

    /// Times from requests to their answers since the start of the measuring window, if it sends requests.
    fn round_trips(&self) -> Option<DelayStatistics> {
        None
    }

    /// Resets the counters at the start of the measuring window.
    fn open_window(&mut self);

    /// The values sampled over time, if any.
    fn sample(&self) -> Option<WindowSample> {
        None
    }
}

/// Static dispatch through an enum, as for the congestion controls.
macro_rules! sources {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        /// Any of the sources. They are boxed because their sizes differ widely and a run may have many small ones.
        #[derive(Debug)]
        pub enum Traffic {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(Box<$name>),)*
        }

        /// The name and parameters of a source. All sources built from it share the parameters.
        #[derive(Clone, Debug)]
        pub enum Blueprint {
            $(#[doc = concat!("Of [`", stringify!($name), "`].")] $name(Arc<$parameters>),)*
        }

        impl Blueprint {
            /// The source of this name with these parameters, `None` if no source has the name.
            pub fn of(name: &str, parameters: &Value) -> Result<Option<Blueprint>, String> {
                $(if name == $name::ABOUT.name {
                    check_limits(parameters, &$parameters::describe())?;
                    let parameters = $parameters::deserialize(parameters).map_err(|error| error.to_string())?;
                    $name::check(&parameters)?;
                    return Ok(Some(Blueprint::$name(Arc::new(parameters))));
                })*
                Ok(None)
            }

            /// Whether nothing is sent back to the sender.
            pub fn is_one_way(&self) -> bool {
                match self { $(Blueprint::$name(_) => $name::ONE_WAY,)* }
            }

            pub fn offered(&self) -> Option<Offered> {
                match self { $(Blueprint::$name(parameters) => $name::offered(parameters),)* }
            }

            pub fn build(&self, setup: SourceSetup) -> Traffic {
                match self {
                    $(Blueprint::$name(parameters) => {
                        Traffic::$name(Box::new($name::new(Arc::clone(parameters), setup)))
                    })*
                }
            }
        }

        impl Traffic {
            /// All sources, in the order of the catalogue.
            pub fn catalogue() -> Vec<SourceEntry> {
                vec![$(SourceEntry {
                    about: &$name::ABOUT,
                    parameters: $parameters::describe(),
                    one_way: $name::ONE_WAY,
                    unresponsive: $name::UNRESPONSIVE,
                }),*]
            }

            /// The boolean parameters of the source of this name that make it draw random numbers:
            /// [`Source::RANDOM_IF`].
            pub fn random_if(name: &str) -> &'static [&'static str] {
                $(if name == $name::ABOUT.name {
                    return $name::RANDOM_IF;
                })*
                &[]
            }
        }

        impl RateBased for Traffic {
            dispatch! { Traffic [$($name)*]
                fn start(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);
                fn stop(&mut self) -> bool;
                fn pacing_deadline(&self) -> Time;
                fn on_pacing_timer(&mut self, now: Time, outbox: &mut Vec<Packet>, options: &mut OptionsPool);
                fn deadline(&self) -> Time;
                fn on_deadline(&mut self, now: Time);
                fn on_answer(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool);
                fn answer_deadline(&self) -> Time;
                fn on_answer_deadline(&mut self, now: Time, options: &mut OptionsPool) -> Option<Packet>;
                fn on_data(&mut self, packet: &Packet, now: Time, options: &mut OptionsPool) -> Option<Packet>;
                fn delivered(&self) -> u64;
                fn statistics(&self) -> &SenderStatistics;
                fn delays(&self) -> Option<DelayStatistics>;
                fn call(&self, dropped: u64) -> Option<CallQuality>;
                fn round_trips(&self) -> Option<DelayStatistics>;
                fn open_window(&mut self);
                fn sample(&self) -> Option<WindowSample>;
            }
        }
    };
}

sources! {
    cbr::Cbr(CbrParameters),
    voice::Voice(VoiceParameters),
    ping::Ping(PingParameters),
    tfrc::Tfrc(TfrcParameters),
}
