//! The frames of a run: name, type, unit and meaning of each column, and what a row has in it. Bindings, stores, figures and the
//! documentation take them from here.

mod value;

use std::collections::BTreeMap;
use std::sync::Arc;

pub use value::{Column, Kind, Value};

use crate::probe::{
    Counts, DelayStatistics, FlowLook, FlowSample, QueueLook, QueueSample, QueueTotals, SojournTimes, StateSample,
    States, Transfer, Whose,
};
use crate::result::{FlowResult, QueueResult, RunResult, TcpResult};
use crate::specification::{FlowSpecification, Specification};
use crate::tcp::sender::{Abort, SenderStatistics, State, TcpInfo};
use crate::time::{Duration, Time};
use crate::traffic::CallQuality;
use crate::video::Playback;

/// The columns of a frame in their order. Those that have type, unit and meaning in common are listed together, each with what
/// a row has in it.
macro_rules! columns {
    ($row:ident: $($kind:ident $unit:literal $meaning:literal { $($name:ident: $value:expr),+ $(,)? })+) => {
        &[$($((
            Column { name: stringify!($name), kind: Kind::$kind, unit: $unit, meaning: $meaning },
            |$row| Value::from($value),
        )),+),+]
    };
}

/// What a row has in a column.
pub type Of<Row> = for<'a> fn(&'a Row) -> Value<'a>;

/// A row of `flows`.
pub struct FlowRow<'a> {
    /// Its place among the flows of the run.
    pub number: usize,
    /// What the run was.
    pub specification: &'a Specification,
    /// What became of the flow.
    pub result: &'a FlowResult,
}

/// The rows of `flows`.
pub fn flow_rows<'a>(specification: &'a Specification, result: &'a RunResult) -> Vec<FlowRow<'a>> {
    let flows = result.flows.iter().enumerate();
    flows.map(|(number, result)| FlowRow { number, specification, result }).collect()
}

impl FlowRow<'_> {
    fn group(&self) -> &FlowSpecification {
        &self.specification.flows[self.result.group]
    }

    fn node(&self, node: usize) -> &str {
        &self.specification.nodes[node]
    }

    fn tcp<T>(&self, select: fn(&TcpResult) -> T) -> Option<T> {
        self.result.tcp.as_ref().map(select)
    }

    fn counts(&self) -> SenderStatistics {
        self.result.statistics()
    }

    fn aborted(&self) -> Option<&'static str> {
        self.tcp(|tcp| match tcp.state {
            State::Aborted(Abort::SynRetries) => Some("syn_retries"),
            State::Aborted(Abort::DataRetries) => Some("data_retries"),
            _ => None,
        })?
    }

    /// None without samples.
    fn rtt<T>(&self, select: fn(SenderStatistics) -> T) -> Option<T> {
        Some(self.counts()).filter(|counts| counts.rtt_samples > 0).map(select)
    }

    fn round_trips(&self, select: fn(&DelayStatistics) -> f64) -> Option<f64> {
        self.result.round_trips.as_deref().map(select)
    }

    fn delays(&self, select: fn(&DelayStatistics) -> f64) -> Option<f64> {
        self.result.delays.as_deref().map(select)
    }

    fn call<T>(&self, select: fn(&CallQuality) -> T) -> Option<T> {
        self.result.call.as_deref().map(select)
    }

    fn video<T>(&self, select: fn(&Playback) -> T) -> Option<T> {
        self.result.video.as_deref().map(select)
    }
}

/// What a row of `flows` has in a column.
pub type OfFlow = for<'a, 'b> fn(&'b FlowRow<'a>) -> Value<'b>;

/// A row a flow.
pub const FLOWS: &[(Column, OfFlow)] = columns! { row:
    U32 "" "number within the run, from 0, in order of declaration" { flow: row.number }
    Text "" "[group of flows](#groupsparquet-one-row-per-run-and-group), sending host, receiving host" {
        flow_group: row.group().group.as_str(),
        sender: row.node(row.group().from),
        receiver: row.node(row.group().to),
    }
    Text "" "congestion control" { algorithm: row.group().source.name.as_str() }
    F64 "s" "when it sent its SYN; for rate-based flows, its first packet" { start: row.result.start }
    F64 "s" "when the SYN-ACK arrived; TCP only" { established: row.tcp(|tcp| tcp.established) }
    F64 "s" "when its last byte was acknowledged; only TCP flows with a `size`" { completed: row.tcp(|tcp| tcp.completed) }
    F64 "s" "when its application aborted it (`stop`), unless it had ended before" { stopped: row.result.stopped }
    Text "" "`syn_retries` or `data_retries` if it gave up, over the whole run" { aborted: row.aborted() }
    U64 "B" "payload delivered in order to the receiving application, each byte once; for `tfrc` all payload that arrives (1)" {
        bytes_delivered: row.result.bytes_delivered,
    }
    U64 "B" "the same over the whole run" { total_bytes_delivered: row.result.total_bytes_delivered }
    U64 "packets" "data packets that queues dropped or links lost, anywhere on the way" {
        packets_dropped: row.result.packets_dropped,
    }
    U64 "" "data segments sent, retransmissions included; for `cbr`, packets" { segments_sent: row.counts().segments_sent }
    U64 "packets" "data segments retransmitted (2)" { retransmissions: row.counts().retransmissions }
    U64 "" "expiries of the retransmission timer with data outstanding, without those of a SYN; for `tfrc`, of its nofeedback \
            timer" {
        timeouts: row.counts().timeouts,
    }
    U64 "" "fast recoveries entered; Tahoe's restarts count" { fast_recoveries: row.counts().fast_recoveries }
    U64 "" "window reductions caused by ECN marks" { mark_reductions: row.counts().mark_reductions }
    U64 "" "window reductions undone because every retransmission was spurious (RACK with DSACK)" {
        undone_reductions: row.counts().undone_reductions,
    }
    F64 "s" "time in which the sender had data and room in its congestion window, and waited for the receiver's window; TCP \
             only (6)" {
        rwnd_limited: row.tcp(|tcp| tcp.statistics.receiver_limited),
    }
    F64 "s" "time in which the sender had room in its congestion window and had sent all that its own buffer holds, which was \
             full; TCP only (6)" {
        sndbuf_limited: row.tcp(|tcp| tcp.statistics.send_buffer_limited),
    }
    U64 "" "RTT samples taken (3); for `tfrc`, one per feedback packet" { rtt_samples: row.counts().rtt_samples }
    F64 "s" "of these samples, all with the same weight" {
        rtt_mean: row.rtt(|counts| counts.rtt_sum.seconds() / counts.rtt_samples as f64),
        rtt_min: row.rtt(|counts| counts.min_rtt),
        rtt_max: row.rtt(|counts| counts.max_rtt),
    }
    F64 "s" "percentiles of the times from request to answer, from a histogram, within 1 %; `ping` only" {
        rtt_p50: row.round_trips(|times| times.p50),
        rtt_p95: row.round_trips(|times| times.p95),
        rtt_p99: row.round_trips(|times| times.p99),
    }
    F64 "s" "mean of the shortest 95 % of them, within 1 %; `ping` only" {
        rtt_trimmed: row.round_trips(|times| times.trimmed_mean),
    }
    U64 "packets" "packets that arrived at the receiver, each of which is a sample of the one-way delay; `cbr` and `voice` only, \
                   0 for others (4)" {
        delay_samples: row.result.delays.as_ref().map_or(0, |delays| delays.packets),
    }
    F64 "s" "of these delays; percentiles are from a histogram, within 1 %" {
        delay_mean: row.delays(|delays| delays.mean),
        delay_min: row.delays(|delays| delays.min),
        delay_p50: row.delays(|delays| delays.p50),
        delay_p95: row.delays(|delays| delays.p95),
        delay_p99: row.delays(|delays| delays.p99),
        delay_max: row.delays(|delays| delays.max),
    }
    F64 "s" "mean of |D|, where D is the delay of a packet less that of the packet that arrived before it (5)" {
        jitter: row.result.delays.as_ref().and_then(|delays| delays.jitter),
    }
    U64 "" "transfers of limited size that it completed in the window: 0 or 1, or those of a group whose connections \
            [arrive](scenarios.md#flows-that-arrive-by-themselves), or messages of `periodic`; null without such" {
        transfers_completed: row.result.transfers.map(|counts| counts.completed),
    }
    U64 "" "transfers begun in the whole run that were not completed at its end, those that were aborted included" {
        transfers_unfinished: row.result.transfers.map(|counts| counts.unfinished),
    }
    F64 "" "time average over the window of the number of transfers begun and not ended" {
        transfers_open: row.result.transfers.map(|counts| counts.open_mean),
    }
    U64 "" "packets that came too late to be played; `voice` only" { late_packets: row.call(|call| call.late) }
    F64 "s" "[mouth-to-ear delay](#calls); `voice` only, null if nothing arrived" {
        mouth_to_ear: row.call(|call| call.mouth_to_ear),
    }
    F64 "" "transmission rating and [mean opinion score](#calls); `voice` only" {
        r_factor: row.call(|call| call.rating),
        mos: row.call(|call| call.score),
    }
    F64 "s" "from the start to the first picture, over the whole run; the mean over viewers that \
             [arrive](scenarios.md#flows-that-arrive-by-themselves); `video` only" {
        video_start_delay: row.video(Playback::start_delay),
    }
    F64 "s" "time for which video played, and stalled after its start; `video` only" {
        video_played: row.video(|seen| seen.played),
        video_stalled: row.video(|seen| seen.stalled),
    }
    U64 "" "stalls that began, and changes of the bit rate from one segment to the next that played; `video` only" {
        video_stalls: row.video(|seen| seen.stalls),
        video_switches: row.video(|seen| seen.switches),
    }
    F64 "Mbit/s" "mean [bit rate](#video) of what played; `video` only, null if nothing did" {
        video_mbps: row.video(|seen| seen.mean_rate().map(|rate| rate / 1e6)),
    }
    Bool "" "whether it is one of the [long-lived flows](#long-lived-flows)" { long_lived: row.result.long_lived }
};

/// Something of a link, which the specification names.
pub struct LinkRow<'a, T> {
    /// What the run was.
    pub specification: &'a Specification,
    /// What was found.
    pub found: &'a T,
}

/// A row for each of them.
pub fn link_rows<'a, T>(specification: &'a Specification, found: &'a [T]) -> Vec<LinkRow<'a, T>> {
    found.iter().map(|found| LinkRow { specification, found }).collect()
}

impl LinkRow<'_, QueueResult> {
    fn discipline(&self) -> Option<&str> {
        self.specification.links[self.found.link].queue.as_ref().map(|queue| queue.name.as_str())
    }

    fn total(&self, select: fn(&Counts) -> u64) -> u64 {
        let statistics = &self.found.statistics;
        select(&statistics.before_window) + select(&statistics.window)
    }

    fn sojourn(&self, select: fn(SojournTimes) -> f64) -> Option<f64> {
        self.found.statistics.sojourn.map(select)
    }
}

/// What a row of a link has in a column.
pub type OfLink<T> = for<'a, 'b> fn(&'b LinkRow<'a, T>) -> Value<'b>;

/// A row a link that has a queue, in order of declaration.
pub const QUEUES: &[(Column, OfLink<QueueResult>)] = columns! { row:
    Text "" "`from->to`" { link: row.specification.link_name(row.found.link) }
    Text "" "its name" { discipline: row.discipline() }
    U64 "packets" "packets that reached the discipline" { arrivals: row.found.statistics.window.arrivals }
    U64 "packets" "packets passed to the device" { departures: row.found.statistics.window.departures }
    U64 "packets" "`drops_overflow` + `drops_early`" { drops: row.found.statistics.window.drops() }
    U64 "packets" "dropped because the queue was full" { drops_overflow: row.found.statistics.window.drops_overflow }
    U64 "packets" "dropped by the discipline before the queue was full" {
        drops_early: row.found.statistics.window.drops_early,
    }
    U64 "packets" "lost by the link's own `drop` or policer (before the queue), or by `loss`, bursts or bit errors (after it), \
                   over the whole run; not in the other counts" {
        total_link_losses: row.found.link_losses,
    }
    U64 "packets" "marked (ECN) instead of dropped" { marks: row.found.statistics.window.marks }
    F64 "packets" "time average (1/T) ∫ q(t) dt of the length q" { mean_packets: row.found.statistics.mean_packets }
    F64 "packets" "sqrt((1/T) ∫ q(t)² dt - mean²)" { sd_packets: row.found.statistics.sd_packets }
    U64 "packets" "maximum length" { max_packets: row.found.statistics.max_packets }
    F64 "B" "the same as `mean_packets`, in bytes" { mean_bytes: row.found.statistics.mean_bytes }
    F64 "s" "time from `enqueue` to `dequeue` of the packets sent in the window; percentiles are from a histogram, within 1 %, \
             the others exact" {
        sojourn_mean: row.sojourn(|times| times.mean),
        sojourn_p50: row.sojourn(|times| times.p50),
        sojourn_p95: row.sojourn(|times| times.p95),
        sojourn_p99: row.sojourn(|times| times.p99),
        sojourn_max: row.sojourn(|times| times.max),
    }
    F64 "" "fraction of T in which the link was transmitting, 0 to 1; of a link whose rate changes, on a trace or by `changes`, \
            what it carried over what it could have carried, unless it has an overhead or cells or sends frames" {
        utilisation: row.found.statistics.busy_share,
    }
    U64 "B" "bytes of departing packets, headers included" { bytes_sent: row.found.statistics.window.bytes_sent }
    U64 "" "[runs of drops](#losses-in-a-row-and-together)" { drop_runs: row.found.statistics.drop_runs }
    U64 "packets" "packets of the longest run" { drop_run_max: row.found.statistics.longest_drop_run }
    U64 "" "[congestion epochs](#losses-in-a-row-and-together)" {
        loss_epochs: row.found.statistics.synchronisation.map_or(0, |found| found.epochs),
    }
    F64 "" "mean share of the long-lived flows that lose packets in an epoch, 0 to 1; null without epochs" {
        loss_synchronisation: row.found.statistics.synchronisation.map(|found| found.share),
    }
    U64 "packets" "over the whole run" {
        total_arrivals: row.total(|counts| counts.arrivals),
        total_departures: row.total(|counts| counts.departures),
        total_drops: row.total(Counts::drops),
    }
    U64 "packets" "in the queue at the end: `total_arrivals` = `total_departures` + `total_drops` + `queued_at_end`" {
        queued_at_end: row.found.statistics.queued_at_end,
    }
};

/// Queues over time.
pub const QUEUE_SERIES: &[(Column, OfLink<QueueSample>)] = columns! { row:
    F64 "s" "when the sample was taken" { time: row.found.time }
    Text "" "`from->to`" { link: row.specification.link_name(row.found.link) }
    U64 "packets" "length of the queue" { packets: row.found.packets }
    U64 "B" "length of the queue" { bytes: row.found.bytes }
    U64 "packets" "packets dropped since 0 s; null without queue statistics" { drops: row.found.drops }
};

/// Flows over time, but those that only send.
pub const FLOW_SERIES: &[(Column, Of<FlowSample>)] = columns! { row:
    F64 "s" "when the sample was taken" { time: row.time }
    U32 "" "number within the run" { flow: row.flow }
    U64 "B" "congestion window; of `tfrc` its rate times the RTT" { cwnd: row.cwnd }
    U64 "B" "slow start threshold; null before the first congestion event" { ssthresh: row.ssthresh }
    F64 "s" "latest RTT sample; null before the first" { rtt: row.rtt }
    U64 "B" "payload delivered since 0 s" { bytes_delivered: row.bytes_delivered }
    U64 "B" "the same and what has arrived and waits for a gap to be filled" { bytes_received: row.bytes_received }
};

/// A row of `transfers`.
pub struct TransferRow<'a> {
    /// The group of its flow.
    pub group: &'a str,
    /// The transfer.
    pub transfer: &'a Transfer,
}

/// The rows of `transfers`.
pub fn transfer_rows<'a>(specification: &'a Specification, result: &'a RunResult) -> Vec<TransferRow<'a>> {
    let group = |transfer: &Transfer| specification.flows[result.flows[transfer.flow as usize].group].group.as_str();
    result.transfers.iter().map(|transfer| TransferRow { group: group(transfer), transfer }).collect()
}

impl TransferRow<'_> {
    fn time(&self) -> Duration {
        self.transfer.completed.since(self.transfer.start)
    }
}

/// What a row of `transfers` has in a column.
pub type OfTransfer = for<'a, 'b> fn(&'b TransferRow<'a>) -> Value<'b>;

/// A row a transfer that was completed, in order of completion.
pub const TRANSFERS: &[(Column, OfTransfer)] = columns! { row:
    U32 "" "the flow, as in `flows.parquet`" { flow: row.transfer.flow }
    Text "" "its group" { flow_group: row.group }
    Text "" "`transfer`, `request` (of a video each segment), `page` or `report` (a message of `periodic`); metrics of \
             completion time and slowdown are of transfers, page load times of pages, response times of requests, message times \
             of reports" {
        kind: row.transfer.kind.name(),
    }
    F64 "s" "when its connection sent its SYN; of a page when its first connection did; of a request when the client wrote it" {
        start: row.transfer.start,
    }
    F64 "s" "when its last byte was acknowledged; of requests and pages, when the last byte of the response, or of the last \
             object, had arrived at the client" {
        completed: row.transfer.completed,
    }
    U64 "B" "payload; of requests and pages, of the responses" { bytes: row.transfer.bytes }
    F64 "s" "`completed` - `start`" { completion_time: row.time() }
    F64 "s" "2 τ + 8 (`bytes` + n h) / C, which no queue, window or loss adds to: τ is the base round-trip time (propagation \
             there and back), n = ⌈`bytes` / segment size⌉, h the headers of a segment, C the rate of the slowest link there, \
             each as at 0 s. One τ is for the handshake, the other for the last segment and its acknowledgement, or for a \
             page's first request and response. A request has one τ, on an open connection." {
        ideal_time: row.transfer.ideal,
    }
    F64 "" "`completion_time` / `ideal_time`" { slowdown: row.time().seconds() / row.transfer.ideal.seconds() }
    U64 "packets" "segments retransmitted; 0 for requests and pages, whose connections `flows.parquet` counts" {
        retransmissions: row.transfer.retransmissions,
    }
    U64 "" "expiries of the retransmission timer, without those of the SYN; 0 for requests and pages" {
        timeouts: row.transfer.timeouts,
    }
    U64 "" "how many transfers of its class of sizes the row stands for" { stands_for: row.transfer.stands_for }
};

/// A value that a hook of a user's algorithm recorded, or one of an inner state. Names are shared: there may be millions of values.
#[derive(Debug, PartialEq)]
pub struct RecordedValue {
    /// When the hook was called, or the sample taken, in seconds.
    pub time: f64,
    /// `flow` or `queue`.
    pub kind: &'static str,
    /// The number of the flow, or the link of the queue.
    pub which: Arc<str>,
    /// The name under which it was recorded.
    pub measure: Arc<str>,
    /// What was recorded.
    pub value: f64,
}

/// Inner states as rows of `recorded`.
pub fn state_rows(specification: &Specification, states: &States) -> Vec<RecordedValue> {
    let mut names: BTreeMap<Whose, Arc<str>> = BTreeMap::new();
    let row = |sample: &StateSample| {
        let (kind, which) = match sample.whose {
            Whose::Flow(flow) => ("flow", names.entry(sample.whose).or_insert_with(|| flow.to_string().into())),
            Whose::Link(link) => {
                ("queue", names.entry(sample.whose).or_insert_with(|| specification.link_name(link).into()))
            }
        };
        let (which, measure) = (Arc::clone(which), Arc::clone(&sample.name));
        RecordedValue { time: sample.time.seconds(), kind, which, measure, value: sample.value }
    };
    states.samples.iter().map(row).collect()
}

/// Values that hooks recorded, and samples in long form.
pub const RECORDED: &[(Column, Of<RecordedValue>)] = columns! { row:
    F64 "s" "when the sample was taken, or the value recorded" { time: row.time }
    Text "" "`queue` and the link, or `flow` and its number" { kind: row.kind, which: &*row.which }
    Text "" "one of those below, that of a value of an [inner state](#inner-states), or the name under which \
             [a user's algorithm](your-own-algorithm.md#what-it-sees-over-time) records values, at times of its own" {
        measure: &*row.measure,
    }
    F64 "" "its value" { value: row.value }
};

impl LinkRow<'_, QueueLook> {
    fn total<T>(&self, select: fn(QueueTotals) -> T) -> Option<T> {
        self.found.totals.map(select)
    }
}

/// Queues at a moment of a run that is watched; what they did is null if queues are not measured.
pub const MOMENT_QUEUES: &[(Column, OfLink<QueueLook>)] = columns! { row:
    Text "" "`from->to`" { link: row.specification.link_name(row.found.link) }
    U64 "packets" "length of the queue" { packets: row.found.packets }
    U64 "B" "length of the queue" { bytes: row.found.bytes }
    U64 "packets" "since 0 s" {
        drops: row.total(|totals| totals.counts.drops()),
        marks: row.total(|totals| totals.counts.marks),
        departures: row.total(|totals| totals.counts.departures),
    }
    U64 "B" "since 0 s" { bytes_sent: row.total(|totals| totals.counts.bytes_sent) }
    F64 "s" "sojourn times of the packets sent since 0 s, added up" { sojourn_sum: row.total(|totals| totals.sojourn_sum) }
};

/// Flows at a moment of a run that is watched; null for windows and RTTs of those that only send.
pub const MOMENT_FLOWS: &[(Column, Of<FlowLook>)] = columns! { row:
    U64 "B" "payload delivered since 0 s" { bytes_delivered: row.bytes_delivered }
    U64 "B" "congestion window" { cwnd: row.sample.map(|sample| sample.cwnd) }
    F64 "s" "latest RTT sample" { rtt: row.sample.map(|sample| sample.rtt) }
};

/// The state of a connection at an instant.
pub struct Connection {
    /// The instant.
    pub time: Time,
    /// The number of its flow.
    pub flow: usize,
    /// The state of its sender.
    pub info: TcpInfo,
    /// The latest RTT sample.
    pub latest_rtt: Option<Duration>,
    /// Payload bytes delivered since the start of the run.
    pub bytes_delivered: u64,
}

/// The states of connections over time, by the names of Linux's `tcp_info` where that has them; counts are since the start of
/// the run.
pub const CONNECTIONS: &[(Column, Of<Connection>)] = columns! { row:
    F64 "s" "when it was looked at" { time: row.time }
    U32 "" "number within the run" { flow: row.flow }
    U8 "" "states of connection and recovery" {
        state: row.info.state.number_in_linux(),
        ca_state: row.info.repair.number_in_linux(),
    }
    U64 "" "consecutive timeouts" { retransmits: row.info.retries }
    U32 "" "doublings of the timeout" { backoff: row.info.backoff }
    F64 "s" "retransmission timeout" { rto: row.info.rto }
    U64 "B" "payload of a full segment" { snd_mss: row.info.mss }
    U64 "" "segments not cumulatively acknowledged; of these, SACKed, marked lost, retransmitted" {
        unacked: row.info.outstanding,
        sacked: row.info.sacked,
        lost: row.info.lost,
        retrans: row.info.retransmitted,
    }
    F64 "s" "smoothed RTT and its variation" { rtt: row.info.srtt, rttvar: row.info.rttvar }
    U64 "B" "slow start threshold and congestion window" { snd_ssthresh: row.info.ssthresh, snd_cwnd: row.info.cwnd }
    U64 "" "segments retransmitted" { total_retrans: row.info.retransmissions }
    U64 "B/s" "pacing rate" { pacing_rate: row.info.pacing_rate.map(|rate| rate.0 / 8) }
    U64 "B" "payload cumulatively acknowledged" { bytes_acked: row.info.bytes_acknowledged }
    F64 "s" "least RTT so far" { min_rtt: row.info.min_rtt }
    U64 "" "data segments sent" { data_segs_out: row.info.segments_sent }
    F64 "s" "latest RTT sample" { latest_rtt: row.latest_rtt }
    U64 "B" "payload delivered" { bytes_delivered: row.bytes_delivered }
};

/// The columns of every frame, by its name.
pub fn frames() -> [(&'static str, Vec<Column>); 9] {
    fn of<Get>(listed: &[(Column, Get)]) -> Vec<Column> {
        listed.iter().map(|(column, _)| *column).collect()
    }
    [
        ("flows", of(FLOWS)),
        ("queues", of(QUEUES)),
        ("queue_series", of(QUEUE_SERIES)),
        ("flow_series", of(FLOW_SERIES)),
        ("transfers", of(TRANSFERS)),
        ("recorded", of(RECORDED)),
        ("moment_queues", of(MOMENT_QUEUES)),
        ("moment_flows", of(MOMENT_FLOWS)),
        ("connections", of(CONNECTIONS)),
    ]
}
