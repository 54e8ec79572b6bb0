//! Queue disciplines, one file each.
//!
//! A discipline decides what is queued, dropped or marked. Counting is not its business: it hands what it does to its [`Context`],
//! and the probe around the queue keeps the same statistics for all. To add one: write its file, name it in a `mod` line
//! and in [`disciplines!`] below.

/// The lengths of a discipline that are those of one of its fields.
macro_rules! lengths_of {
    ($field:ident) => {
        fn packets(&self) -> u64 {
            self.$field.packets()
        }

        fn bytes(&self) -> u64 {
            self.$field.bytes()
        }
    };
}

mod afpft;
mod apd_dynamic;
mod apd_static;
mod ared;
mod avq;
mod blue;
mod cake;
mod choke;
mod choke_codel;
mod choke_pie;
mod cobalt;
mod codel;
mod codel_adaptive;
mod codel_dynamic;
mod codel_static;
mod drophead;
mod droptail;
mod drr;
mod dualpi2;
mod fq_codel;
mod fq_pie;
mod fred;
mod growth_drop;
mod parts;
mod pi;
mod pie;
mod red;
mod red_dynamic;
mod rem;
mod sfb;
mod sfq;
mod sred;
mod tbf;
mod vcp;
mod wred;

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::about::About;
use crate::packet::Packet;
use crate::parameter::{Description, Kind, ParameterType, check_limits};
use crate::random::Random;
use crate::time::{Duration, Time};
use crate::units::{Bytes, Rate};

pub use cake::Isolation;
pub use dualpi2::DualQueueScheduler;
pub use parts::{
    BoundedFifo, ConnectionKind, Fifo, FlowHash, FlowTable, GuessParameters, GuessedHungriest, NamedHungriest, Queued,
    Rotation,
};
pub use pie::{DelayEstimator, PieScaling};

/// How much a queue holds; the packet being transmitted has left it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Limit {
    /// So many packets.
    Packets(u64),
    /// So many bytes.
    Bytes(u64),
}

impl Limit {
    /// Whether so much is more than it.
    pub fn would_be_exceeded(self, packets: u64, bytes: u64) -> bool {
        match self {
            Limit::Packets(limit) => packets > limit,
            Limit::Bytes(limit) => bytes > limit,
        }
    }

    /// The same in bytes, packets being of this size.
    pub fn in_bytes(self, packet_size: Bytes) -> u64 {
        match self {
            Limit::Packets(packets) => packets.saturating_mul(packet_size.0),
            Limit::Bytes(bytes) => bytes,
        }
    }

    /// The same in packets of this size.
    pub fn in_packets(self, packet_size: Bytes) -> f64 {
        match self {
            Limit::Packets(packets) => packets as f64,
            Limit::Bytes(bytes) => bytes as f64 / packet_size.0 as f64,
        }
    }
}

impl ParameterType for Limit {
    const KIND: Kind = Kind::QueueLength;
}

/// Why a packet was dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum DropCause {
    /// The queue was at its limit.
    Overflow,
    /// The discipline chose to.
    Early,
}

/// What a discipline does its work with.
pub struct Context<'a> {
    /// The time.
    pub now: Time,
    /// The queue's own random stream.
    pub random: &'a mut Random,
    /// What it did; emptied by the link after each call.
    pub outcome: &'a mut Outcome,
}

impl Context<'_> {
    /// Drops a packet. `queued_since` tells when it was queued, unless it never was.
    pub fn drop(&mut self, packet: Packet, cause: DropCause, queued_since: Option<Time>) {
        self.outcome.dropped.push(Dropped { packet, cause, queued_since });
    }

    /// Marks a packet if its transport answers marks; whether it does.
    pub fn mark(&mut self, packet: &mut Packet) -> bool {
        let capable = packet.is_ecn_capable();
        if capable {
            packet.mark();
            self.count_mark();
        }
        capable
    }

    /// Marks a packet if it may be marked and its transport answers marks, else drops it; whether it stays. `queued_since`
    /// is as in [`Context::drop`].
    pub fn mark_or_drop(&mut self, packet: &mut Packet, may_mark: bool, queued_since: Option<Time>) -> bool {
        let stays = may_mark && self.mark(packet);
        if !stays {
            self.drop(*packet, DropCause::Early, queued_since);
        }
        stays
    }

    /// Counts a mark.
    pub fn count_mark(&mut self) {
        self.outcome.marks += 1;
    }
}

/// A packet that was dropped.
#[derive(Clone, Copy, Debug)]
pub struct Dropped {
    /// Which.
    pub packet: Packet,
    /// Why.
    pub cause: DropCause,
    /// Since when it had been queued; `None` if it was dropped on arrival.
    pub queued_since: Option<Time>,
}

/// What a call to a discipline did besides.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Packets dropped.
    pub dropped: Vec<Dropped>,
    /// Packets marked.
    pub marks: u64,
}

impl Outcome {
    /// Whether nothing was dropped or marked.
    pub fn is_empty(&self) -> bool {
        self.dropped.is_empty() && self.marks == 0
    }
}

/// A queue at the egress of a link.
pub trait QueueDiscipline {
    /// A packet arrives: queue it, drop it or drop another.
    fn enqueue(&mut self, packet: Packet, context: &mut Context);

    /// The link is free: the packet to send, and since when it was queued.
    fn dequeue(&mut self, context: &mut Context) -> Option<Queued>;

    /// Packets queued.
    fn packets(&self) -> u64;

    /// Bytes queued.
    fn bytes(&self) -> u64;

    /// Whether this packet, coming while the device has room, may pass the queue by, because to queue it and take it out at
    /// once would change nothing.
    fn lets_pass(&self, _packet: &Packet) -> bool {
        false
    }

    /// Whether to ask for a packet would change nothing.
    fn is_at_rest(&self) -> bool {
        false
    }

    /// Tells the rate of the link that it feeds: before all else, and when it changes.
    fn set_link_rate(&mut self, _rate: Rate) {}

    /// Tells whose packets may come, before all else.
    ///
    /// # Errors
    /// One line if the discipline was told of flows that are not there.
    fn set_flows(&mut self, _flows: &Arc<FlowTable>) -> Result<(), String> {
        Ok(())
    }

    /// When to ask again, if the discipline holds packets and gives none before then: a shaper's next tokens.
    fn release_time(&self) -> Option<Time> {
        None
    }

    /// How often the discipline wants [`QueueDiscipline::on_timer`], from the start of the run on.
    fn timer_interval(&self) -> Option<Duration> {
        None
    }

    /// The timer fired.
    fn on_timer(&mut self, _now: Time) {}
}

/// The dispatch is an enum: no virtual call for a packet.
macro_rules! disciplines {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        /// Any of the disciplines.
        #[derive(Debug)]
        pub enum Discipline {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
        }

        impl Discipline {
            /// Builds the discipline of this name with the limit and parameters set for it; no limit queues everything.
            ///
            /// # Errors
            /// One line for an unknown name, an unknown parameter or a value out of range.
            pub fn new(name: &str, limit: Option<Limit>, parameters: &Value) -> Result<Discipline, String> {
                if matches!(limit, Some(Limit::Packets(0) | Limit::Bytes(0))) {
                    return Err("limit: must be at least one packet or one byte".to_owned());
                }
                let limit = limit.unwrap_or(Limit::Packets(u64::MAX));
                $(if name == $name::ABOUT.name {
                    check_limits(parameters, &$parameters::describe())?;
                    let parameters = $parameters::deserialize(parameters).map_err(|error| error.to_string())?;
                    return Ok(Discipline::$name($name::new(limit, parameters)));
                })*
                Err(format!("unknown queue discipline {name:?}; known: {}", [$($name::ABOUT.name),*].join(", ")))
            }

            /// All disciplines, in the order of the catalogue.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
                vec![$((&$name::ABOUT, $parameters::describe())),*]
            }
        }

        impl QueueDiscipline for Discipline {
            fn enqueue(&mut self, packet: Packet, context: &mut Context) {
                match self { $(Discipline::$name(queue) => queue.enqueue(packet, context),)* }
            }
            fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
                match self { $(Discipline::$name(queue) => queue.dequeue(context),)* }
            }
            fn packets(&self) -> u64 {
                match self { $(Discipline::$name(queue) => queue.packets(),)* }
            }
            fn bytes(&self) -> u64 {
                match self { $(Discipline::$name(queue) => queue.bytes(),)* }
            }
            fn lets_pass(&self, packet: &Packet) -> bool {
                match self { $(Discipline::$name(queue) => queue.lets_pass(packet),)* }
            }
            fn is_at_rest(&self) -> bool {
                match self { $(Discipline::$name(queue) => queue.is_at_rest(),)* }
            }
            fn set_link_rate(&mut self, rate: Rate) {
                match self { $(Discipline::$name(queue) => queue.set_link_rate(rate),)* }
            }
            fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String> {
                match self { $(Discipline::$name(queue) => queue.set_flows(flows),)* }
            }
            fn release_time(&self) -> Option<Time> {
                match self { $(Discipline::$name(queue) => queue.release_time(),)* }
            }
            fn timer_interval(&self) -> Option<Duration> {
                match self { $(Discipline::$name(queue) => queue.timer_interval(),)* }
            }
            fn on_timer(&mut self, now: Time) {
                match self { $(Discipline::$name(queue) => queue.on_timer(now),)* }
            }
        }
    };
}

disciplines! {
    droptail::DropTail(DropTailParameters),
    drophead::DropHead(DropHeadParameters),
    tbf::Tbf(TbfParameters),
    vcp::VcpRouter(VcpRouterParameters),
    red::Red(RedParameters),
    ared::Ared(AredParameters),
    wred::Wred(WredParameters),
    sred::Sred(SredParameters),
    fred::Fred(FredParameters),
    red_dynamic::RedDynamic(RedDynamicParameters),
    apd_static::ApdStatic(ApdStaticParameters),
    apd_dynamic::ApdDynamic(ApdDynamicParameters),
    growth_drop::GrowthDrop(GrowthDropParameters),
    choke::Choke(ChokeParameters),
    blue::Blue(BlueParameters),
    sfb::Sfb(SfbParameters),
    pi::Pi(PiParameters),
    rem::Rem(RemParameters),
    avq::Avq(AvqParameters),
    pie::Pie(PieParameters),
    choke_pie::ChokePie(ChokePieParameters),
    dualpi2::DualPi2(DualPi2Parameters),
    codel::CoDel(CoDelParameters),
    codel_static::CoDelStatic(CoDelStaticParameters),
    codel_dynamic::CoDelDynamic(CoDelDynamicParameters),
    codel_adaptive::CoDelAdaptive(CoDelAdaptiveParameters),
    choke_codel::ChokeCoDel(ChokeCoDelParameters),
    cobalt::Cobalt(CobaltParameters),
    drr::Drr(DrrParameters),
    sfq::Sfq(SfqParameters),
    afpft::Afpft(AfpftParameters),
    fq_codel::FqCoDel(FqCoDelParameters),
    fq_pie::FqPie(FqPieParameters),
    cake::Cake(CakeParameters),
}
