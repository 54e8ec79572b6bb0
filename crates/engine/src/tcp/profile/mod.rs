//! Stack profiles: all of TCP except the congestion control. The defaults of the settings are the profile `rfc`, which
//! follows the current standards. Other profiles list the settings that differ and their source, and the parameters of
//! congestion controls whose defaults differ.

/// Lists settings of a profile, as `parameters!` does: the value and its source.
macro_rules! settings {
    ($($name:ident = $value:expr, $source:expr;)*) => {
        vec![$(ProfileSetting { name: stringify!($name), value: serde_json::json!($value), source: $source },)*]
    };
}

/// Lists defaults that hold for one congestion control only, of which kind and for which.
macro_rules! defaults {
    ($($kind:ident $algorithm:ident: $parameter:ident = $value:expr, $source:expr;)*) => {
        vec![$(AlgorithmDefault {
            algorithm: stringify!($algorithm),
            kind: super::DefaultKind::$kind,
            parameter: stringify!($parameter),
            value: serde_json::json!($value),
            source: $source,
        },)*]
    };
}

mod linux;
mod named;
mod ns2;
mod ns3;

use serde_json::Value;

use crate::packet::MAXIMUM_SACK_BLOCKS;
use crate::parameter::{check_limits, read};
use crate::time::Duration;
use crate::units::{Bytes, Rate};

use super::advertisement::Advertised;
use super::congestion::Needs;
use super::ecn::{Codepoint, EcnKind};
use super::flight::{FlightSize, Phase};
use super::receiver::ReceiverProfile;
use super::recovery::RecoveryKind;
use super::rto::RtoLimits;
use super::scoreboard::MOST_SEGMENTS;
use super::window::Window;

pub use named::NamedProfile;

choice! {
    /// What window growth counts.
    pub enum Counting {
        /// The recommendation of RFC 5681 section 3.1: in slow start at most one segment per acknowledgement, in
        /// congestion avoidance all bytes acknowledged.
        Recommended = "recommended",
        /// At most one segment per acknowledgement, always (RFC 5681 equations 2 and 3).
        Acknowledgements = "acknowledgements",
        /// All bytes acknowledged, in slow start at most two segments: appropriate byte counting (RFC 3465).
        Bytes = "bytes",
        /// All that an acknowledgement of new data newly delivers, cumulatively or by SACK blocks, also after a timeout and at
        /// the end of fast recovery, but not where one begins. ssthresh is whole segments.
        Segments = "segments",
    }
}

impl Counting {
    /// The credit for growth of an acknowledgement outside of fast recovery.
    pub fn credit(self, acked: u64, window: &Window, phase: Phase) -> u64 {
        let mss = window.mss;
        match (self, window.in_slow_start()) {
            (Counting::Acknowledgements, _) | (Counting::Recommended, true) => acked.min(mss),
            // RFC 3465 sections 2.2 and 2.3: in slow start at most two segments, one after a timeout.
            (Counting::Bytes, true) if phase == Phase::Loss => acked.min(mss),
            (Counting::Bytes, true) => acked.min(2 * mss),
            // An acknowledgement that covers a repaired hole counts for at most one window.
            (Counting::Recommended | Counting::Bytes, false) => acked.min(window.cwnd),
            (Counting::Segments, _) => acked,
        }
    }
}

choice! {
    /// What a round-trip time sample measures.
    pub enum RttSamples {
        /// The time since the echoed timestamp, which is that of the first segment that a delayed acknowledgement covers
        /// (RFC 7323 section 4.3); without timestamps, one segment at a time (RFC 6298 section 3).
        Echo = "echo",
        /// The time since segments were sent: of those newly acknowledged or SACKed, the first for the retransmission
        /// timeout and the last for congestion control.
        Segments = "segments",
    }
}

choice! {
    /// The round-trip time that congestion controls are given.
    pub enum ControlRtt {
        /// The sample of the acknowledgement.
        Sample = "sample",
        /// The smoothed round-trip time after it.
        Smoothed = "smoothed",
    }
}

choice! {
    /// How closely segments follow the pacing rate.
    pub enum PacingClock {
        /// A segment waits for the duration of the one before, also after a pause.
        Exact = "exact",
        /// As in a host whose timers are late: after a pause the next wait is shortened by as much, at most by half. The
        /// first segments of a connection are not paced.
        Host = "host",
    }
}

parameters! {
    #[derive(serde::Serialize)]
    pub struct StackProfile {
        segment_size: Bytes = Bytes(1448), in 1..65000, "Payload of a full segment (SMSS)", "1500-byte IP packets less 20 IP, 20 TCP and 12 timestamp bytes: RFC 9293 section 3.7.1, RFC 7323 section 3";
        header_size: Bytes = Bytes(40), in 0..200, "Header bytes of a packet before options", "RFC 791 and RFC 9293 section 3.1: 20 bytes each without options";
        initial_window: u64 = 10, in 1..1000000, "Initial congestion window in segments", "RFC 6928 section 2";
        initial_window_after_syn_loss: u64 = 1, in 1..1000000, "Initial congestion window in segments after more than one retransmission of the SYN", "RFC 5681 section 3.1 and RFC 6928 section 2: one segment, after more than one retransmission";
        counting: Counting = Counting::Recommended, "What window growth counts", "RFC 5681 section 3.1: min(N, SMSS) for each acknowledgement in slow start, bytes in congestion avoidance";
        delayed_ack_count: u64 = 2, in 1..1000, "Acknowledge at least every n full segments", "RFC 5681 section 4.2: at least every second";
        quick_acks: u64 = 0, in 0..255, "Acknowledge the first n segments immediately", "RFC 5681 section 4.2 has no such phase";
        quick_acks_on_marks: u64 = 0, in 0..255, "Acknowledge n segments immediately when the first mark is echoed, and the segment that says that the window was reduced; 0 for neither", "RFC 3168 section 6.1.3 asks for no acknowledgement at once";
        receive_window_grows: bool = false, "The receive window grows with what the application reads, from 64 KB to the receive buffer; each segment by which it grows is acknowledged immediately", "RFC 5681 section 4.2 has no such phase";
        delayed_ack_timeout: Duration = Duration::from_milliseconds(200), "Maximum delay of an acknowledgement", "RFC 5681 section 4.2: less than 500 ms; 200 ms as in BSD and ns-3";
        initial_rto: Duration = Duration::from_seconds(1), in 1e6..1e18, "Retransmission timeout of the first SYN and before any RTT sample", "RFC 6298 (2.1)";
        rto_after_syn_loss: Duration = Duration::from_seconds(3), "Initial retransmission timeout of data after a lost SYN", "RFC 6298 (5.7)";
        minimum_rto: Duration = Duration::from_seconds(1), "Minimum retransmission timeout", "RFC 6298 (2.4)";
        maximum_rto: Duration = Duration::from_seconds(60), in 1e6..1e18, "Maximum retransmission timeout", "RFC 6298 (2.5): at least 60 s";
        clock_granularity: Duration = Duration::from_milliseconds(1), "Clock granularity G in the timeout", "RFC 6298 section 4: 100 ms or finer; 1 ms is the usual timestamp clock (RFC 7323 section 5.4)";
        timer_tick: Duration = Duration::ZERO, in 0..1e12, "Tick of the host's timers, which expire up to an eighth of their time late; 0 for exact timers", "RFC 6298 section 4 has no requirement; Linux kernel/time/timer.c, calc_wheel_index";
        timestamp_clock: Duration = Duration::ZERO, "Tick of the timestamp clock, to which RTT samples are rounded; 0 for exact samples; samples of zero ticks are not used", "exact by default: RFC 7323 section 5.4 allows any tick from 1 ms down";
        syn_retries: u64 = 7, in 0..30, "Retransmissions of a SYN before giving up", "RFC 9293 section 3.8.3 (MUST-23): R2 for a SYN at least 3 minutes: 1+2+4+8+16+32+60+60 s";
        data_retries: u64 = 8, in 0..30, "Retransmissions in a row of one segment before the connection is aborted", "RFC 9293 section 3.8.3 (SHLD-11): R2 at least 100 s: with the 1 s minimum 8 retries last past 100 s";
        timestamps: bool = true, "Use the timestamp option: 12 bytes on every segment, an RTT sample for every acknowledgement", "RFC 7323 section 3";
        rtt_samples: RttSamples = RttSamples::Echo, "What a round-trip time sample measures", "RFC 7323 section 4.1, RFC 6298 section 3; Linux tcp_input.c, tcp_clean_rtx_queue and tcp_ack_update_rtt, prefers the times at which segments were sent";
        zero_rtt: Duration = Duration::ZERO, "RTT sample of zero ticks of the timestamp clock; 0: it is not used", "RFC 7323 section 5.4: a tick is to be shorter than the RTT; ns-3.48 tcp-socket-base.cc, CalculateRttSample: 1 us";
        control_rtt: ControlRtt = ControlRtt::Sample, "The RTT that congestion controls and slow starts are given", "Ha and Rhee 2011, Brakmo 1995 and others measure each acknowledgement; ns-3 tcp-socket-base.cc, ProcessAck, passes the smoothed RTT";
        sack: bool = true, "Use selective acknowledgements", "RFC 2018";
        duplicate_sack: bool = false, "Report duplicate segments in SACK blocks", "RFC 2883, an extension";
        conceals_losses: bool = false, "The receiver acknowledges data that has not arrived, from the first gap on, as one does that wants more than its share", "RFC 9293 section 3.10.7.4 acknowledges what has arrived; Savage et al., ACM CCR 29(5), 1999, section 2.4: optimistic acknowledgements conceal losses";
        sack_compression: Duration = Duration::ZERO, "Longest delay of an acknowledgement of data above a gap, from the fourth on; at most 1/20 of the round-trip time", "RFC 5681 section 4.2: data out of order is acknowledged at once; Linux tcp_input.c, __tcp_ack_snd_check, delays it";
        receive_offload: Duration = Duration::ZERO, in 0..1e10, "How long a received segment waits for others in sequence, which are acknowledged as one; 0: not at all", "RFC 5681 section 4.2 knows no such thing; Linux net/core/gro.c, dev_gro_receive, merges what a card received before its interrupt, which cards delay by tens of microseconds (rx-usecs in ethtool(8))";
        send_offload: bool = false, "Send segments in bursts, as hosts with segmentation offload do", "RFC 9293 knows no such thing; Linux tcp_output.c, tcp_tso_autosize and tcp_tso_should_defer";
        ecn: EcnKind = EcnKind::Off, "How congestion marks are echoed; off: packets are not ECN-capable", "RFC 3168 is optional; Linux accepts it but does not request it";
        ecn_codepoint: Codepoint = Codepoint::Ect0, "Codepoint of ECN-capable packets", "RFC 3168 section 5, RFC 8311 section 2";
        ecn_on_control: bool = false, "Make SYNs, acknowledgements and retransmissions ECN-capable too", "RFC 3168 sections 6.1.1, 6.1.4 and 6.1.5: they are not";
        ecn_syn_retries: u64 = 1, in 0..30, "Retransmissions of a SYN that still ask for ECN; an answer to a later one, the first that arrives, opens a connection without ECN", "RFC 9768 section 3.1.4.1: one; RFC 3168 section 6.1.1.1 lets the first go without";
        prr_on_marks: bool = false, "With recovery rack: reduce the window after marks in proportion to what is delivered, as after losses; off: at once", "RFC 3168 section 6.1.2 halves it, RFC 9937 is of losses; Linux tcp_input.c, tcp_enter_cwr and tcp_cwnd_reduction";
        abe: bool = false, "Reduce the window less on marks than on losses, with algorithms that have a factor for it", "RFC 8511, experimental";
        limited_transmit: bool = true, "Send new data on the first two duplicate acknowledgements", "RFC 3042";
        duplicate_ack_threshold: u64 = 3, in 1..100, "Number of duplicate acknowledgements, or of segments SACKed above, that indicates a loss", "RFC 5681 section 3.2, RFC 6675 section 2 (DupThresh)";
        recovery: RecoveryKind = RecoveryKind::Prr, "How losses are recovered without a timeout", "RFC 9937 over RFC 6675";
        repeated_fast_retransmit: bool = true, "With recovery reno: allow another fast retransmit before the data sent up to the last loss is acknowledged", "RFC 5681 section 3.2 does; RFC 6582 section 3.2 step 2 does not, nor do the other recoveries without SACK";
        growth_after_recovery: bool = false, "Whether the acknowledgement that ends a fast recovery also grows the window, by all that it covers", "RFC 5681 section 3.2, RFC 6675 section 5: it sets cwnd to ssthresh; ns-3.48 tcp-socket-base.cc, ProcessAck, then calls IncreaseWindow";
        flight_size: FlightSize = FlightSize::Outstanding, "The quantity that is reduced on congestion", "RFC 5681 section 2";
        pacing: bool = false, "Pace segments over the round trip, with algorithms that have no pacing rate of their own", "RFC 9743 leaves it open; Linux paces at twice cwnd / SRTT in slow start and 1.2 times after (tcp_update_pacing_rate)";
        pacing_clock: PacingClock = PacingClock::Exact, "How closely segments follow the pacing rate", "draft-ietf-ccwg-bbr section 4.6.2 paces exactly; Linux tcp_output.c, tcp_update_skb_after_send, gives credit for late segments";
        pacing_burst: u64 = 127, in 1..1000, "Segments that leave together at most, where an algorithm paces several at a time", "draft-cardwell-iccrg-bbr-congestion-control-00 section 4.2.2; Linux tcp_bbr.c, bbr_tso_segs_goal";
        send_buffer_grows: bool = false, "The send buffer grows with cwnd up to send_buffer, and the segment that fills it carries PSH", "RFC 9293 section 3.9.1 leaves it open; Linux tcp_input.c, tcp_sndbuf_expand";
        send_buffer: Bytes = Bytes(16 << 20), in 1..1000000000, "Send buffer: limits the unacknowledged data", "large enough not to limit; RFC 7323 section 2 lets windows reach 1 GiB";
        receive_buffer: Bytes = Bytes(16 << 20), in 1..1000000000, "Receive buffer: the largest window that is advertised", "large enough not to limit; RFC 7323 section 2 lets windows reach 1 GiB";
        random_overhead: bool = true, "Senders take a random time over each packet, up to the scenario's sender_overhead", "Floyd and Jacobson, ACM CCR 21(2), 1991: hosts do, and so are never in phase; ns-2 and ns-3 are unless told otherwise";
        reading_rate: Rate = Rate(0), in 0..1e15, "How fast the receiving application reads; 0: at once", "the papers' receivers read at once; RFC 9293 section 3.8.6: a window is what the buffer has room for";
    }
}

pub struct ProfileSetting {
    pub name: &'static str,
    /// The value, as in a specification.
    pub value: Value,
    /// The source of the value.
    pub source: &'static str,
}

/// What a default of a profile is of, if it holds for one congestion control only.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum DefaultKind {
    Control,
    Stack,
    /// The slow start: its `name`, or one of its parameters.
    SlowStart,
}

/// A default under a named profile that holds for one congestion control only.
pub struct AlgorithmDefault {
    pub algorithm: &'static str,
    pub kind: DefaultKind,
    pub parameter: &'static str,
    pub value: Value,
    pub source: &'static str,
}

impl StackProfile {
    pub fn from_settings(settings: &Value) -> Result<StackProfile, String> {
        check_limits(settings, &StackProfile::describe())?;
        let profile: StackProfile = read(settings).map_err(|error: serde_json::Error| error.to_string())?;
        if profile.recovery.uses_sack() && !profile.sack {
            return Err("recovery: must be \"tahoe\", \"reno\", \"newreno\" or \"linux_newreno\" without sack = true"
                .to_owned());
        }
        if profile.duplicate_sack && !profile.sack {
            return Err("duplicate_sack: needs sack = true".to_owned());
        }
        for (name, buffer) in [("send_buffer", profile.send_buffer), ("receive_buffer", profile.receive_buffer)] {
            if buffer < profile.segment_size {
                return Err(format!("{name}: must hold at least one segment_size"));
            }
            if buffer.0 / profile.segment_size.0 >= MOST_SEGMENTS {
                return Err(format!("{name}: must hold less than {MOST_SEGMENTS} segments of segment_size"));
            }
        }
        if profile.minimum_rto > profile.maximum_rto {
            return Err("minimum_rto: must be at most maximum_rto".to_owned());
        }
        Ok(profile)
    }

    /// The profile with the requirements of an algorithm applied. A recovery of its own also determines the use of
    /// SACK.
    pub fn adapted_to(&self, needs: &Needs) -> StackProfile {
        let mut profile = self.clone();
        if let Some(recovery) = needs.recovery {
            profile.recovery = recovery;
            profile.sack = recovery.uses_sack();
            profile.duplicate_sack &= profile.sack;
        }
        if let Some(codepoint) = needs.ecn {
            profile.ecn = EcnKind::Accurate;
            profile.ecn_codepoint = codepoint;
            profile.ecn_on_control = true;
        }
        if needs.load_factor {
            // The ECN field carries the load factor, of which no code is a mark.
            profile.ecn = EcnKind::Off;
        }
        profile
    }

    /// ECN bits of new data segments.
    pub fn ecn_of_data(&self) -> u8 {
        if self.ecn == EcnKind::Off { 0 } else { self.ecn_codepoint.bits() }
    }

    /// ECN bits of SYNs, acknowledgements and retransmissions.
    pub fn ecn_of_control(&self) -> u8 {
        if self.ecn_on_control { self.ecn_of_data() } else { 0 }
    }

    /// Bytes of options on each segment: RFC 7323 section 3, ten bytes and two of padding.
    fn timestamp_bytes(&self) -> u64 {
        if self.timestamps { 12 } else { 0 }
    }

    /// Bytes of headers and options of a data segment or of an acknowledgement without SACK blocks.
    pub fn segment_overhead(&self) -> u64 {
        self.header_size.0 + self.timestamp_bytes()
    }

    /// Size of a SYN in bytes: maximum segment size 4, SACK permitted 2, window scale 3 and timestamps 10, padded to a
    /// multiple of four (RFC 9293 section 3.2, RFC 2018 section 2, RFC 7323 sections 2 and 3).
    pub fn syn_size(&self) -> u64 {
        let options = 4 + 3 + if self.sack { 2 } else { 0 } + if self.timestamps { 10 } else { 0 };
        self.header_size.0 + u64::next_multiple_of(options, 4)
    }

    /// Size of an acknowledgement with this number of SACK blocks, in bytes: 2 and 8 per block, padded with 2 (RFC 2018
    /// section 3).
    pub fn ack_size(&self, sack_blocks: usize) -> u64 {
        let sack_bytes = if sack_blocks > 0 { 4 + 8 * sack_blocks as u64 } else { 0 };
        self.segment_overhead() + sack_bytes
    }

    /// The receiver's settings for a sender whose algorithm needs this.
    pub fn receiver_for(&self, needs: &Needs) -> ReceiverProfile {
        ReceiverProfile { load_factor: needs.load_factor, ..self.receiver(needs.one_way_delay) }
    }

    /// The receiver's settings. `one_way_delay` enables reports of one-way delays.
    pub fn receiver(&self, one_way_delay: bool) -> ReceiverProfile {
        ReceiverProfile {
            delayed_ack_count: self.delayed_ack_count as u32,
            delayed_ack_timeout: self.delayed_ack_timeout,
            timer_tick: self.timer_tick,
            quick_acks: self.quick_acks as u8,
            quick_acks_on_marks: self.quick_acks_on_marks as u8,
            growing_window: self.receive_window_grows.then_some((self.segment_size.0, self.receive_buffer.0)),
            advertised: (self.receive_window_grows || self.reading_rate.0 > 0).then_some(Advertised {
                segment: self.segment_size.0,
                buffer: self.receive_buffer.0,
                reading: (self.reading_rate.0 > 0).then_some(self.reading_rate),
            }),
            duplicate_sack: self.duplicate_sack,
            conceals_losses: self.conceals_losses,
            sack_compression: self.compression(),
            ecn: self.ecn,
            one_way_delay,
            load_factor: false,
            maximum_sack_blocks: match (self.sack, self.timestamps) {
                (false, _) => 0,
                (true, true) => MAXIMUM_SACK_BLOCKS - 1,
                (true, false) => MAXIMUM_SACK_BLOCKS,
            },
        }
    }

    /// The longest delay of an acknowledgement of data above a gap. Without SACK there is none: Linux tcp_input.c,
    /// __tcp_ack_snd_check.
    pub fn compression(&self) -> Duration {
        if self.sack { self.sack_compression } else { Duration::ZERO }
    }

    pub fn rto_limits(&self) -> RtoLimits {
        RtoLimits {
            initial: self.initial_rto,
            minimum: self.minimum_rto,
            maximum: self.maximum_rto,
            granularity: self.clock_granularity,
        }
    }
}
