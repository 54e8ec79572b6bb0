//! Segments in the notation of scripts.

use std::fmt::{Display, Formatter, Result};

use super::{Ecn, Segment, TcpOption};

impl Display for Segment {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        let ecn = self.ecn.map(|ecn| ecn.to_string());
        let fields = self.ip_fields.iter().map(|(name, value)| format!("{name} {value:#x}"));
        let ip: Vec<_> = ecn.into_iter().chain(fields).collect();
        if !ip.is_empty() {
            write!(out, "[{}] ", ip.join(","))?;
        }
        if let Some((from, to)) = self.ports {
            write!(out, "{from} > {to} ")?;
        }
        let (first, last, length) = self.sequence;
        write!(out, "{} {first}:{last}({length})", self.flags)?;
        if let Some(number) = self.acknowledgement {
            write!(out, " ack {number}")?;
        }
        if let Some(window) = self.window {
            write!(out, " win {window}")?;
        }
        if let Some(urgent) = self.urgent {
            write!(out, " urg {urgent}")?;
        }
        match self.options.as_deref() {
            None => write!(out, " <...>"),
            Some([]) => Ok(()),
            Some(options) => {
                let options: Vec<_> = options.iter().map(ToString::to_string).collect();
                write!(out, " <{}>", options.join(","))
            }
        }
    }
}

impl Display for Ecn {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        out.write_str(match self {
            Ecn::None => "noecn",
            Ecn::Ect0 => "ect0",
            Ecn::Ect1 => "ect1",
            Ecn::Ect01 => "ect01",
            Ecn::Ce => "ce",
        })
    }
}

impl Display for TcpOption {
    fn fmt(&self, out: &mut Formatter<'_>) -> Result {
        match self {
            TcpOption::NoOperation => write!(out, "nop"),
            TcpOption::EndOfOptions => write!(out, "eol"),
            TcpOption::MaximumSegmentSize(size) => write!(out, "mss {size}"),
            TcpOption::WindowScale(scale) => write!(out, "wscale {scale}"),
            TcpOption::SackPermitted => write!(out, "sackOK"),
            TcpOption::Sack(blocks) => {
                write!(out, "sack")?;
                blocks.iter().try_for_each(|(first, last)| write!(out, " {first}:{last}"))
            }
            TcpOption::Timestamp(value, echo) => write!(out, "TS val {value} ecr {echo}"),
            TcpOption::AccurateEcn(counters) => {
                write!(out, "ECN")?;
                counters.iter().try_for_each(|(name, count)| write!(out, " {name} {count}"))
            }
            TcpOption::Other(text) => out.write_str(text),
        }
    }
}
