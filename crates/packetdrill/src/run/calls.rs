//! System calls, as far as an endpoint without sockets has them.

use sojourn_engine::time::{Duration, Time};

use super::{Stop, differs};
use crate::endpoint::{Endpoint, State, Write, constant};
use crate::host::{Host, Missing};
use crate::script::{Call, Value};

/// Options of sockets that change nothing in an endpoint: names of addresses, of errors, and of what it does anyway.
const WITHOUT_EFFECT: [&str; 7] =
    ["SO_REUSEADDR", "SO_ERROR", "IP_FREEBIND", "IP_MTU_DISCOVER", "IP_TOS", "SO_MARK", "SO_SNDBUF"];

/// Flags of writes that are understood.
const FLAGS_OF_WRITES: [&str; 4] = ["MSG_DONTWAIT", "MSG_NOSIGNAL", "MSG_MORE", "MSG_EOR"];

/// A call that blocks.
struct Blocked {
    call: Call,
    since: Time,
    ends: Time,
}

/// The sockets of a script: one that listens and one that is connected, or one that connects.
pub struct Sockets {
    /// What the script has set so far.
    pub host: Host,
    timestamp_base: u32,
    end: Option<Endpoint>,
    /// The descriptor of the connection.
    connection: Option<i64>,
    does_not_block: bool,
    blocked: Option<Blocked>,
}

/// What a call returned: a number, and the name of an error.
type Returned = (i64, Option<&'static str>);

impl Sockets {
    pub fn new(host: Host, timestamp_base: u32) -> Sockets {
        Sockets { host, timestamp_base, end: None, connection: None, does_not_block: false, blocked: None }
    }

    /// Carries out shell lines.
    pub fn configure(&mut self, lines: &str) -> Result<(), Missing> {
        self.host.run(lines)?;
        if let Some(end) = &mut self.end {
            end.set_host(&self.host);
        }
        Ok(())
    }

    /// The end of the connection that is tested.
    pub fn endpoint(&mut self) -> Option<&mut Endpoint> {
        self.end.as_mut()
    }

    /// Carries out a call, or begins to; how long it may block counts from the event `before`.
    pub fn call(&mut self, call: &Call, before: Time, now: Time) -> Result<(), Stop> {
        if self.blocked.is_some() {
            return Err(Stop::Missing("two calls that block at once".to_owned()));
        }
        match self.attempt(call, now)? {
            Some(returned) => compare(call, returned),
            None => {
                let Some(until) = call.until else {
                    return differs(format!("{} to return", call.name), "that it blocks");
                };
                let ends = before + Duration::from_microseconds(until);
                self.blocked = Some(Blocked { call: call.clone(), since: now, ends });
                Ok(())
            }
        }
    }

    /// Something may have happened that a blocked call waits for.
    pub fn wake(&mut self, now: Time) -> Result<(), Stop> {
        let Some(blocked) = self.blocked.take() else { return Ok(()) };
        let tolerance = Duration::from_microseconds(self.host.tolerance);
        match self.resume(&blocked.call, now)? {
            Some(returned) => {
                if now + tolerance < blocked.since || now > blocked.ends + tolerance {
                    let expected = format!("{} to return by {:.6} s", blocked.call.name, blocked.ends.seconds());
                    return differs(expected, format!("that it returns at {:.6} s", now.seconds()));
                }
                compare(&blocked.call, returned)
            }
            None if now > blocked.ends + tolerance => {
                let expected = format!("{} to return by {:.6} s", blocked.call.name, blocked.ends.seconds());
                differs(expected, "that it blocks")
            }
            None => {
                self.blocked = Some(blocked);
                Ok(())
            }
        }
    }

    fn resume(&mut self, call: &Call, now: Time) -> Result<Option<Returned>, Stop> {
        if call.name != "connect" {
            return self.attempt(call, now);
        }
        Ok(match self.end.as_ref().map(|end| end.state) {
            Some(State::SynSent) => None,
            Some(State::Closed) | None => Some((-1, Some("ECONNREFUSED"))),
            Some(_) => Some((0, None)),
        })
    }

    /// `None` if the call blocks.
    fn attempt(&mut self, call: &Call, now: Time) -> Result<Option<Returned>, Stop> {
        let argument = |place: usize| call.arguments.get(place).and_then(number);
        let descriptor = argument(0);
        let returned = match call.name.as_str() {
            // Descriptors are numbered as the script numbers them.
            "socket" => (number(&call.returns).unwrap_or_default(), None),
            "bind" => (0, None),
            "setsockopt" => self.set_option(call, now)?,
            "getsockopt" => self.get_option(call, now)?,
            "fcntl" => self.control(call),
            "listen" => {
                self.end = Some(Endpoint::listening(self.host.clone(), self.timestamp_base));
                (0, None)
            }
            "accept" => {
                let is_open =
                    self.end.as_ref().is_some_and(|end| !matches!(end.state, State::Listen | State::SynReceived));
                if !is_open {
                    return Ok(if self.does_not_block { Some((-1, Some("EAGAIN"))) } else { None });
                }
                let descriptor = number(&call.returns).unwrap_or_default();
                self.connection = Some(descriptor);
                (descriptor, None)
            }
            "connect" => {
                self.connection = descriptor;
                self.end = Some(Endpoint::connecting(self.host.clone(), self.timestamp_base, now)?);
                if !self.does_not_block {
                    return Ok(None);
                }
                (-1, Some("EINPROGRESS"))
            }
            "write" | "send" | "sendto" | "sendmsg" => self.write(call, now)?,
            "read" | "recv" | "recvfrom" => match self.read(call) {
                Some(returned) => returned,
                None => return Ok(None),
            },
            "shutdown" => self.shut_down(call, now)?,
            "close" => {
                if descriptor == self.connection {
                    self.connection = None;
                    if let Some(end) = &mut self.end {
                        end.close(now);
                    }
                }
                (0, None)
            }
            "ioctl" => self.query(call)?,
            name => return Err(Stop::Missing(format!("{name}()"))),
        };
        Ok(Some(returned))
    }

    fn set_option(&mut self, call: &Call, now: Time) -> Result<Returned, Stop> {
        let name = call.arguments.get(2).map_or("", name_of);
        if WITHOUT_EFFECT.contains(&name) {
            return Ok((0, None));
        }
        let value = call.arguments.get(3).and_then(|value| match value {
            Value::List(values) => values.first().and_then(number),
            value => number(value),
        });
        match (name, value) {
            ("TCP_MAXSEG", Some(size)) if size > 0 => {
                self.host.mss = Some(size as u64);
                self.set_listener();
                Ok((0, None))
            }
            ("SO_LINGER", _) => {
                let lingers = call.arguments.get(3).and_then(|value| match value {
                    Value::Fields(fields) => Some(fields.iter().map(|(_, value)| number(value)).collect::<Vec<_>>()),
                    _ => None,
                });
                if let Some(end) = &mut self.end {
                    end.resets = matches!(lingers.as_deref(), Some([Some(1), Some(0)]));
                }
                Ok((0, None))
            }
            ("TCP_USER_TIMEOUT", Some(milliseconds)) => {
                let timeout = Duration::from_milliseconds(milliseconds.max(0) as u64);
                if let Some(end) = &mut self.end {
                    end.user_timeout = Some(timeout).filter(|timeout| *timeout > Duration::ZERO);
                }
                Ok((0, None))
            }
            ("SO_RCVBUF", Some(bytes)) => {
                self.host.receive_buffer = Some(2 * bytes.max(0) as u64);
                self.set_listener();
                Ok((0, None))
            }
            ("TCP_NODELAY", Some(wanted)) => {
                self.host.coalescing.no_delay = wanted != 0;
                if let Some(end) = self.end.as_mut().filter(|_| wanted != 0) {
                    end.stop_delaying(now);
                }
                Ok((0, None))
            }
            ("TCP_CORK", Some(wanted)) => {
                self.host.coalescing.corked = wanted != 0;
                if let Some(end) = &mut self.end {
                    end.cork(wanted != 0, now);
                }
                Ok((0, None))
            }
            ("TCP_CONGESTION", _) => match call.arguments.get(3) {
                Some(Value::Text(name)) => {
                    self.host.run(&format!("sysctl -q net.ipv4.tcp_congestion_control={name}"))?;
                    Ok((0, None))
                }
                _ => Err(Stop::Missing(format!("setsockopt {name}"))),
            },
            _ => Err(Stop::Missing(format!("setsockopt {name}"))),
        }
    }

    /// A listener's settings are those of the connections that it accepts.
    fn set_listener(&mut self) {
        if let Some(end) = self.end.as_mut().filter(|end| end.state == State::Listen) {
            *end = Endpoint::listening(self.host.clone(), self.timestamp_base);
        }
    }

    fn get_option(&mut self, call: &Call, now: Time) -> Result<Returned, Stop> {
        let name = call.arguments.get(2).map_or("", name_of);
        let expected = call.arguments.get(3).and_then(|value| match value {
            Value::List(values) => values.first().and_then(number),
            value => number(value),
        });
        let seen = match name {
            "SO_ERROR" => Some(0),
            "TCP_MAXSEG" => self
                .end
                .as_ref()
                .and_then(|end| end.information("tcpi_snd_mss", now))
                .or(self.host.mss.map(|mss| mss as i64)),
            _ => return Err(Stop::Missing(format!("getsockopt {name}"))),
        };
        if expected == seen { Ok((0, None)) } else { differs(format!("{name} {expected:?}"), format!("{seen:?}")) }
    }

    fn control(&mut self, call: &Call) -> Returned {
        if call.arguments.get(1).map(name_of) == Some("F_GETFL") {
            return (if self.does_not_block { 0x802 } else { 2 }, None);
        }
        let flags = call.arguments.get(2);
        self.does_not_block = match flags {
            Some(Value::Either(values)) => values.iter().any(|value| name_of(value) == "O_NONBLOCK"),
            Some(value) => name_of(value) == "O_NONBLOCK",
            None => false,
        };
        (0, None)
    }

    fn write(&mut self, call: &Call, now: Time) -> Result<Returned, Stop> {
        let (bytes, flags) = match call.name.as_str() {
            "sendmsg" => (call.arguments.get(1).and_then(bytes_of_message), call.arguments.get(2)),
            _ if !matches!(call.arguments.get(1), Some(Value::Any)) => (None, None),
            _ => (call.arguments.get(2).and_then(number), call.arguments.get(3)),
        };
        let Some(bytes) = bytes.and_then(|bytes| u64::try_from(bytes).ok()) else {
            return Err(Stop::Missing(format!("{} of given bytes", call.name)));
        };
        let names = match flags {
            Some(Value::Either(values)) => values.iter().map(name_of).collect(),
            Some(Value::Integer(0)) | None => Vec::new(),
            Some(flag) => vec![name_of(flag)],
        };
        if let Some(other) = names.iter().find(|name| !FLAGS_OF_WRITES.contains(name)) {
            return Err(Stop::Missing(format!("{} with {other}", call.name)));
        }
        let (more, ends_record) = (names.contains(&"MSG_MORE"), names.contains(&"MSG_EOR"));
        let Some(end) = &mut self.end else { return Ok((-1, Some("ENOTCONN"))) };
        // An error is told once.
        if let Some(error) = end.error.take() {
            return Ok((-1, Some(error)));
        }
        Ok(if end.write(Write { bytes, more, ends_record }, now) { (bytes as i64, None) } else { (-1, Some("EPIPE")) })
    }

    fn read(&mut self, call: &Call) -> Option<Returned> {
        let most = call.arguments.get(2).and_then(number).unwrap_or(0).max(0) as u64;
        let Some(end) = &mut self.end else { return Some((-1, Some("ENOTCONN"))) };
        let bytes = end.read(most);
        if bytes > 0 || end.has_ended() {
            return Some((bytes as i64, None));
        }
        if self.does_not_block { Some((-1, Some("EAGAIN"))) } else { None }
    }

    fn shut_down(&mut self, call: &Call, now: Time) -> Result<Returned, Stop> {
        let Some(end) = &mut self.end else { return Ok((-1, Some("ENOTCONN"))) };
        let how = call.arguments.get(1).map_or("", name_of);
        if matches!(how, "SHUT_RD" | "SHUT_RDWR") {
            end.stop_reading();
        }
        if matches!(how, "SHUT_WR" | "SHUT_RDWR") {
            end.stop_writing(now);
        }
        Ok((0, None))
    }

    fn query(&mut self, call: &Call) -> Result<Returned, Stop> {
        let (name, place) = (call.arguments.get(1).map_or("", name_of), call.arguments.get(2));
        let expected = match place {
            Some(Value::List(values)) => values.first().and_then(number),
            _ => None,
        };
        match (name, &self.end) {
            ("SIOCINQ" | "FIONREAD", Some(end)) => {
                let seen = end.unread() as i64;
                if expected == Some(seen) {
                    Ok((0, None))
                } else {
                    differs(format!("{name} {expected:?}"), seen.to_string())
                }
            }
            _ => Err(Stop::Missing(format!("ioctl {name}"))),
        }
    }
}

fn compare(call: &Call, (value, error): Returned) -> Result<(), Stop> {
    let expected = match &call.returns {
        Value::Any => return Ok(()),
        value => number(value),
    };
    let shown = |value: Option<i64>, error: Option<&str>| {
        let value = value.map_or("...".to_owned(), |value| value.to_string());
        error.map_or(value.clone(), |error| format!("{value} {error}"))
    };
    if expected == Some(value) && call.error.as_deref() == error {
        return Ok(());
    }
    differs(format!("{} = {}", call.name, shown(expected, call.error.as_deref())), shown(Some(value), error))
}

/// The bytes of a message: the sum of its parts.
fn bytes_of_message(message: &Value) -> Option<i64> {
    let Value::Fields(fields) = message else { return None };
    let parts = fields.iter().find(|(name, _)| name.as_deref() == Some("msg_iov"));
    let Some((_, Value::List(parts))) = parts else { return None };
    let length = |part: &Value| match part {
        Value::Fields(fields) => fields.last().and_then(|(_, value)| number(value)),
        _ => None,
    };
    parts.iter().map(length).sum()
}

fn number(value: &Value) -> Option<i64> {
    match value {
        Value::Integer(number) => Some(*number),
        Value::Name(name) => constant(name),
        _ => None,
    }
}

fn name_of(value: &Value) -> &str {
    match value {
        Value::Name(name) => name,
        _ => "",
    }
}
