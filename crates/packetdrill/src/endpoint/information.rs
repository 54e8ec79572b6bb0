//! What `TCP_INFO` reports: Linux include/uapi/linux/tcp.h.

use sojourn_engine::tcp::scoreboard::FIRST_DATA;
use sojourn_engine::time::{Duration, Time};

use super::{Endpoint, State};

/// The congestion states and states of a connection by name, and flags: include/uapi/linux/tcp.h, include/net/tcp_states.h.
const CONSTANTS: [(&str, i64); 19] = [
    ("TCP_CA_Open", 0),
    ("TCP_CA_Disorder", 1),
    ("TCP_CA_CWR", 2),
    ("TCP_CA_Recovery", 3),
    ("TCP_CA_Loss", 4),
    ("TCP_ESTABLISHED", 1),
    ("TCP_SYN_SENT", 2),
    ("TCP_SYN_RECV", 3),
    ("TCP_FIN_WAIT1", 4),
    ("TCP_FIN_WAIT2", 5),
    ("TCP_TIME_WAIT", 6),
    ("TCP_CLOSE", 7),
    ("TCP_CLOSE_WAIT", 8),
    ("TCP_LAST_ACK", 9),
    ("TCP_LISTEN", 10),
    ("TCP_CLOSING", 11),
    ("TCPI_OPT_TIMESTAMPS", 1),
    ("TCPI_OPT_SACK", 2),
    ("TCPI_OPT_WSCALE", 4),
];

/// The window's threshold before the first loss: include/net/tcp.h, TCP_INFINITE_SSTHRESH.
const INFINITE: i64 = 0x7fff_ffff;

/// What a receiver assumes of segments before any arrives: include/net/tcp.h, TCP_MSS_DEFAULT.
const LEAST_ARRIVAL: u64 = 536;

impl State {
    fn number_in_linux(self) -> i64 {
        match self {
            State::Established => 1,
            State::SynSent => 2,
            State::SynReceived => 3,
            State::FinWait1 => 4,
            State::FinWait2 => 5,
            State::TimeWait => 6,
            State::Closed => 7,
            State::CloseWait => 8,
            State::LastAck => 9,
            State::Listen => 10,
            State::Closing => 11,
        }
    }
}

/// A constant of the kernel's headers.
pub fn constant(name: &str) -> Option<i64> {
    CONSTANTS.iter().find(|(known, _)| *known == name).map(|(_, value)| *value)
}

impl Endpoint {
    /// A field of `TCP_INFO` or a constant that scripts compare it with; `None` for those that are not known.
    pub fn information(&self, name: &str, now: Time) -> Option<i64> {
        if let Some(value) = constant(name) {
            return Some(value);
        }
        let stream = self.stream.as_ref()?;
        let info = stream.sender.info();
        let microseconds = |seconds: Option<f64>| seconds.map_or(0, |seconds| (seconds * 1e6) as i64);
        let in_microseconds = |duration: Duration| duration.0 / 1_000_000;
        let milliseconds_since = |then: Time| now.since(then).0 / 1_000_000_000;
        let (delivered, received) = match &self.accurate_ecn {
            Some(state) => (state.delivered(), state.received()),
            None => Default::default(),
        };
        let value = match name {
            "tcpi_rcv_mss" => self.activity.largest_arrival.max(LEAST_ARRIVAL),
            "tcpi_reordering" => self.flight.reordering,
            "tcpi_reord_seen" => self.flight.reorderings,
            "tcpi_delivered_ce" => delivered.0,
            "tcpi_delivered_e1_bytes" => delivered.1[0].into(),
            "tcpi_delivered_ce_bytes" => delivered.1[1].into(),
            "tcpi_delivered_e0_bytes" => delivered.1[2].into(),
            "tcpi_received_ce" => received.0,
            "tcpi_received_e1_bytes" => received.1[0].into(),
            "tcpi_received_ce_bytes" => received.1[1].into(),
            "tcpi_received_e0_bytes" => received.1[2].into(),
            "tcpi_last_data_recv" => milliseconds_since(self.activity.received_at),
            "tcpi_last_data_sent" => milliseconds_since(self.activity.sent_at),
            "tcpi_last_ack_recv" => milliseconds_since(self.activity.acknowledged_at),
            "tcpi_busy_time" => in_microseconds(self.activity.busy(now)),
            "tcpi_rwnd_limited" => in_microseconds(stream.sender.statistics_at(now).receiver_limited),
            "tcpi_notsent_bytes" => self.unsent(),
            "tcpi_state" => return Some(self.state.number_in_linux()),
            "tcpi_snd_cwnd" => info.cwnd / info.mss,
            "tcpi_snd_ssthresh" => return Some(info.ssthresh.map_or(INFINITE, |bytes| (bytes / info.mss) as i64)),
            "tcpi_ca_state" => {
                let is_disordered = info.repair.number_in_linux() == 0 && info.sacked > 0;
                return Some(if is_disordered { 1 } else { i64::from(info.repair.number_in_linux()) });
            }
            "tcpi_unacked" => info.outstanding,
            "tcpi_sacked" => info.sacked,
            "tcpi_lost" => info.lost,
            "tcpi_retrans" => info.retransmitted,
            "tcpi_total_retrans" => info.retransmissions,
            "tcpi_retransmits" => info.retries,
            "tcpi_backoff" => u64::from(info.backoff),
            "tcpi_snd_mss" => info.mss,
            "tcpi_advmss" => u64::from(self.offer.mss) - if self.agreed.timestamps { 12 } else { 0 },
            "tcpi_rtt" => return Some(microseconds(info.srtt)),
            "tcpi_rttvar" => return Some(microseconds(info.rttvar)),
            "tcpi_min_rtt" => info.min_rtt.map_or(0, |rtt| rtt.0 / 1_000_000),
            "tcpi_bytes_received" => stream.receiver.received(FIRST_DATA),
            "tcpi_bytes_acked" => self.acknowledged.saturating_sub(FIRST_DATA),
            "tcpi_options" => {
                u64::from(self.agreed.timestamps)
                    | u64::from(self.agreed.sack) << 1
                    | u64::from(self.agreed.scale.is_some()) << 2
            }
            _ => return None,
        };
        Some(value as i64)
    }
}
