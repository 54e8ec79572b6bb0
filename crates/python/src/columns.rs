//! A result as columns: a dictionary of lists for each frame, in seconds and bytes.

use pyo3::prelude::*;
use pyo3::types::{PyDict, PyString};
use sojourn_engine::probe::{Counts, DelayStatistics, SojournTimes, Transfer};
use sojourn_engine::result::{FlowResult, QueueResult, RunResult, TcpResult};
use sojourn_engine::specification::Specification;
use sojourn_engine::tcp::sender::{Abort, SenderStatistics, State};
use sojourn_engine::time::Duration;
use sojourn_engine::video::Playback;
use sojourn_native::Recorded;

/// The frames `flows`, `queues`, `queue_series`, `flow_series`, `transfers`, `recorded` and the `summary`.
pub fn to_python<'py>(
    py: Python<'py>,
    specification: &Specification,
    result: &RunResult,
    values: &Recorded,
) -> PyResult<Bound<'py, PyDict>> {
    let frames = PyDict::new(py);
    frames.set_item("recorded", recorded(py, values)?)?;
    frames.set_item("flows", flows(py, specification, &result.flows)?)?;
    frames.set_item("queues", queues(py, specification, &result.queues)?)?;
    frames.set_item("queue_series", queue_series(py, specification, result)?)?;
    frames.set_item("flow_series", flow_series(py, result)?)?;
    frames.set_item("transfers", transfers(py, specification, result)?)?;
    let summary = PyDict::new(py);
    summary.set_item("events", result.events)?;
    summary.set_item("data_packets_delivered", result.data_packets_delivered)?;
    frames.set_item("summary", summary)?;
    Ok(frames)
}

/// Adds the column `name` with one value a row.
pub fn column<'py, Row, T: IntoPyObject<'py>>(
    frame: &Bound<'py, PyDict>,
    name: &str,
    rows: &[Row],
    value: impl Fn(&Row) -> T,
) -> PyResult<()> {
    frame.set_item(name, rows.iter().map(value).collect::<Vec<T>>())
}

/// What people call a link.
pub fn link_name(specification: &Specification, link: usize) -> String {
    let link = &specification.links[link];
    format!("{}->{}", specification.nodes[link.from], specification.nodes[link.to])
}

fn flows<'py>(py: Python<'py>, specification: &Specification, rows: &[FlowResult]) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    let group = |row: &FlowResult| &specification.flows[row.group];
    frame.set_item("flow", (0..rows.len()).collect::<Vec<usize>>())?;
    // One string for all rows that say the same.
    let shared = |text: &str| PyString::intern(py, text);
    column(&frame, "flow_group", rows, |row| shared(&group(row).group))?;
    column(&frame, "sender", rows, |row| shared(&specification.nodes[group(row).from]))?;
    column(&frame, "receiver", rows, |row| shared(&specification.nodes[group(row).to]))?;
    column(&frame, "algorithm", rows, |row| shared(&group(row).source.name))?;
    column(&frame, "start", rows, |row| row.start.seconds())?;
    let tcp_time = |select: fn(&TcpResult) -> Option<f64>| move |row: &FlowResult| row.tcp.as_ref().and_then(select);
    column(&frame, "established", rows, tcp_time(|tcp| tcp.established.map(|time| time.seconds())))?;
    column(&frame, "completed", rows, tcp_time(|tcp| tcp.completed.map(|time| time.seconds())))?;
    column(&frame, "stopped", rows, |row| row.stopped.map(|time| time.seconds()))?;
    column(&frame, "aborted", rows, |row| {
        row.tcp.as_ref().and_then(|tcp| match tcp.state {
            State::Aborted(Abort::SynRetries) => Some("syn_retries"),
            State::Aborted(Abort::DataRetries) => Some("data_retries"),
            _ => None,
        })
    })?;
    column(&frame, "bytes_delivered", rows, |row| row.bytes_delivered)?;
    column(&frame, "total_bytes_delivered", rows, |row| row.total_bytes_delivered)?;
    column(&frame, "packets_dropped", rows, |row| row.packets_dropped)?;
    column(&frame, "segments_sent", rows, |row| row.statistics().segments_sent)?;
    let count = |select: fn(&SenderStatistics) -> u64| move |row: &FlowResult| select(&row.statistics());
    column(&frame, "retransmissions", rows, count(|counts| counts.retransmissions))?;
    column(&frame, "timeouts", rows, count(|counts| counts.timeouts))?;
    column(&frame, "fast_recoveries", rows, count(|counts| counts.fast_recoveries))?;
    column(&frame, "mark_reductions", rows, count(|counts| counts.mark_reductions))?;
    column(&frame, "undone_reductions", rows, count(|counts| counts.undone_reductions))?;
    column(&frame, "rwnd_limited", rows, tcp_time(|tcp| Some(tcp.statistics.receiver_limited.seconds())))?;
    let own = tcp_time(|tcp| Some(tcp.statistics.send_buffer_limited.seconds()));
    column(&frame, "sndbuf_limited", rows, own)?;
    column(&frame, "rtt_samples", rows, count(|counts| counts.rtt_samples))?;
    let rtt = |select: fn(&SenderStatistics) -> f64| {
        move |row: &FlowResult| Some(row.statistics()).filter(|counts| counts.rtt_samples > 0).as_ref().map(select)
    };
    let mean = |counts: &SenderStatistics| counts.rtt_sum.seconds() / counts.rtt_samples as f64;
    column(&frame, "rtt_mean", rows, rtt(mean))?;
    column(&frame, "rtt_min", rows, rtt(|counts| counts.min_rtt.seconds()))?;
    column(&frame, "rtt_max", rows, rtt(|counts| counts.max_rtt.seconds()))?;
    let probed = |select: fn(&DelayStatistics) -> f64| move |row: &FlowResult| row.round_trips.as_deref().map(select);
    column(&frame, "rtt_p50", rows, probed(|times| times.p50))?;
    column(&frame, "rtt_p95", rows, probed(|times| times.p95))?;
    column(&frame, "rtt_p99", rows, probed(|times| times.p99))?;
    column(&frame, "rtt_trimmed", rows, probed(|times| times.trimmed_mean))?;
    column(&frame, "delay_samples", rows, |row| row.delays.as_ref().map_or(0, |delays| delays.packets))?;
    let delay = |select: fn(&DelayStatistics) -> f64| move |row: &FlowResult| row.delays.as_deref().map(select);
    column(&frame, "delay_mean", rows, delay(|delays| delays.mean))?;
    column(&frame, "delay_min", rows, delay(|delays| delays.min))?;
    column(&frame, "delay_p50", rows, delay(|delays| delays.p50))?;
    column(&frame, "delay_p95", rows, delay(|delays| delays.p95))?;
    column(&frame, "delay_p99", rows, delay(|delays| delays.p99))?;
    column(&frame, "delay_max", rows, delay(|delays| delays.max))?;
    column(&frame, "jitter", rows, |row| row.delays.as_ref().and_then(|delays| delays.jitter))?;
    column(&frame, "transfers_completed", rows, |row| row.transfers.map(|counts| counts.completed))?;
    column(&frame, "transfers_unfinished", rows, |row| row.transfers.map(|counts| counts.unfinished))?;
    column(&frame, "transfers_open", rows, |row| row.transfers.map(|counts| counts.open_mean))?;
    column(&frame, "late_packets", rows, |row| row.call.as_ref().map(|call| call.late))?;
    column(&frame, "mouth_to_ear", rows, |row| row.call.as_ref().and_then(|call| call.mouth_to_ear))?;
    column(&frame, "r_factor", rows, |row| row.call.as_ref().map(|call| call.rating))?;
    column(&frame, "mos", rows, |row| row.call.as_ref().map(|call| call.score))?;
    let seen = |select: fn(&Playback) -> Option<f64>| move |row: &FlowResult| row.video.as_deref().and_then(select);
    column(&frame, "video_start_delay", rows, seen(Playback::start_delay))?;
    column(&frame, "video_played", rows, seen(|seen| Some(seen.played.seconds())))?;
    column(&frame, "video_stalled", rows, seen(|seen| Some(seen.stalled.seconds())))?;
    column(&frame, "video_stalls", rows, |row| row.video.as_ref().map(|seen| seen.stalls))?;
    column(&frame, "video_switches", rows, |row| row.video.as_ref().map(|seen| seen.switches))?;
    column(&frame, "video_mbps", rows, seen(|seen| seen.mean_rate().map(|rate| rate / 1e6)))?;
    column(&frame, "long_lived", rows, |row| row.long_lived)?;
    Ok(frame)
}

fn transfers<'py>(py: Python<'py>, specification: &Specification, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    let rows = &result.transfers;
    let group = |row: &Transfer| &specification.flows[result.flows[row.flow as usize].group];
    column(&frame, "flow", rows, |row| row.flow)?;
    column(&frame, "flow_group", rows, |row| PyString::intern(py, &group(row).group))?;
    column(&frame, "kind", rows, |row| PyString::intern(py, row.kind.name()))?;
    column(&frame, "start", rows, |row| row.start.seconds())?;
    column(&frame, "completed", rows, |row| row.completed.seconds())?;
    column(&frame, "bytes", rows, |row| row.bytes)?;
    column(&frame, "completion_time", rows, |row| row.completed.since(row.start).seconds())?;
    column(&frame, "ideal_time", rows, |row| row.ideal.seconds())?;
    column(&frame, "slowdown", rows, |row| row.completed.since(row.start).seconds() / row.ideal.seconds())?;
    column(&frame, "retransmissions", rows, |row| row.retransmissions)?;
    column(&frame, "timeouts", rows, |row| row.timeouts)?;
    column(&frame, "stands_for", rows, |row| row.stands_for)?;
    Ok(frame)
}

fn queues<'py>(py: Python<'py>, specification: &Specification, rows: &[QueueResult]) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    column(&frame, "link", rows, |row| link_name(specification, row.link))?;
    column(&frame, "discipline", rows, |row| {
        specification.links[row.link].queue.as_ref().map(|queue| queue.name.clone())
    })?;
    let window = |select: fn(&Counts) -> u64| move |row: &QueueResult| select(&row.statistics.window);
    column(&frame, "arrivals", rows, window(|counts| counts.arrivals))?;
    column(&frame, "departures", rows, window(|counts| counts.departures))?;
    column(&frame, "drops", rows, window(Counts::drops))?;
    column(&frame, "drops_overflow", rows, window(|counts| counts.drops_overflow))?;
    column(&frame, "drops_early", rows, window(|counts| counts.drops_early))?;
    column(&frame, "total_link_losses", rows, |row| row.link_losses)?;
    column(&frame, "marks", rows, window(|counts| counts.marks))?;
    column(&frame, "bytes_sent", rows, window(|counts| counts.bytes_sent))?;
    column(&frame, "mean_packets", rows, |row| row.statistics.mean_packets)?;
    column(&frame, "sd_packets", rows, |row| row.statistics.sd_packets)?;
    column(&frame, "max_packets", rows, |row| row.statistics.max_packets)?;
    column(&frame, "mean_bytes", rows, |row| row.statistics.mean_bytes)?;
    let sojourn = |select: fn(SojournTimes) -> f64| move |row: &QueueResult| row.statistics.sojourn.map(select);
    column(&frame, "sojourn_mean", rows, sojourn(|times| times.mean))?;
    column(&frame, "sojourn_p50", rows, sojourn(|times| times.p50))?;
    column(&frame, "sojourn_p95", rows, sojourn(|times| times.p95))?;
    column(&frame, "sojourn_p99", rows, sojourn(|times| times.p99))?;
    column(&frame, "sojourn_max", rows, sojourn(|times| times.max))?;
    column(&frame, "utilisation", rows, |row| row.statistics.busy_share)?;
    let total = |select: fn(&Counts) -> u64| {
        move |row: &QueueResult| select(&row.statistics.before_window) + select(&row.statistics.window)
    };
    column(&frame, "total_arrivals", rows, total(|counts| counts.arrivals))?;
    column(&frame, "total_departures", rows, total(|counts| counts.departures))?;
    column(&frame, "total_drops", rows, total(Counts::drops))?;
    column(&frame, "drop_runs", rows, |row| row.statistics.drop_runs)?;
    column(&frame, "drop_run_max", rows, |row| row.statistics.longest_drop_run)?;
    let together = |row: &QueueResult| row.statistics.synchronisation;
    column(&frame, "loss_epochs", rows, |row| together(row).map_or(0, |found| found.epochs))?;
    column(&frame, "loss_synchronisation", rows, |row| together(row).map(|found| found.share))?;
    column(&frame, "queued_at_end", rows, |row| row.statistics.queued_at_end)?;
    Ok(frame)
}

fn queue_series<'py>(
    py: Python<'py>,
    specification: &Specification,
    result: &RunResult,
) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    let rows = &result.series.queues;
    column(&frame, "time", rows, |row| row.time.seconds())?;
    column(&frame, "link", rows, |row| PyString::intern(py, &link_name(specification, row.link)))?;
    column(&frame, "packets", rows, |row| row.packets)?;
    column(&frame, "bytes", rows, |row| row.bytes)?;
    column(&frame, "drops", rows, |row| row.drops)?;
    Ok(frame)
}

fn flow_series<'py>(py: Python<'py>, result: &RunResult) -> PyResult<Bound<'py, PyDict>> {
    let frame = PyDict::new(py);
    let rows = &result.series.flows;
    column(&frame, "time", rows, |row| row.time.seconds())?;
    column(&frame, "flow", rows, |row| row.flow)?;
    column(&frame, "cwnd", rows, |row| row.cwnd)?;
    column(&frame, "ssthresh", rows, |row| row.ssthresh)?;
    column(&frame, "rtt", rows, |row| row.rtt.map(Duration::seconds))?;
    column(&frame, "bytes_delivered", rows, |row| row.bytes_delivered)?;
    column(&frame, "bytes_received", rows, |row| row.bytes_received)?;
    Ok(frame)
}

/// The values of a run as columns, in the order in which they were recorded.
fn recorded<'py>(py: Python<'py>, values: &Recorded) -> PyResult<Bound<'py, PyDict>> {
    let rows = values.take();
    let frame = PyDict::new(py);
    column(&frame, "time", &rows, |row| row.time)?;
    column(&frame, "kind", &rows, |row| row.kind)?;
    frame.set_item("which", rows.iter().map(|row| &*row.which).collect::<Vec<&str>>())?;
    frame.set_item("measure", rows.iter().map(|row| &*row.measure).collect::<Vec<&str>>())?;
    column(&frame, "value", &rows, |row| row.value)?;
    Ok(frame)
}
