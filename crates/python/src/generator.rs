//! The traffic of a run that a kernel carries: what happens there comes in as lines, what is to be done goes out as lines.

use std::fmt::Write;
use std::sync::Mutex;

use pyo3::exceptions::PyValueError;
use pyo3::prelude::*;
use pyo3::types::PyDict;
use sojourn_engine::application::End;
use sojourn_engine::simulation::{self, Command, Happening};
use sojourn_engine::specification::Specification;
use sojourn_engine::time::Time;
use sojourn_native::Recorded;

use crate::columns::to_python;
use crate::{SpecificationError, parse};

/// Bytes of lines that are handed over at one go, at most.
const MOST: usize = 3_500;

/// Picoseconds in a nanosecond, the unit of what comes in and goes out.
const UNIT: u64 = 1_000;

/// See the module. Lines begin with the time in ns since the start of the run.
#[pyclass]
pub struct Generator {
    specification: Specification,
    under_way: Mutex<UnderWay>,
}

struct UnderWay {
    /// None once the result has been handed out.
    generator: Option<simulation::Generator>,
    /// Lines that have not been handed over.
    lines: String,
}

#[pymethods]
impl Generator {
    #[new]
    fn new(specification: &str) -> PyResult<Generator> {
        let specification = parse(specification)?;
        let generator = simulation::Generator::new(&specification).map_err(SpecificationError::new_err)?;
        let under_way = Mutex::new(UnderWay { generator: Some(generator), lines: String::new() });
        Ok(Generator { specification, under_way })
    }

    /// Tells what has happened. Returns what is to be done now, a line each; the last one says when to ask again: at a time, `never`, or
    /// at once, since there is `more`.
    fn tell(&self, line: &str) -> PyResult<String> {
        let mut under_way = self.under_way.lock().expect("nothing panics with it");
        let UnderWay { generator, lines } = &mut *under_way;
        let generator = generator.as_mut().ok_or_else(ended)?;
        let wrong = || PyValueError::new_err(format!("{line:?} says nothing that can happen"));
        let (time, happening) = understood(line).ok_or_else(wrong)?;
        match happening {
            Some(happening) => generator.on(happening, time),
            None => generator.advance(time),
        }
        for command in generator.take_commands() {
            write_command(lines, command);
        }
        let cut = match lines.get(..MOST.min(lines.len())) {
            Some(first) if lines.len() > MOST => first.rfind('\n').map_or(0, |end| end + 1),
            _ => lines.len(),
        };
        let rest = lines.split_off(cut);
        let mut told = std::mem::replace(lines, rest);
        if !lines.is_empty() {
            told += "more\n";
        } else if generator.due() == Time::NEVER {
            told += "never\n";
        } else {
            let _ = writeln!(told, "at {}", generator.due().0.div_ceil(UNIT));
        }
        Ok(told)
    }

    /// Tells of a flow of limited size with a connection of its own, in ns: see the engine's.
    fn note_plain(&self, row: usize, start: u64, completed: Option<u64>, retransmissions: u64) -> PyResult<()> {
        let mut under_way = self.under_way.lock().expect("nothing panics with it");
        let generator = under_way.generator.as_mut().ok_or_else(ended)?;
        generator.note_plain(row, Time(start * UNIT), completed.map(|time| Time(time * UNIT)), retransmissions);
        Ok(())
    }

    /// The frames at the end of the run: see the engine's.
    #[allow(clippy::needless_pass_by_value)] // It comes from Python.
    fn finish<'py>(&self, py: Python<'py>, dropped: Option<Vec<u64>>) -> PyResult<Bound<'py, PyDict>> {
        let generator = self.under_way.lock().expect("nothing panics with it").generator.take().ok_or_else(ended)?;
        to_python(py, &self.specification, &generator.finish(dropped.as_deref()), &Recorded::default())
    }
}

fn ended() -> PyErr {
    PyValueError::new_err("the result of the run has been handed out")
}

fn end_of(word: &str) -> Option<End> {
    match word {
        "client" => Some(End::Client),
        "server" => Some(End::Server),
        _ => None,
    }
}

fn name_of(end: End) -> &'static str {
    match end {
        End::Client => "client",
        End::Server => "server",
    }
}

/// When something happened, and what; nothing if it is only time for what is due.
fn understood(line: &str) -> Option<(Time, Option<Happening>)> {
    let mut words = line.split_ascii_whitespace();
    let time = Time(words.next()?.parse::<u64>().ok()? * UNIT);
    let kind = words.next()?;
    let mut number = || words.next()?.parse::<u64>().ok();
    let happening = match kind {
        "due" => return Some((time, None)),
        "window" => Happening::WindowOpens,
        "opened" => Happening::Opened(number()? as u32),
        "accepted" => Happening::Accepted(number()? as u32),
        "failed" => Happening::Failed(number()? as u32),
        "room" => Happening::Room(number()? as u32, number()?),
        "arrived" => Happening::Arrived(number()? as u32, number()? != 0),
        "ended" => Happening::Ended {
            connection: number()? as u32,
            from: Time(number()? * UNIT),
            until: Time(number()? * UNIT),
            retransmissions: number()?,
        },
        "received" => {
            let connection = number()? as u32;
            Happening::Received(connection, end_of(words.next()?)?)
        }
        _ => return None,
    };
    Some((time, Some(happening)))
}

fn write_command(lines: &mut String, command: Command) {
    // Writing to a string does not fail.
    let _ = match command {
        Command::Open { connection, row, by } => writeln!(lines, "open {connection} {row} {}", name_of(by)),
        Command::Write { connection, from, bytes } => writeln!(lines, "write {connection} {} {bytes}", name_of(from)),
        Command::AwaitRoom { connection, waiting } => writeln!(lines, "room {connection} {waiting}"),
        Command::Close { connection, end } => writeln!(lines, "close {connection} {}", name_of(end)),
        Command::Abort { connection } => writeln!(lines, "abort {connection}"),
        Command::Send { datagram, row, from, size, ecn } => {
            writeln!(lines, "send {datagram} {row} {} {size} {ecn}", name_of(from))
        }
    };
}
