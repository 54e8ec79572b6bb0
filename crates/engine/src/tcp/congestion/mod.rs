//! Congestion control algorithms, one file each.
//!
//! An algorithm decides how the window grows in congestion avoidance and how far it falls on congestion. Everything
//! else - slow start, loss detection, recovery, timers - belongs to the sender and is the same for all, so an
//! algorithm states only what it changes. To add one: write its file, name it in a `mod` line and in `algorithms!` below.

mod bbr;
mod bbr3;
mod bic;
mod compound;
mod cubic;
mod dctcp;
mod fack;
mod growth;
mod hstcp;
mod htcp;
mod hybla;
mod illinois;
mod ledbat;
mod lp;
mod model;
mod newreno;
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

use serde::Deserialize;
use serde_json::Value;

use crate::about::About;
use crate::packet::LoadFactor;
use crate::parameter::{Description, check_limits};
use crate::random::Random;
use crate::tcp::profile::{Codepoint, RecoveryKind};
use crate::tcp::window::Window;
use crate::time::{Duration, Time};
use crate::units::Rate;

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
    /// When that segment arrived there; likewise.
    pub arrived: Option<Time>,
    /// Bytes newly known to have arrived with a congestion mark; only with Accurate ECN.
    pub marked: u64,
    /// How loaded the path is. Only for algorithms that ask ([`Needs::load_factor`]).
    pub load_factor: Option<LoadFactor>,
}

/// How fast the path delivered of late, as one acknowledgement shows it (draft-cheng-iccrg-delivery-rate-estimation-02).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RateSample {
    /// Bytes delivered while the newest segment that it acknowledges was under way.
    pub delivered: u64,
    /// The time that took; none if it is too short to tell a rate.
    pub interval: Option<Duration>,
    /// Bytes delivered in all when that segment was sent.
    pub prior_delivered: u64,
    /// Whether the sender did not use its window when that segment was sent.
    pub limited: bool,
    /// Bytes in flight once that segment was sent.
    pub in_flight_when_sent: u64,
    /// Bytes lost since that segment was sent.
    pub lost: u64,
    /// That segment's round-trip time, unless it was sent more than once, so that nobody knows which is acknowledged.
    pub rtt: Option<Duration>,
}

impl RateSample {
    /// Bytes a second, if the sample tells.
    pub fn rate(&self) -> Option<f64> {
        self.interval.map(|interval| self.delivered as f64 / interval.seconds())
    }
}

/// What is known of a segment that was found lost.
#[derive(Clone, Copy, Debug, Default)]
pub struct Loss {
    /// When it was found.
    pub now: Time,
    /// Which segment of the stream.
    pub segment: u64,
    /// Bytes in flight once it was sent.
    pub in_flight_when_sent: u64,
    /// Bytes lost since it was sent, it included.
    pub lost: u64,
    /// Whether the sender did not use its window when it was sent.
    pub limited: bool,
    /// Bytes delivered in all.
    pub total_delivered: u64,
}

/// What any acknowledgement tells, in any phase, whether of new data or not.
#[derive(Clone, Copy, Debug, Default)]
pub struct Delivery {
    /// When it arrived.
    pub now: Time,
    /// Bytes now known to have arrived that were not before.
    pub delivered: u64,
    /// Bytes delivered in all.
    pub total_delivered: u64,
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
    /// The rate sample, if it delivered anything.
    pub rate: Option<RateSample>,
    /// Whether losses are being repaired once this acknowledgement is taken into account.
    pub in_recovery: bool,
}

/// What an algorithm needs of the sender besides acknowledgements.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
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
    /// That it is told of every delivery, with rate samples ([`CongestionControl::on_delivery`]).
    pub deliveries: bool,
    /// That nobody else changes the window, but for a timeout: in recovery it is the algorithm's too.
    pub governs: bool,
    /// Random numbers ([`CongestionControl::take_random`]).
    pub random: bool,
}

/// A congestion controlled sender's window rule.
pub trait CongestionControl {
    /// Grows the window in congestion avoidance.
    fn increase(&mut self, window: &mut Window, ack: &Ack);

    /// The slow start threshold after congestion, in bytes, at least two segments. `flight_size` is the data sent but not yet acknowledged
    /// (RFC 5681 section 2).
    fn reduce(&mut self, window: &Window, flight_size: u64, now: Time) -> u64;

    /// The same after congestion that was marked and not lost, once for a window of data (RFC 3168 section 6.1.2).
    /// `gently` asks for the smaller reduction of RFC 8511, where the algorithm has one.
    fn reduce_on_marks(&mut self, window: &Window, flight_size: u64, now: Time, _gently: bool) -> u64 {
        self.reduce(window, flight_size, now)
    }

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

    /// Sees every acknowledgement, in any phase, once it has begun or ended a recovery and before anything new is sent;
    /// only for algorithms that ask. Those that govern set the window here.
    fn on_delivery(&mut self, _window: &mut Window, _delivery: &Delivery) {}

    /// A segment was found lost, by acknowledgements or by time: before the acknowledgement itself is told, and before
    /// anything new is sent. Only for algorithms that ask for deliveries.
    fn on_lost(&mut self, _window: &mut Window, _loss: &Loss) {}

    /// The recovery was needless: all that was sent again had arrived. Those that govern take back what they did.
    fn on_undone(&mut self, _window: &mut Window) {}

    /// Segments are about to leave again after none was under way for want of data; only for algorithms that ask for
    /// deliveries.
    fn on_restart(&mut self, _window: &mut Window, _now: Time) {}

    /// The rate at which segments are to leave, in bits of payload a second; `None` leaves pacing to the stack. Only for
    /// algorithms that ask.
    fn pacing_rate(&self, _window: &Window, _srtt: Duration) -> Option<Rate> {
        None
    }

    /// Bytes of payload that leave together where segments are paced; at least one segment does.
    fn pacing_quantum(&self, _mss: u64) -> u64 {
        0
    }

    /// Gives it a random stream of its own, before all else; only for algorithms that ask.
    fn take_random(&mut self, _random: Random) {}

    /// What it needs of the sender.
    fn needs(&self) -> Needs {
        Needs::default()
    }
}

/// The dispatch is an enum: one jump on the path of every acknowledgement, and no virtual call. Every flow holds as much as
/// the largest variant, so an algorithm of more than some ninety bytes is kept `in` a box.
macro_rules! algorithms {
    ($($module:ident::$name:ident($parameters:ident) $(in $container:ty)?),* $(,)?) => {
        $(pub use $module::$name;)*

        /// Any of the algorithms.
        #[derive(Clone, Debug)]
        pub enum Algorithm {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name(algorithms!(@held $name $($container)?)),)*
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

            /// All algorithms, in the order of the catalogue.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
                vec![$((&$name::ABOUT, $module::$parameters::describe())),*]
            }
        }

        impl CongestionControl for Algorithm {
            fn increase(&mut self, window: &mut Window, ack: &Ack) {
                match self { $(Algorithm::$name(algorithm) => algorithm.increase(window, ack),)* }
            }
            fn reduce(&mut self, window: &Window, flight_size: u64, now: Time) -> u64 {
                match self { $(Algorithm::$name(algorithm) => algorithm.reduce(window, flight_size, now),)* }
            }
            fn reduce_on_marks(&mut self, window: &Window, flight_size: u64, now: Time, gently: bool) -> u64 {
                match self { $(Algorithm::$name(algorithm) => algorithm.reduce_on_marks(window, flight_size, now, gently),)* }
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
            fn on_delivery(&mut self, window: &mut Window, delivery: &Delivery) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_delivery(window, delivery),)* }
            }
            fn on_lost(&mut self, window: &mut Window, loss: &Loss) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_lost(window, loss),)* }
            }
            fn on_undone(&mut self, window: &mut Window) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_undone(window),)* }
            }
            fn on_restart(&mut self, window: &mut Window, now: Time) {
                match self { $(Algorithm::$name(algorithm) => algorithm.on_restart(window, now),)* }
            }
            fn pacing_rate(&self, window: &Window, srtt: Duration) -> Option<Rate> {
                match self { $(Algorithm::$name(algorithm) => algorithm.pacing_rate(window, srtt),)* }
            }
            fn pacing_quantum(&self, mss: u64) -> u64 {
                match self { $(Algorithm::$name(algorithm) => algorithm.pacing_quantum(mss),)* }
            }
            fn take_random(&mut self, random: Random) {
                match self { $(Algorithm::$name(algorithm) => algorithm.take_random(random),)* }
            }
            fn needs(&self) -> Needs {
                match self { $(Algorithm::$name(algorithm) => algorithm.needs(),)* }
            }
        }
    };
    (@held $name:ident) => { $name };
    (@held $name:ident $container:ty) => { $container };
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
    htcp::HTcp(HTcpParameters) in Box<HTcp>,
    westwood::Westwood(WestwoodParameters),
    real::Real(RealParameters) in Box<Real>,
    bic::Bic(BicParameters),
    veno::Veno(VenoParameters),
    illinois::Illinois(IllinoisParameters) in Box<Illinois>,
    hybla::Hybla(HyblaParameters),
    scalable::Scalable(ScalableParameters),
    vegas::Vegas(VegasParameters),
    yeah::Yeah(YeahParameters) in Box<Yeah>,
    ledbat::Ledbat(LedbatParameters),
    lp::Lp(LpParameters),
    bbr::Bbr(BbrParameters),
    bbr3::Bbr3(Bbr3Parameters),
    dctcp::Dctcp(DctcpParameters),
    prague::Prague(PragueParameters),
    vcp::Vcp(VcpParameters),
}
