//! What an agent may see: the registry of features.

use serde_json::json;
use sojourn_engine::time::{Duration, Time};

use crate::action::Of;
use crate::observer::{Measured, Observer, share};
use crate::queue_observer::QueueObserver;

/// A feature of a flow or of a queue.
#[derive(Debug)]
pub struct Feature {
    /// The name in a scenario.
    pub name: &'static str,
    pub unit: &'static str,
    /// An observation is the value between these bounds, divided by the scale.
    pub least: f64,
    pub most: f64,
    pub scale: f64,
    pub meaning: &'static str,
    /// The fields of Linux's `tcp_info` that show it; empty if none does.
    pub tcp_info: &'static str,
    /// Steps in which these fields count, in the feature's unit; 0 if they are as fine as the feature.
    step: f64,
    value: Value,
}

/// How a feature is computed.
#[derive(Debug)]
enum Value {
    Flow(fn(&FlowSeen<'_>) -> f64),
    Queue(fn(&QueueSeen<'_>) -> f64),
}

/// What the features of a flow are computed from.
#[derive(Debug)]
pub struct FlowSeen<'a> {
    pub now: Time,
    pub observer: &'a Observer,
    pub measured: &'a Measured,
    /// The rate at which the flow is paced, in bits a second; zero without pacing.
    pub pacing_rate: f64,
}

/// What the features of a queue are computed from.
#[derive(Debug)]
pub struct QueueSeen<'a> {
    pub observer: &'a QueueObserver,
    pub measured: &'a Measured,
    /// The probability that was set.
    pub probability: f64,
}

/// What features are computed from.
#[derive(Debug)]
pub enum Seen<'a> {
    Flow(FlowSeen<'a>),
    Queue(QueueSeen<'a>),
}

impl FlowSeen<'_> {
    fn segments(&self, bytes: u64) -> f64 {
        bytes as f64 / self.observer.window.mss as f64
    }
}

fn seconds(time: Option<Duration>) -> f64 {
    time.map_or(0.0, Duration::seconds)
}

/// Microseconds, in seconds.
const MICROSECOND: f64 = 1e-6;

macro_rules! features {
    ($list:ident of $of:ident; $($name:ident $unit:literal $least:literal..$most:literal /$scale:literal $meaning:literal
        $(shown $tcp_info:literal by $step:expr)?; $seen:ident => $value:expr;)*) => {
        const $list: &[Feature] = &[$(Feature {
            name: stringify!($name),
            unit: $unit,
            least: $least,
            most: $most,
            scale: $scale,
            meaning: $meaning,
            tcp_info: concat!($($tcp_info)?),
            step: 0.0 $(+ $step)?,
            value: Value::$of(|$seen| $value),
        }),*];
    };
}

// Bounds and scales of the first six are those of PCC-RL (Jay et al., ICML 2019; src/common/sender_obs.py, SENDER_MI_METRICS), but that
// its rates end at 1 Gbit/s, and its latency ratio begins at 1, although it is 0 without a sample there, too.
features! {
    FLOW of Flow;
    send_rate "bit/s" 0.0..1e11 /1e7 "payload sent, repetitions included, over the interval"
        shown "tcpi_bytes_sent" by 0.0; seen => seen.measured.send_rate;
    delivery_rate "bit/s" 0.0..1e11 /1e7 "payload newly delivered over the interval"
        shown "tcpi_delivered" by 0.0; seen => seen.measured.throughput;
    latency_ratio "" 0.0..10000.0 /1.0 "mean RTT of the interval over the least mean of an interval so far (Jay et al. 2019)";
        seen => if seen.measured.least_mean > 0.0 { seen.measured.rtt / seen.measured.least_mean } else { 1.0 };
    latency_inflation "s/s" -1.0..10.0 /1.0 "mean RTT of the second half of the interval's samples less that of the first, over the interval (PCC-RL, sender_obs.py)";
        seen => seen.measured.inflation;
    send_ratio "" 0.0..1000.0 /1.0 "payload sent over payload delivered; 1 if that is 1000 or more, or nothing was delivered (Jay et al. 2019; PCC-RL, sender_obs.py)"
        shown "tcpi_bytes_sent, tcpi_delivered" by 0.0;
        seen => {
            let (sent, delivered) = (seen.measured.send_rate, seen.measured.throughput);
            if delivered > 0.0 && sent < 1000.0 * delivered { sent / delivered } else { 1.0 }
        };
    loss_ratio "" 0.0..1.0 /1.0 "bytes found lost, of those lost or delivered in the interval"; seen => seen.measured.loss;
    rtt_gradient "s/s" -10.0..10.0 /1.0 "slope of the line of least squares through the interval's RTTs (as in Dong et al., NSDI 2018)";
        seen => seen.measured.gradient;
    rtt_mean "s" 0.0..100.0 /0.1 "mean RTT of the interval; 0 without a sample"; seen => seen.measured.rtt;
    rtt_min "s" 0.0..100.0 /0.1 "least RTT of the interval; 0 without a sample"; seen => seen.measured.least_rtt;
    rtt_max "s" 0.0..100.0 /0.1 "greatest RTT of the interval; 0 without a sample"; seen => seen.measured.greatest_rtt;
    rtt_last "s" 0.0..100.0 /0.1 "latest RTT of the connection"; seen => seconds(seen.observer.last_rtt);
    base_rtt "s" 0.0..100.0 /0.1 "least RTT of the connection so far"
        shown "tcpi_min_rtt" by MICROSECOND; seen => seconds(seen.observer.base_rtt);
    srtt "s" 0.0..100.0 /0.1 "smoothed RTT (RFC 6298)" shown "tcpi_rtt" by MICROSECOND; seen => seen.observer.srtt.seconds();
    mark_ratio "" 0.0..1.0 /1.0 "bytes that arrived with a congestion mark, of those delivered in the interval"
        shown "tcpi_delivered_ce, tcpi_delivered" by 0.0; seen => seen.measured.marks;
    retransmit_ratio "" 0.0..1.0 /1.0 "payload sent again, of that sent in the interval"
        shown "tcpi_bytes_retrans, tcpi_bytes_sent" by 0.0; seen => share(seen.observer.sent_again, seen.observer.sent);
    in_flight "segments" 0.0..1e6 /100.0 "sent and neither acknowledged nor known to be lost"
        shown "tcpi_unacked, tcpi_sacked, tcpi_lost, tcpi_retrans" by 1.0; seen => seen.segments(seen.observer.in_flight);
    acknowledged "segments" 0.0..1e6 /100.0 "payload acknowledged in order in the interval"
        shown "tcpi_bytes_acked" by 0.0; seen => seen.segments(seen.observer.acknowledged);
    cwnd "segments" 0.0..1e6 /100.0 "congestion window" shown "tcpi_snd_cwnd" by 1.0; seen => seen.segments(seen.observer.window.cwnd);
    ssthresh "segments" 0.0..1e6 /100.0 "slow start threshold; its upper bound before the first congestion"
        shown "tcpi_snd_ssthresh" by 1.0;
        seen => if seen.observer.window.ssthresh == u64::MAX { 1e6 } else { seen.segments(seen.observer.window.ssthresh) };
    mss "bytes" 0.0..65535.0 /1500.0 "payload of a full segment" shown "tcpi_snd_mss" by 1.0; seen => seen.observer.window.mss as f64;
    pacing_rate "bit/s" 0.0..1e11 /1e7 "rate at which the flow is paced; 0 without pacing"
        shown "tcpi_pacing_rate" by 8.0; seen => seen.pacing_rate;
    rate_sample "bit/s" 0.0..1e11 /1e7 "latest delivery rate of the path (draft-cheng-iccrg-delivery-rate-estimation-02)"
        shown "tcpi_delivery_rate" by 8.0; seen => 8.0 * seen.observer.rate_sample;
    greatest_rate "bit/s" 0.0..1e11 /1e7 "greatest delivery_rate of an interval so far (Abbasloo et al., SIGCOMM 2020: maximum throughput)"
        shown "tcpi_delivered" by 0.0; seen => seen.measured.greatest_rate;
    app_limited "" 0.0..1.0 /1.0 "acknowledgements whose rate sample the application limited, of those of the interval";
        seen => share(seen.observer.app_limited, seen.observer.acknowledgements);
    in_recovery "" 0.0..1.0 /1.0 "1 while losses are repaired or marks reduce the window, else 0"
        shown "tcpi_ca_state" by 1.0; seen => f64::from(u8::from(seen.observer.in_recovery));
    in_phase "s" 0.0..100.0 /1.0 "time since slow start, congestion avoidance or recovery began, whichever goes on (RFC 5681)";
        seen => seconds(seen.observer.phase_since.map(|then| seen.now.since(then)));
    timeouts "" 0.0..100.0 /1.0 "retransmission timeouts in the interval"; seen => seen.observer.timeouts as f64;
    since_loss "s" 0.0..100.0 /1.0 "time since a segment was last found lost, or since the connection opened";
        seen => seconds(seen.observer.lost_at.or(seen.observer.opened).map(|then| seen.now.since(then)));
    interval "s" 0.0..100.0 /0.1 "length of the interval" shown "polling" by 0.0; seen => seen.measured.seconds;
}

features! {
    QUEUE of Queue;
    queue_packets "packets" 0.0..1e6 /100.0 "packets in the queue"; seen => seen.observer.packets as f64;
    queue_bytes "bytes" 0.0..1e9 /1e5 "bytes in the queue, headers included"; seen => seen.observer.bytes as f64;
    queue_delay "s" 0.0..100.0 /0.1 "bytes in the queue over the link's rate (RFC 8033 section 5.2: an estimate of the delay)";
        seen => if seen.observer.rate > 0.0 { 8.0 * seen.observer.bytes as f64 / seen.observer.rate } else { 0.0 };
    sojourn_mean "s" 0.0..100.0 /0.1 "mean sojourn time of the packets that left in the interval; 0 without one"; seen => seen.measured.rtt;
    sojourn_last "s" 0.0..100.0 /0.1 "sojourn time of the latest packet that left"; seen => seconds(seen.observer.last_sojourn);
    arrival_rate "bit/s" 0.0..1e12 /1e7 "what arrived over the interval, headers included";
        seen => seen.measured.send_rate;
    departure_rate "bit/s" 0.0..1e12 /1e7 "what left over the interval"; seen => seen.measured.throughput;
    utilisation "" 0.0..1.0 /1.0 "departure_rate over the link's rate";
        seen => if seen.observer.rate > 0.0 { seen.measured.throughput / seen.observer.rate } else { 0.0 };
    drop_ratio "" 0.0..1.0 /1.0 "arrivals of the interval that were dropped, by the agent or since the buffer was full"; seen => seen.measured.loss;
    marked_ratio "" 0.0..1.0 /1.0 "arrivals of the interval that the agent marked"; seen => seen.measured.marks;
    drop_probability "" 0.0..1.0 /1.0 "the probability that was set"; seen => seen.probability;
    link_rate "bit/s" 0.0..1e12 /1e7 "the link's rate"; seen => seen.observer.rate;
}

/// The features of flows, or of queues.
fn all(of: Of) -> &'static [Feature] {
    if of == Of::Flow { FLOW } else { QUEUE }
}

impl Feature {
    /// The feature of this name.
    ///
    /// # Errors
    /// One line that lists what there is.
    pub fn named(name: &str, of: Of, only_tcp_info: bool) -> Result<&'static Feature, String> {
        let found = all(of).iter().find(|feature| feature.name == name);
        let feature = found.ok_or_else(|| {
            let names: Vec<_> = all(of).iter().map(|feature| feature.name).collect();
            format!("observe: unknown feature {name:?} (there are: {})", names.join(", "))
        })?;
        if only_tcp_info && feature.tcp_info.is_empty() {
            return Err(format!("observe: {name}: a kernel's tcp_info does not show it (only_tcp_info = true)"));
        }
        Ok(feature)
    }

    /// The bounds of what is observed.
    pub fn bounds(&self) -> (f32, f32) {
        ((self.least / self.scale) as f32, (self.most / self.scale) as f32)
    }

    /// As it is observed; with `only_tcp_info` rounded down to the steps of its fields.
    pub fn observe(&self, seen: &Seen<'_>, only_tcp_info: bool) -> f32 {
        let value = match (&self.value, seen) {
            (Value::Flow(value), Seen::Flow(seen)) => value(seen),
            (Value::Queue(value), Seen::Queue(seen)) => value(seen),
            _ => unreachable!("features are named by what has them"),
        };
        let value = if only_tcp_info && self.step > 0.0 { libm::floor(value / self.step) * self.step } else { value };
        (value.clamp(self.least, self.most) / self.scale) as f32
    }
}

/// The features, for the catalogue.
pub fn catalogue() -> serde_json::Value {
    let listed = FLOW.iter().chain(QUEUE).map(|feature| {
        json!({
            "name": feature.name,
            "of": if matches!(feature.value, Value::Flow(_)) { "flow" } else { "queue" },
            "unit": feature.unit,
            "least": feature.least,
            "most": feature.most,
            "scale": feature.scale,
            "step": feature.step,
            "meaning": feature.meaning,
            "tcp_info": feature.tcp_info,
        })
    });
    listed.collect()
}
