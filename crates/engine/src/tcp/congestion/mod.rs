//! Congestion control algorithms, one file each, or a folder with parameters and choice in `mod.rs` and each variant in a file:
//! `published`, `linux`, `ns3`. `kernel` is what Linux's have in common.
//!
//! An algorithm decides how the window grows in congestion avoidance and how far it falls on congestion. Everything
//! else - slow start, loss detection, recovery, timers - belongs to the sender and is the same for all, so an
//! algorithm states only what it changes. To add one: write its file, name it in a `mod` line and in `algorithms!` below.

/// The hooks of an enum of controls are those of the one that it holds: one jump on the path of every acknowledgement, and no
/// virtual call.
macro_rules! dispatch_control {
    ($name:ident $variants:tt) => {
        const _: () = {
            use $crate::inner::Tell;
            use $crate::random::Random;
            use $crate::tcp::congestion::{Ack, CongestionControl, CongestionEvent, Delivery, LostSegment, Needs};
            use $crate::tcp::window::Window;
            use $crate::time::{Duration, Time};
            use $crate::units::Rate;

            impl CongestionControl for $name {
                dispatch! { $name $variants
                    fn increase(&mut self, window: &mut Window, ack: &Ack);
                    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time);
                    fn on_established(&mut self, window: &mut Window, srtt: Duration, now: Time);
                    fn on_ack(&mut self, window: &Window, ack: &Ack);
                    fn increase_in_slow_start(&mut self, window: &mut Window, ack: &Ack) -> Option<u64>;
                    fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery);
                    fn on_segment_lost(&mut self, window: &mut Window, lost: &LostSegment);
                    fn on_restart(&mut self, window: &mut Window, now: Time);
                    fn on_idle(&mut self, window: &mut Window, idle: Duration, now: Time);
                    fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate>;
                    fn pacing_quantum(&self, mss: u64) -> u64;
                    fn take_random(&mut self, random: Random);
                    fn take_flow(&mut self, flow: u32);
                    fn tell_state(&self, window: &Window, now: Time, tell: &mut Tell<'_>);
                    fn needs(&self) -> Needs;
                }
            }
        };
    };
}

#[macro_use]
mod declarations;

mod bbr;
mod bbr3;
mod bic;
mod compound;
mod cubic;
mod dctcp;
mod fack;
mod growth;
pub mod hooks;
mod hstcp;
mod htcp;
mod hybla;
mod illinois;
mod kernel;
mod ledbat;
mod lp;
mod model;
mod newreno;
mod plugin;
mod prague;
mod real;
mod reno;
mod round_trips;
mod sack;
mod scalable;
mod tahoe;
mod vcp;
mod vegas;
mod veno;
mod westwood;
mod yeah;

use std::sync::Arc;

pub use growth::Growth;
pub use hooks::{Hook, Returns, Shown, Told, rate_of};
pub use plugin::{Plugin, PluginControl};
use serde::Deserialize;
use serde_json::Value;

use crate::about::{About, Listed};
use crate::inner::Tell;
use crate::packet::LoadFactor;
use crate::parameter::{Description, check_limits};
use crate::random::Random;
use crate::tcp::ecn::Codepoint;
use crate::tcp::recovery::RecoveryKind;
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

/// The timestamp option of an acknowledgement (RFC 7323).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timestamps {
    /// When the receiver sent it (TSval).
    pub sent: Time,
    /// The sender's timestamp that it echoes (TSecr).
    pub echo: Time,
}

/// What an acknowledgement of new data shows.
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
    /// Whether data above a gap had been SACKed before it arrived, or marks were reducing the window: Linux's states Disorder and
    /// CWR (tcp_input.c, tcp_try_keep_open, tcp_enter_cwr).
    pub follows_gap: bool,
    /// From the sender to the receiver, of the latest segment that the receiver had when it acknowledged. Only for
    /// algorithms that ask ([`Needs::one_way_delay`]).
    pub one_way_delay: Option<Duration>,
    /// When that segment arrived there; likewise.
    pub arrived: Option<Time>,
    /// Its timestamps, if the stack uses them; likewise.
    pub timestamps: Option<Timestamps>,
    /// Bytes newly known to have arrived with a congestion mark; only with Accurate ECN.
    pub marked: u64,
    /// How loaded the path is. Only for algorithms that ask ([`Needs::load_factor`]).
    pub load_factor: Option<LoadFactor>,
}

/// The recent delivery rate of the path, as one acknowledgement shows it (draft-cheng-iccrg-delivery-rate-estimation-02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered while the newest segment that it acknowledges was under way.
    pub delivered: u64,
    /// The time that took; none if it is too short to give a rate.
    pub interval: Option<Duration>,
    /// Bytes delivered in all when that segment was sent.
    pub prior_delivered: u64,
    /// Whether the sender did not use its window when that segment was sent, for want of data or of a buffer.
    pub app_limited: bool,
    /// Bytes in flight once that segment was sent.
    pub in_flight_when_sent: u64,
    /// Bytes lost since that segment was sent.
    pub lost: u64,
    /// That segment's round-trip time, unless it was sent more than once, so that the sample is ambiguous.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Bytes a second, if the sample gives a rate.
    pub fn rate(&self) -> Option<f64> {
        self.interval.map(|interval| self.delivered as f64 / interval.seconds())
    }
}

/// What is known of a segment that was found lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct LostSegment {
    /// When it was found.
    pub now: Time,
    /// Which segment of the stream.
    pub segment: u64,
    /// Bytes in flight once it was sent.
    pub in_flight_when_sent: u64,
    /// Bytes lost since it was sent, it included.
    pub lost: u64,
    /// Whether the sender did not use its window when it was sent.
    pub app_limited: bool,
    /// Bytes delivered in all.
    pub total_delivered: u64,
}

/// What any acknowledgement shows, in any phase, whether of new data or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// When it arrived.
    pub now: Time,
    /// Bytes now known to have arrived that were not before.
    pub delivered: u64,
    /// Bytes delivered in all.
    pub total_delivered: u64,
    /// Bytes newly acknowledged, some of which may have been known to have arrived before.
    pub acked: u64,
    /// First sequence number not yet acknowledged, after this acknowledgement.
    pub una: u64,
    /// Next sequence number to be sent.
    pub nxt: u64,
    /// Whether the sender uses its window, so that it may grow.
    pub uses_window: bool,
    /// Bytes newly found lost.
    pub lost: u64,
    /// Bytes newly known to have arrived marked.
    pub marked: u64,
    /// Round-trip time sample, if it gave one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time, after this sample; zero before the first.
    pub srtt: Duration,
    /// Bytes in flight before this acknowledgement, and after it and the losses it shows, before anything is sent.
    pub prior_in_flight: u64,
    /// See `prior_in_flight`.
    pub in_flight: u64,
    /// Bytes found lost and not delivered since, before this acknowledgement and once it is taken into account.
    pub prior_unrepaired: u64,
    /// See `prior_unrepaired`.
    pub unrepaired: u64,
    /// How long pacing holds back the next segment.
    pub held_back: Duration,
    /// The rate sample, if it delivered anything.
    pub rate: Option<RateSample>,
    /// Whether losses are being repaired, or marks reduce the window in proportion to what is delivered, once this acknowledgement
    /// is taken into account.
    pub in_recovery: bool,
    /// See [`Ack::timestamps`].
    pub timestamps: Option<Timestamps>,
}

/// What an algorithm needs of the sender besides acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct Needs {
    /// One-way delays and times of arrival, which the receiver then reports.
    pub one_way_delay: bool,
    /// Accurate ECN on all its packets, with this codepoint.
    pub ecn: Option<Codepoint>,
    /// The ECN field of its data for the load factor, which routers of VCP write and the receiver echoes.
    pub load_factor: bool,
    /// A recovery that belongs to it.
    pub recovery: Option<RecoveryKind>,
    /// Pacing ([`CongestionControl::pacing_rate`]).
    pub pacing: bool,
    /// Every delivery, with rate samples ([`CongestionControl::on_delivery`]).
    pub deliveries: bool,
    /// Rate samples by the rule of ns-3.
    #[serde(skip)]
    pub samples_as_ns3: bool,
    /// The algorithm alone sets the window, also in recovery, except on a timeout.
    pub governs: bool,
    /// Growth also on an acknowledgement that reports marks, by what it delivered unmarked.
    #[serde(skip)]
    pub growth_beside_marks: bool,
    /// [`CongestionControl::on_ack`] also in fast recovery, and while a reduction after marks lasts.
    #[serde(skip)]
    pub acks_in_recovery: bool,
    /// Random numbers ([`CongestionControl::take_random`]).
    pub random: bool,
    /// These are the same for all flows of a run.
    #[serde(skip)]
    pub common_random: bool,
}

/// A congestion signal, or the news that the latest was spurious, as the sender passes it to its algorithm.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CongestionEvent {
    /// Segments were lost: once for each episode of fast recovery, for a loss that a tail loss probe repaired, and for a
    /// retransmission timeout unless the same segment had already timed out (RFC 5681 section 3.1).
    Loss {
        /// Bytes sent and not yet acknowledged, as the stack counts them (`flight_size`; RFC 5681 section 2).
        flight_size: u64,
    },
    /// Congestion marks were reported: once for each window of data (RFC 3168 section 6.1.2).
    Ecn {
        /// As for a loss.
        flight_size: u64,
        /// Whether the stack asks for a smaller reduction than for a loss: Alternative Backoff with ECN (RFC 8511).
        abe: bool,
    },
    /// Slow start restarts, from a window of one segment or, with RACK-TLP, one more than what is in flight: the retransmission
    /// timer expired, or the recovery is Tahoe's. It
    /// follows the `Loss` of the same time, if there is one.
    Timeout,
    /// The latest loss was spurious: everything that was sent again had arrived (RFC 8985 section 9.4). The sender has set cwnd and
    /// ssthresh back, except that of an algorithm that governs cwnd stays as it is.
    Spurious,
}

impl CongestionEvent {
    /// The flight size of an event that calls for a lower threshold: a loss, or marks.
    pub fn flight_size(&self) -> Option<u64> {
        match *self {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => Some(flight_size),
            CongestionEvent::Timeout | CongestionEvent::Spurious => None,
        }
    }
}

/// The window rule of a sender: what makes one congestion control different from another.
///
/// How the window grows in congestion avoidance is required, and what congestion does to the threshold: `reduce`, or
/// `on_congestion`, which calls it. The other methods have defaults that do nothing; those that concern pacing, deliveries or
/// random numbers are called only if [`needs`](CongestionControl::needs) asks for it.
///
/// A reduction after marks that takes a round trip (the stack's `prr_on_marks`) is to an algorithm as a fast recovery.
/// The order in which the sender calls them is that of its [governor](crate::tcp::governor). During fast recovery the window is
/// the recovery's to set.
///
/// The window is in bytes. Time is an argument: an algorithm has no clock, draws no random numbers but those given to it,
/// and does not allocate for each acknowledgement.
#[warn(missing_docs)]
pub trait CongestionControl {
    /// Grows `window.cwnd` in congestion avoidance, by what `ack.credit` is worth. Not called when the sender does not use
    /// its window, or when the acknowledgement reports marks, unless [`Needs::growth_beside_marks`].
    fn increase(&mut self, window: &mut Window, ack: &Ack);

    /// Answers congestion, by default a loss and marks with [`reduce`](CongestionControl::reduce), a timeout with
    /// [`on_timeout`](CongestionControl::on_timeout), and a spurious loss not at all.
    fn on_congestion(&mut self, window: &mut Window, event: CongestionEvent, now: Time) {
        match event {
            CongestionEvent::Loss { flight_size } | CongestionEvent::Ecn { flight_size, .. } => {
                self.reduce(window, flight_size, now);
            }
            CongestionEvent::Timeout => self.on_timeout(window, now),
            CongestionEvent::Spurious => {}
        }
    }

    /// Sets the threshold ([`Window::set_ssthresh`]); the recovery then sets cwnd, which here is still that of before.
    fn reduce(&mut self, _window: &mut Window, _flight_size: u64, _now: Time) {}

    /// Slow start restarts, so that it may forget what it has measured.
    fn on_timeout(&mut self, _window: &mut Window, _now: Time) {}

    /// May set the initial window and start its clocks, once the handshake has given a first smoothed RTT, or zero if none.
    fn on_established(&mut self, _window: &mut Window, _srtt: Duration, _now: Time) {}

    /// Sees every acknowledgement of new data outside fast recovery, and in it with [`Needs::acks_in_recovery`], before the window
    /// grows: for algorithms that measure.
    fn on_ack(&mut self, _window: &Window, _ack: &Ack) {}

    /// Grows the window below ssthresh in a way of its own, and returns the credit that is left for congestion avoidance;
    /// `None` leaves slow start to the one that the flow was given.
    fn increase_in_slow_start(&mut self, _window: &mut Window, _ack: &Ack) -> Option<u64> {
        None
    }

    /// Sees every acknowledgement, in any phase, once it has begun or ended a recovery and before anything new is sent.
    /// Algorithms that govern set the window here. Only with [`Needs::deliveries`].
    fn on_delivery(&mut self, _window: &mut Window, _delivery: &Delivery) {}

    /// Sees every segment that is found lost, before the acknowledgement that shows it and before anything new is sent.
    /// Only with [`Needs::deliveries`].
    fn on_segment_lost(&mut self, _window: &mut Window, _lost: &LostSegment) {}

    /// Segments are about to leave after none was in flight for want of data. Only with [`Needs::deliveries`].
    fn on_restart(&mut self, _window: &mut Window, _now: Time) {}

    /// The application has data again, and none was sent for this time. A window that falls after a pause has not fallen yet.
    fn on_idle(&mut self, _window: &mut Window, _idle: Duration, _now: Time) {}

    /// The rate at which segments leave, in bits of payload a second; `None` leaves pacing to the stack. Only with
    /// [`Needs::pacing`].
    fn pacing_rate(&self, _window: &Window, _srtt: Duration) -> Option<Rate> {
        None
    }

    /// Bytes of payload that leave together where segments are paced; at least one segment does.
    fn pacing_quantum(&self, _mss: u64) -> u64 {
        0
    }

    /// Takes a random stream of its own, before all else. Only with [`Needs::random`].
    fn take_random(&mut self, _random: Random) {}

    /// Takes the number of its flow, before all else. Only those from outside the engine have a use for it.
    fn take_flow(&mut self, _flow: u32) {}

    /// Tells the values of its inner state that it knows: those that the catalogue lists. Asking it changes nothing.
    fn tell_state(&self, _window: &Window, _now: Time, _tell: &mut Tell<'_>) {}

    /// What it needs of the sender besides acknowledgements. It does not change during a connection.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// Every flow holds as much as the largest variant, so an algorithm of more than some ninety bytes is `boxed`.
macro_rules! algorithms {
    ($($module:ident::$name:ident($parameters:ident $(, $boxed:ident)?)),* $(,)?) => {
        $(pub use $module::$name;)*

        /// Any of the algorithms.
        #[derive(Clone, Debug)]
        pub enum Algorithm {
            $($name(algorithms!(@held $name $($boxed)?)),)*
            /// One from outside the engine.
            Plugin(Plugin),
        }

        impl Algorithm {
            /// Builds the algorithm of this name with the parameters set for it, which its clones share.
            ///
            /// # Errors
            /// One line for an unknown name, an unknown parameter or a value out of range.
            pub fn new(name: &str, parameters: &Value) -> Result<Algorithm, String> {
                $(if name == $name::ABOUT.name {
                    check_limits(parameters, &$module::$parameters::describe())?;
                    let parameters = $module::$parameters::deserialize(parameters).map_err(|error| error.to_string())?;
                    return Ok(Algorithm::$name($name::new(Arc::new(parameters)).into()));
                })*
                Err(format!("unknown congestion control {name:?}"))
            }

            /// Whether there is an algorithm of this name.
            pub fn is_known(name: &str) -> bool {
                [$($name::ABOUT.name),*].contains(&name)
            }

            /// All algorithms, in the order of the catalogue.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
                vec![$((&$name::ABOUT, $module::$parameters::describe())),*]
            }
        }

        dispatch_control! { Algorithm [$($name)* Plugin] }
    };
    (@held $name:ident) => { $name };
    (@held $name:ident boxed) => { Box<$name> };
}

algorithms! {
    tahoe::Tahoe(NewRenoParameters),
    reno::Reno(NewRenoParameters),
    newreno::NewReno(NewRenoParameters),
    sack::Sack(NewRenoParameters),
    fack::Fack(NewRenoParameters),
    cubic::Cubic(CubicParameters),
    compound::Compound(CompoundParameters),
    hstcp::HighSpeed(HighSpeedParameters),
    htcp::HTcp(HTcpParameters, boxed),
    westwood::Westwood(WestwoodParameters),
    real::Real(RealParameters, boxed),
    bic::Bic(BicParameters),
    veno::Veno(VenoParameters),
    illinois::Illinois(IllinoisParameters, boxed),
    hybla::Hybla(HyblaParameters),
    scalable::Scalable(ScalableParameters),
    vegas::Vegas(VegasParameters),
    yeah::Yeah(YeahParameters, boxed),
    ledbat::Ledbat(LedbatParameters),
    lp::Lp(LpParameters),
    bbr::Bbr(BbrParameters),
    bbr3::Bbr3(Bbr3Parameters, boxed),
    dctcp::Dctcp(DctcpParameters),
    prague::Prague(PragueParameters),
    vcp::Vcp(VcpParameters),
}
