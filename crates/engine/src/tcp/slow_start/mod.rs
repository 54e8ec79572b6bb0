//! Slow start: the growth of the window until the first congestion event, and its early end.

mod hystart;
mod hystartpp;

use std::sync::Arc;

use serde::{Deserialize, Deserializer, de};
use serde_json::{Map, Value};

pub use hystart::{HyStart, HyStartParameters};
pub use hystartpp::{HyStartPlusPlus, HyStartPlusPlusParameters};

use crate::about::{About, Listed};
use crate::parameter::{Description, check_limits};
use crate::tcp::congestion::{Ack, CongestionControl};
use crate::tcp::window::Window;

choice! {
    /// The slow start of a sender. Each can be combined with any congestion control.
    pub enum SlowStartKind {
        /// RFC 5681 section 3.1.
        Standard = "standard",
        /// Ha and Rhee 2011.
        HyStart = "hystart",
        /// RFC 9406.
        HyStartPlusPlus = "hystart++",
    }
}

const STANDARD: About = About {
    name: "standard",
    aliases: &[],
    title: "Standard slow start",
    class: "loss",
    year: 2009,
    source: "RFC 5681 section 3.1",
    deviations: "none",
    state: &[],
};

impl SlowStartKind {
    /// All slow start algorithms with their parameters. The first is the default.
    pub fn catalogue() -> Vec<(&'static About, Vec<Description>)> {
        vec![
            (&STANDARD, Vec::new()),
            (&HyStart::ABOUT, HyStartParameters::describe()),
            (&HyStartPlusPlus::ABOUT, HyStartPlusPlusParameters::describe()),
        ]
    }
}

/// A slow start with its parameters, as a specification gives it: its name, or an object of `name` and `parameters`.
#[derive(Clone, Debug)]
pub struct SlowStartChoice {
    kind: SlowStartKind,
    hystart: Arc<HyStartParameters>,
    hystartpp: Arc<HyStartPlusPlusParameters>,
}

impl From<SlowStartKind> for SlowStartChoice {
    fn from(kind: SlowStartKind) -> SlowStartChoice {
        SlowStartChoice { kind, hystart: Arc::default(), hystartpp: Arc::default() }
    }
}

impl<'de> Deserialize<'de> for SlowStartChoice {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<SlowStartChoice, D::Error> {
        #[derive(Deserialize)]
        #[serde(deny_unknown_fields)]
        struct Named {
            name: SlowStartKind,
            #[serde(default)]
            parameters: Map<String, Value>,
        }
        let value = Value::deserialize(deserializer)?;
        if value.is_string() {
            return SlowStartKind::deserialize(value).map(SlowStartChoice::from).map_err(de::Error::custom);
        }
        let Named { name, parameters } = Named::deserialize(value).map_err(de::Error::custom)?;
        let choice = SlowStartChoice::from(name);
        match name {
            SlowStartKind::Standard => match parameters.keys().next() {
                Some(parameter) => Err(de::Error::custom(format!("unknown parameter {parameter:?}"))),
                None => Ok(choice),
            },
            SlowStartKind::HyStart => {
                Ok(SlowStartChoice { hystart: checked(parameters, &HyStartParameters::describe())?, ..choice })
            }
            SlowStartKind::HyStartPlusPlus => Ok(SlowStartChoice {
                hystartpp: checked(parameters, &HyStartPlusPlusParameters::describe())?,
                ..choice
            }),
        }
    }
}

/// Parameters within their limits.
fn checked<P: de::DeserializeOwned, E: de::Error>(
    given: Map<String, Value>,
    known: &[Description],
) -> Result<Arc<P>, E> {
    let given = Value::Object(given);
    check_limits(&given, known).map_err(E::custom)?;
    P::deserialize(given).map(Arc::new).map_err(E::custom)
}

/// The slow start state of a sender.
#[derive(Clone, Debug)]
pub enum SlowStart {
    /// Grows until a loss.
    Standard,
    /// Ends when acknowledgement trains or delays indicate that the pipe is full.
    HyStart(Box<HyStart>),
    /// Grows more slowly when delays indicate that the pipe is full, and ends if they still do some rounds later.
    HyStartPlusPlus(Box<HyStartPlusPlus>),
}

impl SlowStart {
    /// One that has not begun.
    pub fn new(choice: impl Into<SlowStartChoice>) -> SlowStart {
        let SlowStartChoice { kind, hystart, hystartpp } = choice.into();
        match kind {
            SlowStartKind::Standard => SlowStart::Standard,
            SlowStartKind::HyStart => SlowStart::HyStart(Box::new(HyStart::new(hystart))),
            SlowStartKind::HyStartPlusPlus => SlowStart::HyStartPlusPlus(Box::new(HyStartPlusPlus::new(hystartpp))),
        }
    }

    /// Increases the window by the credited bytes, up to ssthresh, and ends slow start if it should end. Returns the
    /// credit left for congestion avoidance.
    pub fn increase(&mut self, window: &mut Window, ack: &Ack) -> u64 {
        if let SlowStart::HyStart(hystart) = self
            && hystart.pipe_is_full(window, ack)
        {
            window.ssthresh = window.cwnd;
        }
        let is_first = window.ssthresh == u64::MAX;
        let credit = match self {
            SlowStart::HyStartPlusPlus(hystart) if is_first => hystart.growth(window, ack),
            _ => ack.credit,
        };
        let growth = credit.min(window.ssthresh - window.cwnd);
        window.cwnd += growth;
        if let SlowStart::HyStartPlusPlus(hystart) = self
            && is_first
            && hystart.has_ended(ack)
        {
            window.ssthresh = window.cwnd;
        }
        credit - growth
    }

    /// Grows the window by an acknowledgement that may: below ssthresh by the algorithm's own slow start or else by this one, and
    /// by the algorithm's congestion avoidance with the credit that is left.
    #[inline(always)]
    pub fn grow(&mut self, algorithm: &mut impl CongestionControl, window: &mut Window, ack: &mut Ack) {
        if window.in_slow_start() {
            ack.credit = algorithm.increase_in_slow_start(window, ack).unwrap_or_else(|| self.increase(window, ack));
        }
        if ack.credit > 0 && !window.in_slow_start() {
            algorithm.increase(window, ack);
        }
    }

    /// Restarts slow start after a timeout.
    pub fn restart(&mut self) {
        if let SlowStart::HyStart(hystart) = self {
            hystart.restart();
        }
    }
}
