//! Runs with more output than results have: the packets of a link, and the states of connections over time.

use std::fs::File;
use std::io::BufWriter;
use std::path::PathBuf;

use pyo3::exceptions::PyOSError;
use pyo3::prelude::*;
use pyo3::types::{PyBytes, PyDict};
use sojourn_engine::simulation::Simulation;
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::sender::TcpInfo;
use sojourn_engine::time::{Duration, Time};
use sojourn_pcapng::{Capture, PacketFile};

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

/// The state of a connection at an instant.
struct Sample {
    time: Time,
    flow: usize,
    info: TcpInfo,
    delivered: u64,
    latest_rtt: Option<Duration>,
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
                    let latest_rtt = look.sample.and_then(|sample| sample.rtt);
                    samples.push(Sample { time: self.next, flow, info, delivered: look.bytes_delivered, latest_rtt });
                }
            }
            self.next += self.interval;
        }
        columns(py, &samples).map(Some)
    }
}

fn columns<'py>(py: Python<'py>, samples: &[Sample]) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    let whole = |name: &str, value: fn(&Sample) -> Option<u64>| {
        frame.set_item(name, samples.iter().map(value).collect::<Vec<_>>())
    };
    let number = |name: &str, value: fn(&Sample) -> Option<f64>| {
        frame.set_item(name, samples.iter().map(value).collect::<Vec<_>>())
    };
    number("time", |sample| Some(sample.time.seconds()))?;
    whole("flow", |sample| Some(sample.flow as u64))?;
    whole("state", |sample| Some(u64::from(sample.info.state.number_in_linux())))?;
    whole("ca_state", |sample| Some(u64::from(sample.info.repair.number_in_linux())))?;
    whole("retransmits", |sample| Some(sample.info.retries))?;
    whole("backoff", |sample| Some(u64::from(sample.info.backoff)))?;
    number("rto", |sample| Some(sample.info.rto.seconds()))?;
    number("rtt", |sample| sample.info.srtt)?;
    number("rttvar", |sample| sample.info.rttvar)?;
    number("min_rtt", |sample| sample.info.min_rtt.map(Duration::seconds))?;
    number("latest_rtt", |sample| sample.latest_rtt.map(Duration::seconds))?;
    whole("snd_mss", |sample| Some(sample.info.mss))?;
    whole("snd_cwnd", |sample| Some(sample.info.cwnd))?;
    whole("snd_ssthresh", |sample| sample.info.ssthresh)?;
    whole("unacked", |sample| Some(sample.info.outstanding))?;
    whole("sacked", |sample| Some(sample.info.sacked))?;
    whole("lost", |sample| Some(sample.info.lost))?;
    whole("retrans", |sample| Some(sample.info.retransmitted))?;
    whole("total_retrans", |sample| Some(sample.info.retransmissions))?;
    whole("data_segs_out", |sample| Some(sample.info.segments_sent))?;
    whole("bytes_acked", |sample| Some(sample.info.bytes_acknowledged))?;
    whole("bytes_delivered", |sample| Some(sample.delivered))?;
    whole("pacing_rate", |sample| sample.info.pacing_rate.map(|rate| rate.0 / 8))?;
    Ok(frame)
}
