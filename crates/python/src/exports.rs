//! Runs with more output than results have: the packets of a link, and the states of connections over time.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_engine::columns::{CONNECTIONS, Connection};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::time::{Duration, Time};
use sojourn_pcapng::{Capture, PacketFile};

use crate::columns::frame;
use crate::{check_plugins, parse, plugins};

/// Events between two looks at whether the user wants to stop.
const EVENTS_BETWEEN_LOOKS: u64 = 1 << 16;

type Loaded<'py> = Option<Vec<Bound<'py, PyAny>>>;

fn build(py: Python<'_>, specification: &str, plugins: Loaded<'_>) -> PyResult<(Specification, Simulation)> {
    let specification = parse(specification)?;
    let (simulation, _) = plugins::build(py, &specification, plugins)?;
    Ok((specification, simulation))
}

/// Simulates one run and writes the packets that pass the near end of a link, in both directions, to a file in the format
/// pcapng. Returns how many they are.
#[pyfunction]
#[pyo3(signature = (specification, link, path, comment, plugins = None))]
pub fn capture(
    py: Python<'_>,
    specification: &str,
    link: usize,
    path: PathBuf,
    comment: &str,
    plugins: Loaded<'_>,
) -> PyResult<u64> {
    let (specification, mut simulation) = build(py, specification, plugins)?;
    let file = BufWriter::new(File::create(path)?);
    let mut capture =
        Capture::begin(file, &specification, &mut simulation, link, comment).map_err(PyOSError::new_err)?;
    loop {
        let is_over = py.detach(|| -> Result<bool, String> {
            let is_over = simulation.advance(specification.duration, EVENTS_BETWEEN_LOOKS);
            let moment = if is_over { specification.duration } else { simulation.now() };
            for passage in simulation.take_passages_before(moment) {
                capture.write(&passage)?;
            }
            Ok(is_over)
        });
        let is_over = is_over.map_err(PyOSError::new_err)?;
        check_plugins(&simulation)?;
        if is_over {
            return capture.end().map_err(PyOSError::new_err);
        }
        py.check_signals()?;
    }
}

/// Writes packets that something else than the engine has seen pass the near end of a link, in order of time, to a file in the
/// format pcapng: the moment in ns, whether the packet leaves, its length, and its headers. Returns how many they are.
#[pyfunction]
pub fn write_packets(
    specification: &str,
    link: usize,
    path: PathBuf,
    comment: &str,
    packets: &Bound<'_, PyAny>,
) -> PyResult<u64> {
    let specification = parse(specification)?;
    let out = BufWriter::new(File::create(path)?);
    let mut file = PacketFile::begin(out, &specification, link, comment).map_err(PyOSError::new_err)?;
    for packet in packets.try_iter()? {
        let (moment, leaves, length, headers) = packet?.extract::<(u64, bool, u32, Bound<'_, PyBytes>)>()?;
        file.write(moment, leaves, length, headers.as_bytes()).map_err(PyOSError::new_err)?;
    }
    file.end().map_err(PyOSError::new_err)
}

/// A run that Python carries out part by part, with the states of its connections at intervals in picoseconds.
#[pyclass]
pub struct Connections {
    specification: Specification,
    simulation: Simulation,
    interval: Duration,
    /// When they are looked at next.
    next: Time,
}

#[pymethods]
impl Connections {
    #[new]
    #[pyo3(signature = (specification, interval, plugins = None))]
    fn new(py: Python<'_>, specification: &str, interval: u64, plugins: Loaded<'_>) -> PyResult<Connections> {
        let (specification, simulation) = build(py, specification, plugins)?;
        Ok(Connections { specification, simulation, interval: Duration(interval), next: Time::ZERO })
    }

    /// The states of all connections at the next instants, by column, as many rows as wanted or a few more. None at the end.
    fn take<'py>(&mut self, py: Python<'py>, rows: usize) -> PyResult<Option<Bound<'py, PyDict>>> {
        let mut samples = Vec::new();
        if self.next > self.specification.duration {
            return Ok(None);
        }
        while self.next <= self.specification.duration && samples.len() < rows {
            while !py.detach(|| self.simulation.advance(self.next, EVENTS_BETWEEN_LOOKS)) {
                check_plugins(&self.simulation)?;
                py.check_signals()?;
            }
            check_plugins(&self.simulation)?;
            for (flow, look) in self.simulation.flows().enumerate() {
                if let Some(info) = self.simulation.tcp_info(flow) {
                    let (latest_rtt, bytes_delivered) =
                        (look.sample.and_then(|sample| sample.rtt), look.bytes_delivered);
                    samples.push(Connection { time: self.next, flow, info, latest_rtt, bytes_delivered });
                }
            }
            self.next += self.interval;
        }
        frame(py, CONNECTIONS, &samples).map(Some)
    }
}
