//! A script as read: events in order of time.

mod notation;
mod parse;
mod syntax;

pub use parse::{Problem, parse};

#[derive(Clone, Debug, PartialEq)]
pub struct Script {
    /// Options of packetdrill's command line: names without `--`, and values.
    pub options: Vec<(String, Option<String>)>,
    /// Shell lines before the first event.
    pub preparation: Option<String>,
    /// Events in their order.
    pub events: Vec<Event>,
    /// Shell lines after the last event.
    pub clean_up: Option<String>,
}

/// What happens, or must be seen, at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Line in the script, from 1.
    pub line: usize,
    pub time: When,
    pub action: Action,
}

pub type Microseconds = u64;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// So long after the event before.
    Relative(Microseconds),
    /// Between two times after the event before.
    RelativeRange(Microseconds, Microseconds),
    /// So long after the beginning.
    Absolute(Microseconds),
    /// Between two times after the beginning.
    AbsoluteRange(Microseconds, Microseconds),
    Any,
}

#[derive(Clone, Debug, PartialEq)]
pub enum Action {
    /// The script's end sends a segment.
    Inject(Segment),
    /// The tested end must send a segment.
    Expect(Segment),
    /// A packet of another kind than TCP's over plain IP: its first word, such as `icmp`.
    Foreign(String),
    Call(Call),
    Shell(String),
    /// Code in Python, which asserts something about `TCP_INFO`.
    Code(String),
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub ecn: Option<Ecn>,
    /// Other fields of the IP header that the script names: `tos`, `ttl` or `flowlabel`.
    pub ip_fields: Vec<(String, i64)>,
    pub ports: Option<(u16, u16)>,
    /// Flags as written: letters of `FSRPEWA`, `.` for ACK, or `-` for none.
    pub flags: String,
    /// First sequence number, one past the last, and length of the payload.
    pub sequence: (u32, u32, u32),
    pub acknowledgement: Option<u32>,
    /// Window field, not scaled.
    pub window: Option<u16>,
    pub urgent: Option<u16>,
    /// Options, or `None` for any (`<...>`).
    pub options: Option<Vec<TcpOption>>,
}

/// The ECN field of the IP header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ecn {
    /// Not ECN-capable.
    None,
    Ect0,
    Ect1,
    Ect01,
    Ce,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    NoOperation,
    EndOfOptions,
    MaximumSegmentSize(u16),
    WindowScale(u8),
    SackPermitted,
    /// SACK blocks: first sequence number and one past the last.
    Sack(Vec<(u32, u32)>),
    /// Timestamp and its echo.
    Timestamp(u32, u32),
    /// Counters of Accurate ECN in their order: `e0b`, `e1b`, `ceb`.
    AccurateEcn(Vec<(String, u32)>),
    /// Another option, as written.
    Other(String),
}

#[derive(Clone, Debug, PartialEq)]
pub struct Call {
    /// Until when it blocks, after the beginning of the event.
    pub until: Option<Microseconds>,
    pub name: String,
    pub arguments: Vec<Value>,
    /// What it must return.
    pub returns: Value,
    /// The error it must report, such as `EAGAIN`.
    pub error: Option<String>,
}

/// An argument or a result.
#[derive(Clone, Debug, PartialEq)]
pub enum Value {
    /// Anything: `...`.
    Any,
    Integer(i64),
    /// A constant's name.
    Name(String),
    Text(String),
    /// A list in brackets.
    List(Vec<Value>),
    /// Fields in braces, with or without names.
    Fields(Vec<(Option<String>, Value)>),
    /// A function of values, such as `htons(8080)`.
    Invocation(String, Vec<Value>),
    /// Flags that are set together.
    Either(Vec<Value>),
}
