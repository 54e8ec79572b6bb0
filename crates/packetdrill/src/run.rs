//! Carries out a script: events in order, against one end of a connection in virtual time.

mod calls;

use sojourn_engine::time::{Duration, Time};

use crate::code::{Failure, Variables};
use crate::endpoint::{Endpoint, Sent, State, ace};
use crate::host::{Host, Missing};
use crate::script::{Action, Ecn, Event, Microseconds, Script, Segment, TcpOption, When};

use calls::Sockets;

/// What came of a script.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    Passed,
    Failed(Difference),
    /// It needs a feature that an endpoint does not have.
    NotForUs(String),
}

/// The first difference between a script and what was seen.
#[derive(Clone, Debug, PartialEq)]
pub struct Difference {
    /// Line of the script.
    pub line: usize,
    /// When, in seconds after the beginning.
    pub at: f64,
    pub expected: String,
    pub seen: String,
}

/// Why a script goes no further.
enum Stop {
    Missing(String),
    Difference { expected: String, seen: String },
}

impl From<Missing> for Stop {
    fn from(Missing(feature): Missing) -> Stop {
        Stop::Missing(feature)
    }
}

fn differs<T>(expected: impl Into<String>, seen: impl Into<String>) -> Result<T, Stop> {
    Err(Stop::Difference { expected: expected.into(), seen: seen.into() })
}

/// How long to wait for a packet that does not come: packetdrill's run_packet.c, sniff_outbound_live_packet.
const PATIENCE: Duration = Duration::from_seconds(2);

/// Carries out a script. `trace` is told each packet, in the notation of scripts.
pub fn run(script: &Script, trace: &mut dyn FnMut(String)) -> Verdict {
    let host = match Host::of(script) {
        Ok(host) => host,
        Err(Missing(feature)) => return Verdict::NotForUs(feature),
    };
    let mut machine = Machine {
        sockets: Sockets::new(host, timestamp_base(script)),
        variables: Variables::default(),
        now: Time::ZERO,
        event_time: Time::ZERO,
        waiting: Vec::new(),
        initial: Initial::default(),
        trace,
    };
    for event in &script.events {
        match machine.carry_out(event) {
            Ok(()) => {}
            Err(Stop::Missing(feature)) => return Verdict::NotForUs(feature),
            Err(Stop::Difference { expected, seen }) => {
                let at = machine.now.seconds();
                return Verdict::Failed(Difference { line: event.line, at, expected, seen });
            }
        }
    }
    Verdict::Passed
}

/// The first timestamp that the script expects of the tested end, from which its others count.
fn timestamp_base(script: &Script) -> u32 {
    let segments = script.events.iter().filter_map(|event| match &event.action {
        Action::Expect(segment) => Some(segment),
        _ => None,
    });
    let options = segments.flat_map(|segment| segment.options.iter().flatten());
    options
        .into_iter()
        .find_map(|option| if let TcpOption::Timestamp(value, _) = option { Some(*value) } else { None })
        .unwrap_or(0)
}

/// The initial sequence numbers of a script. SYNs have them, and what else is sent counts from them, as the endpoint's numbers do
/// (packetdrill's socket.h, remote_seq_script_to_live_offset).
#[derive(Default)]
struct Initial {
    /// That of the tested end, once it is known.
    tested: Option<u32>,
    script: u32,
}

impl Initial {
    /// A segment that the script sends to an end in this state, in the endpoint's numbers.
    fn injected(&mut self, segment: &Segment, state: State) -> Segment {
        if !segment.flags.contains('S') {
            return segment.clone();
        }
        let (first, last, length) = segment.sequence;
        if matches!(state, State::Listen | State::SynSent | State::Closed) {
            self.script = first;
        }
        let tested = self.tested.unwrap_or(0);
        Segment {
            sequence: (first.wrapping_sub(self.script), last.wrapping_sub(self.script), length),
            acknowledgement: segment.acknowledgement.map(|number| number.wrapping_sub(tested)),
            ..segment.clone()
        }
    }

    /// A segment of the endpoint, in the script's numbers, as far as they are known.
    fn seen(&self, segment: Segment) -> Segment {
        if !segment.flags.contains('S') {
            return segment;
        }
        let (first, last, length) = segment.sequence;
        let tested = self.tested.unwrap_or(0);
        Segment {
            sequence: (first.wrapping_add(tested), last.wrapping_add(tested), length),
            acknowledgement: segment.acknowledgement.map(|number| number.wrapping_add(self.script)),
            ..segment
        }
    }
}

struct Machine<'a> {
    sockets: Sockets,
    variables: Variables,
    now: Time,
    /// When the latest event was to happen.
    event_time: Time,
    /// Packets that the script has not yet mentioned.
    waiting: Vec<Sent>,
    initial: Initial,
    trace: &'a mut dyn FnMut(String),
}

fn time(microseconds: Microseconds) -> Duration {
    Duration::from_microseconds(microseconds)
}

impl Machine<'_> {
    fn carry_out(&mut self, event: &Event) -> Result<(), Stop> {
        let (from, to) = match event.time {
            When::Relative(after) => (self.event_time + time(after), self.event_time + time(after)),
            When::RelativeRange(from, to) => (self.event_time + time(from), self.event_time + time(to)),
            When::Absolute(after) => (Time::ZERO + time(after), Time::ZERO + time(after)),
            When::AbsoluteRange(from, to) => (Time::ZERO + time(from), Time::ZERO + time(to)),
            When::Any => (self.now, Time::NEVER),
        };
        if let Action::Expect(segment) = &event.action {
            let at = self.expect(segment, from, to)?;
            self.event_time = match event.time {
                When::Any | When::RelativeRange(..) | When::AbsoluteRange(..) => at,
                _ => from,
            };
            return Ok(());
        }
        self.advance(from)?;
        let before = std::mem::replace(&mut self.event_time, from);
        match &event.action {
            Action::Inject(segment) => {
                self.note("<", segment, from);
                if let Some(end) = self.sockets.endpoint() {
                    end.on_segment(&self.initial.injected(segment, end.state), from)?;
                }
                self.collect();
                self.sockets.wake(from)
            }
            Action::Expect(_) => Ok(()),
            Action::Foreign(name) => Err(Stop::Missing(format!("packets of {name}"))),
            Action::Shell(lines) => Ok(self.sockets.configure(lines)?),
            Action::Code(code) => self.check(code),
            Action::Call(call) => {
                let result = self.sockets.call(call, before, from);
                self.collect();
                result
            }
        }
    }

    fn note(&mut self, direction: &str, segment: &Segment, at: Time) {
        let ecn = segment.ecn.filter(|ecn| *ecn != Ecn::None);
        (self.trace)(format!("{:.6} {direction} {}", at.seconds(), Segment { ecn, ..segment.clone() }));
    }

    /// Takes what the end has sent.
    fn collect(&mut self) {
        let Some(end) = self.sockets.endpoint() else { return };
        for sent in end.take_sent() {
            self.note(">", &self.initial.seen(sent.segment.clone()), sent.at);
            self.waiting.push(sent);
        }
    }

    /// Lets time pass, during which timers expire.
    fn advance(&mut self, until: Time) -> Result<(), Stop> {
        while let Some(deadline) = self.sockets.endpoint().map(|end| end.deadline()).filter(|due| *due <= until) {
            self.now = self.now.max(deadline);
            let now = self.now;
            if let Some(end) = self.sockets.endpoint() {
                end.on_timer(now);
            }
            self.collect();
            self.sockets.wake(now)?;
        }
        self.now = self.now.max(until);
        self.sockets.wake(self.now)
    }

    /// Waits for a packet, and compares it. Returns when it was sent.
    fn expect(&mut self, expected: &Segment, from: Time, to: Time) -> Result<Time, Stop> {
        for option in expected.options.iter().flatten() {
            if let TcpOption::Other(text) = option {
                return Err(Stop::Missing(format!("the TCP option {text}")));
            }
        }
        let length = expected.sequence.2;
        while self.payload_waiting() < u64::from(length) || self.waiting.is_empty() {
            let deadline = self.sockets.endpoint().map_or(Time::NEVER, |end: &mut Endpoint| end.deadline());
            if deadline == Time::NEVER || deadline > to.max(from) + PATIENCE {
                break;
            }
            self.advance(deadline)?;
        }
        if self.waiting.is_empty() {
            return differs(expected.to_string(), "nothing");
        }
        let mut taken = self.waiting.remove(0);
        if expected.flags.contains('S') {
            self.initial.tested.get_or_insert(expected.sequence.0);
        }
        taken.segment = self.initial.seen(taken.segment);
        while taken.segment.sequence.2 < length && self.sockets.host.segmentation_offload {
            let follows = self.waiting.first().is_some_and(|next| next.segment.sequence.0 == taken.segment.sequence.1);
            if !follows {
                break;
            }
            let next = self.waiting.remove(0);
            let (first, last) = (taken.segment.sequence.0, next.segment.sequence.1);
            taken.segment = Segment { sequence: (first, last, last.wrapping_sub(first)), ..next.segment };
            taken.at = next.at;
        }
        if !agrees(expected, &taken.segment) {
            let ecn = taken.segment.ecn.filter(|_| expected.ecn.is_some());
            return differs(expected.to_string(), Segment { ecn, ..taken.segment }.to_string());
        }
        let tolerance = time(self.sockets.host.tolerance);
        if taken.at + tolerance < from || taken.at > to && taken.at > to + tolerance {
            let when = if from == to {
                format!("{:.6} s", from.seconds())
            } else {
                format!("{:.6} to {:.6} s", from.seconds(), to.seconds())
            };
            return differs(format!("{expected} at {when}"), format!("that packet at {:.6} s", taken.at.seconds()));
        }
        Ok(taken.at)
    }

    fn payload_waiting(&self) -> u64 {
        self.waiting.iter().map(|sent| u64::from(sent.segment.sequence.2)).sum()
    }

    fn check(&mut self, code: &str) -> Result<(), Stop> {
        let (variables, sockets) = (&mut self.variables, &mut self.sockets);
        let now = self.now;
        let end = sockets.endpoint();
        let information = |name: &str| match &end {
            Some(end) => end.information(name, now),
            None => None,
        };
        match variables.execute(code, &information) {
            Ok(()) => Ok(()),
            Err(Failure::False { assertion, values }) => {
                let values: Vec<_> = values.iter().map(|(name, value)| format!("{name} = {value}")).collect();
                differs(assertion, values.join(", "))
            }
            Err(Failure::Unknown(name)) => Err(Stop::Missing(name)),
            Err(Failure::Foreign(code)) => Err(Stop::Missing(format!("code \"{code}\""))),
        }
    }
}

/// Whether a segment is the expected one: what the script does not mention may be anything.
fn agrees(expected: &Segment, seen: &Segment) -> bool {
    // The ACE field of Accurate ECN may be written as a digit.
    let letters = |segment: &Segment| {
        let others = segment.flags.chars().filter(|letter| !"AWE".contains(*letter) && !letter.is_ascii_digit());
        let mut letters: Vec<_> = others.collect();
        letters.sort_unstable();
        (letters, ace(segment))
    };
    let ecn = match (expected.ecn, seen.ecn) {
        (None, _) => true,
        (Some(Ecn::Ect01), seen) => matches!(seen, Some(Ecn::Ect0 | Ecn::Ect1)),
        (expected, seen) => expected == seen,
    };
    ecn && letters(expected) == letters(seen)
        && expected.sequence == seen.sequence
        && (expected.acknowledgement == seen.acknowledgement)
        && expected.window.is_none_or(|window| seen.window == Some(window))
        && options_agree(expected.options.as_deref(), seen.options.as_deref().unwrap_or_default())
}

fn options_agree(expected: Option<&[TcpOption]>, seen: &[TcpOption]) -> bool {
    let Some(expected) = expected else { return true };
    expected.len() == seen.len()
        && expected.iter().zip(seen).all(|pair| match pair {
            (TcpOption::Timestamp(_, expected), TcpOption::Timestamp(_, seen)) => expected == seen,
            (expected, seen) => expected == seen,
        })
}
