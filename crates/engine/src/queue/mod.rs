//! Queue disciplines, one file each.
//!
//! A discipline decides what is queued, dropped or marked. Counting is not its business: it hands what it does to its [`Context`],
//! and the probe around the queue keeps the same statistics for all. To add one: write its file, name it in a `mod` line
//! and in [`disciplines!`] below.

/// The lengths of a discipline that are those of one of its fields, and whether it is at rest when that is empty.
macro_rules! lengths_of {
    ($field:ident) => {
        fn packets(&self) -> u64 {
            self.$field.packets()
        }

        fn bytes(&self) -> u64 {
            self.$field.bytes()
        }
    };
    ($field:ident, at_rest_when_empty) => {
        lengths_of!($field);

        fn is_at_rest(&self) -> bool {
            self.$field.packets() == 0
        }
    };
}

/// What a discipline does that decides on arrivals alone: one of its fields is a FIFO whose head leaves as it is. An arrival passes it
/// when it is empty, if the discipline decides by nothing but its length.
macro_rules! fifo {
    ($field:ident) => {
        fn dequeue(&mut self, _context: &mut Context) -> Option<$crate::queue::Queued> {
            self.$field.pop()
        }

        lengths_of!($field, at_rest_when_empty);
    };
    ($field:ident, passed_when_empty) => {
        fifo!($field);

        fn lets_pass(&self, packet: &Packet) -> bool {
            self.$field.packets() == 0 && self.$field.has_room_for(packet)
        }
    };
}

/// What a discipline does whose packets wait in a [`parts::RedQueue`], one of its fields.
macro_rules! red_queue {
    ($field:ident) => {
        fn dequeue(&mut self, context: &mut Context) -> Option<$crate::queue::Queued> {
            self.$field.dequeue(context.now)
        }

        lengths_of!($field);
    };
    ($field:ident, at_its_link_rate) => {
        red_queue!($field);

        fn set_link_rate(&mut self, rate: Rate) {
            self.$field.set_link_rate(rate);
        }
    };
}

mod ack_filter;
mod afpft;
mod apd;
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
mod codel_hungriest;
mod discipline;
mod drophead;
mod droptail;
mod drr;
mod dualpi2;
mod flow_table;
mod fq_codel;
mod fq_pie;
mod fred;
mod growth_drop;
mod limit;
mod parts;
mod pi;
mod pie;
mod plugin;
mod red;
mod red_dynamic;
mod rem;
mod sfb;
mod sfq;
mod sred;
mod step;
mod tbf;
mod vcp;
mod wred;

use std::sync::Arc;

use serde::Deserialize;
use serde_json::Value;

use crate::about::{About, Listed};
use crate::inner::Tell;
use crate::packet::Packet;
use crate::parameter::{Description, check_limits};
use crate::time::{Duration, Time};
use crate::units::Rate;

pub use cake::{Isolation, Tins};
pub use discipline::{Context, DropCause, Dropped, Outcome, QueueDiscipline, Queued};
pub use dualpi2::DualQueueScheduler;
pub use flow_table::FlowTable;
pub use limit::Limit;
pub use parts::{
    AckFilter, BoundedFifo, CoDelRules, ConnectionKind, Fifo, FlowHash, GuessParameters, GuessedHungriest,
    NamedHungriest, QueueRules, RedSettings, Rotation,
};
pub use pie::{DelayEstimator, PieScaling};
pub use plugin::{PluginDiscipline, PluginQueue, Seen, Verdict, View};

/// The dispatch is an enum: no virtual call for a packet.
macro_rules! disciplines {
    ($($module:ident::$name:ident($parameters:ident)),* $(,)?) => {
        $(pub use $module::{$name, $parameters};)*

        #[derive(Debug)]
        pub enum Discipline {
            $(#[doc = concat!("See [`", stringify!($name), "`].")] $name($name),)*
            /// One from outside the engine.
            Plugin(PluginDiscipline),
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

            /// What the discipline of this name draws random numbers for: [`QueueDiscipline::RANDOM`].
            pub fn random(name: &str) -> Option<&'static str> {
                $(if name == $name::ABOUT.name {
                    return $name::RANDOM;
                })*
                None
            }

            /// The rules under which it does: [`QueueDiscipline::RANDOM_RULES`].
            pub fn random_rules(name: &str) -> Option<&'static str> {
                $(if name == $name::ABOUT.name {
                    return $name::RANDOM_RULES;
                })*
                None
            }

            /// What the discipline of this name says of packets that it has queued: [`QueueDiscipline::DECIDES_ON_ARRIVAL`].
            pub fn decides_on_arrival(name: &str) -> bool {
                [$(($name::ABOUT.name, $name::DECIDES_ON_ARRIVAL)),*].contains(&(name, true))
            }

            /// All disciplines, in the order of the catalogue.
            pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
                vec![$((&$name::ABOUT, $parameters::describe())),*]
            }
        }

        impl QueueDiscipline for Discipline {
            // DropTail, which every host has, in place: to call it takes longer than what it does.
            #[inline(always)]
            fn enqueue(&mut self, packet: Packet, context: &mut Context) {
                if let Discipline::DropTail(queue) = self {
                    return queue.enqueue(packet, context);
                }
                dispatch!(self, Discipline [$($name)* Plugin], queue => enqueue_apart(queue, packet, context))
            }

            #[inline(always)]
            fn dequeue(&mut self, context: &mut Context) -> Option<Queued> {
                if let Discipline::DropTail(queue) = self {
                    return queue.dequeue(context);
                }
                dispatch!(self, Discipline [$($name)* Plugin], queue => dequeue_apart(queue, context))
            }

            #[inline(always)]
            fn is_at_rest(&self) -> bool {
                if let Discipline::DropTail(queue) = self {
                    return queue.is_at_rest();
                }
                dispatch!(self, Discipline [$($name)* Plugin], queue => queue.is_at_rest())
            }

            dispatch! { Discipline [$($name)* Plugin]
                fn packets(&self) -> u64;
                fn bytes(&self) -> u64;
                fn lets_pass(&self, packet: &Packet) -> bool;
                fn set_link_rate(&mut self, rate: Rate);
                fn set_flows(&mut self, flows: &Arc<FlowTable>) -> Result<(), String>;
                fn holds_back(&self) -> bool;
                fn release_time(&self) -> Option<Time>;
                fn timer_interval(&self) -> Option<Duration>;
                fn on_timer(&mut self, now: Time);
                fn tell_state(&self, now: Time, tell: &mut Tell<'_>);
            }
        }
    };
}

// Apart, so that a call of one discipline saves no registers that only others need.
#[inline(never)]
fn enqueue_apart(queue: &mut impl QueueDiscipline, packet: Packet, context: &mut Context) {
    queue.enqueue(packet, context);
}

#[inline(never)]
fn dequeue_apart(queue: &mut impl QueueDiscipline, context: &mut Context) -> Option<Queued> {
    queue.dequeue(context)
}

disciplines! {
    droptail::DropTail(DropTailParameters),
    drophead::DropHead(DropHeadParameters),
    ack_filter::FilteringFifo(FilteringFifoParameters),
    tbf::Tbf(TbfParameters),
    step::Step(StepParameters),
    vcp::VcpRouter(VcpRouterParameters),
    red::Red(RedParameters),
    ared::Ared(AredParameters),
    wred::Wred(WredParameters),
    sred::Sred(SredParameters),
    fred::Fred(FredParameters),
    red_dynamic::RedDynamic(RedDynamicParameters),
    apd::ApdStatic(ApdStaticParameters),
    apd::ApdDynamic(ApdDynamicParameters),
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
    codel_hungriest::CoDelStatic(CoDelStaticParameters),
    codel_hungriest::CoDelDynamic(CoDelDynamicParameters),
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
