//! The hooks of algorithms from outside of the engine, and what they are shown: the table that all languages take them from.
//!
//! A hook is a method of [`CongestionControl`](super::CongestionControl) that a plugin may define. Who carries plugins out (Python, C, a
//! page) knows hooks by this table only, and no hook by its name.

use serde_json::{Value, json};

use super::{Ack, CongestionEvent, Delivery, LostSegment, RateSample};
use crate::packet::LoadFactor;
use crate::time::{Duration, Time};

/// What a hook is told besides the window.
#[derive(Clone, Copy, Debug)]
pub enum Told<'a> {
    /// An acknowledgement of new data.
    Ack(&'a Ack),
    /// A congestion event and its time.
    Event(CongestionEvent, Time),
    /// Any acknowledgement.
    Delivery(&'a Delivery),
    /// A segment that was found lost.
    Lost(&'a LostSegment),
    /// Durations, and then the time if there is one.
    Times(&'a [Duration], Option<Time>),
    /// A number of bytes, without the window.
    Bytes(u64),
}

impl Told<'_> {
    /// The time, if it is told.
    pub fn now(&self) -> Option<Time> {
        match *self {
            Told::Ack(ack) => Some(ack.now),
            Told::Event(_, now) => Some(now),
            Told::Delivery(delivery) => Some(delivery.now),
            Told::Lost(lost) => Some(lost.now),
            Told::Times(_, now) => now,
            Told::Bytes(_) => None,
        }
    }
}

/// What a hook returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Returns {
    /// Nothing.
    Nothing,
    /// Bytes of credit, or none.
    Credit,
    /// Bits per second, or none.
    Rate,
    /// Bytes.
    Bytes,
}

impl Returns {
    /// What it is called where something else was returned.
    pub fn wanted(self) -> &'static str {
        match self {
            Returns::Nothing => "nothing",
            Returns::Credit => "a number of bytes or None",
            Returns::Rate => "a rate in bits per second or None",
            Returns::Bytes => "a number of bytes",
        }
    }
}

/// The rate that a hook returned, in bits per second.
///
/// # Errors
/// It is none.
pub fn rate_of(returned: f64) -> Result<u64, String> {
    if (1.0..1e18).contains(&returned) {
        Ok(returned as u64)
    } else {
        Err(format!("returned {returned} bits per second"))
    }
}

macro_rules! hooks {
    ($($(#[doc = $called:literal])+ $hook:ident = $name:ident($($told:ident),*) $(-> $returns:ident)? $(needs $needs:ident)?;)*) => {
        /// A hook. Their order is that of the C interface: a new one is the last.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Hook {
            $($(#[doc = $called])+ $hook,)*
        }

        impl Hook {
            /// All of them, in order.
            pub const ALL: &[Hook] = &[$(Hook::$hook),*];

            /// What users call it.
            pub fn name(self) -> &'static str {
                match self { $(Hook::$hook => stringify!($name),)* }
            }

            /// When it is called, in a sentence for users.
            pub fn called(self) -> &'static str {
                match self { $(Hook::$hook => concat!($($called),+).trim_ascii(),)* }
            }

            /// What it is told, by name.
            pub fn told(self) -> &'static [&'static str] {
                match self { $(Hook::$hook => &[$(stringify!($told)),*],)* }
            }

            /// What it returns.
            pub fn returns(self) -> Returns {
                match self { $($(Hook::$hook => Returns::$returns,)?)* _ => Returns::Nothing }
            }

            /// The need of [`Needs`](super::Needs) without which it is not called, and which it stands for.
            pub fn needs(self) -> Option<&'static str> {
                match self { $($(Hook::$hook => Some(stringify!($needs)),)?)* _ => None }
            }
        }
    };
}

hooks! {
    /// on an acknowledgement that may grow the window in congestion avoidance
    Increase = increase(window, ack);
    /// on `event.kind` `"loss"` and `"ecn"` (set ssthresh), `"timeout"`, `"spurious"`
    OnCongestion = on_congestion(window, event);
    /// on each acknowledgement of new data outside fast recovery, before the window grows; cannot change it
    OnAck = on_ack(window, ack);
    /// below ssthresh; returns the credit that is left, or None to leave slow start to the flow's
    IncreaseInSlowStart = increase_in_slow_start(window, ack) -> Credit;
    /// on each acknowledgement in any phase, with a rate sample (`delivery.rate`)
    OnDelivery = on_delivery(window, delivery) needs deliveries;
    /// for each segment that is found lost
    OnSegmentLost = on_segment_lost(window, lost) needs deliveries;
    /// when data follows idle time
    OnRestart = on_restart(window, now) needs deliveries;
    /// when a segment is to be paced; returns bits per second, or None; cannot change the window
    PacingRate = pacing_rate(window, srtt) -> Rate needs pacing;
    /// likewise; returns bytes that leave together
    PacingQuantum = pacing_quantum(mss) -> Bytes;
    /// when an application that writes over time has data again, and none was sent for `idle`
    OnIdle = on_idle(window, idle, now);
    /// once the handshake has given a smoothed round-trip time, or zero if it gave none; may set the first window
    OnEstablished = on_established(window, srtt, now);
}

impl Hook {
    /// Whether it may change the window.
    pub fn changes_window(self) -> bool {
        !matches!(self, Hook::OnAck | Hook::PacingRate | Hook::PacingQuantum)
    }

    /// Those of these names.
    pub fn set<'a>(names: impl IntoIterator<Item = &'a str>) -> u32 {
        names.into_iter().fold(0, |set, name| {
            Hook::ALL.iter().filter(|hook| hook.name() == name).fold(set, |set, hook| set | hook.bit())
        })
    }

    /// Its place in a set of hooks.
    pub fn bit(self) -> u32 {
        1 << self as u32
    }
}

/// A value that hooks are shown.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Shown {
    /// Picoseconds.
    Time(Option<u64>),
    /// Bytes, or another number.
    Number(u64),
    /// Yes or no.
    Flag(bool),
    /// How loaded the path is.
    Load(Option<LoadFactor>),
}

impl Shown {
    fn kind(self) -> &'static str {
        match self {
            Shown::Time(_) => "time",
            Shown::Number(_) => "number",
            Shown::Flag(_) => "flag",
            Shown::Load(_) => "load",
        }
    }
}

macro_rules! shown_from {
    ($($type:ty, $value:ident => $shown:expr;)*) => {
        $(impl From<$type> for Shown {
            fn from($value: $type) -> Shown {
                $shown
            }
        })*
    };
}

shown_from! {
    u64, number => Shown::Number(number);
    bool, flag => Shown::Flag(flag);
    Time, time => Shown::Time(Some(time.0));
    Duration, time => Shown::Time(Some(time.0));
    Option<Time>, time => Shown::Time(time.map(|time| time.0));
    Option<Duration>, time => Shown::Time(time.map(|time| time.0));
    Option<LoadFactor>, load => Shown::Load(load);
}

/// Calls a macro with the fields that hooks are shown, of each structure: `Ack { now acked }` and so on.
#[macro_export]
macro_rules! shown {
    ($with:ident) => {
        $with! {
            Ack { now acked credit rtt srtt una nxt in_flight one_way_delay arrived marked load_factor }
            Delivery {
                now delivered total_delivered lost marked rtt srtt prior_in_flight in_flight in_recovery acked nxt
            }
            LostSegment { now segment in_flight_when_sent lost app_limited total_delivered }
            RateSample { delivered interval prior_delivered app_limited in_flight_when_sent lost rtt }
        }
    };
}

macro_rules! structures {
    ($($structure:ident { $($field:ident)* })*) => {
        json!({$(stringify!($structure): [$([stringify!($field), Shown::from($structure::default().$field).kind()]),*]),*})
    };
}

/// The hooks and what they are shown, for the catalogue.
pub fn catalogue() -> Value {
    let hooks: Vec<Value> = Hook::ALL
        .iter()
        .map(|hook| {
            json!({
                "name": hook.name(),
                "told": hook.told(),
                "called": hook.called(),
                "returns": hook.returns() != Returns::Nothing,
                "changes_window": hook.changes_window(),
                "needs": hook.needs(),
            })
        })
        .collect();
    json!({"hooks": hooks, "shown": shown!(structures)})
}
