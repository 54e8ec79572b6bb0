//! The TCP stacks of ns-3: settings of each release that differ from the standards, with their source.

use crate::tcp::flight::FlightSize;
use crate::tcp::recovery::RecoveryKind;
use crate::time::Duration;
use crate::units::Bytes;

use super::{AlgorithmDefault, ControlRtt, Counting, ProfileSetting};

/// The settings common to both releases of ns-3.
fn common() -> Vec<ProfileSetting> {
    settings! {
        counting = Counting::Acknowledgements, "ns-3 tcp-congestion-ops.cc, TcpNewReno::SlowStart and CongestionAvoidance";
        initial_rto = Duration::from_seconds(3), "ns-3 tcp-socket.cc, ConnTimeout";
        rto_after_syn_loss = Duration::from_seconds(1), "ns-3 rtt-estimator.cc, InitialEstimation; a lost SYN changes nothing";
        ecn_syn_retries = 30, "ns-3 tcp-socket-base.cc, DoRetransmit: each SYN has ECE and CWR";
        minimum_rto = Duration::from_seconds(1), "ns-3 tcp-socket-base.cc, MinRto";
        maximum_rto = Duration::from_seconds(60), "ns-3 tcp-socket-base.cc, ReTxTimeout";
        clock_granularity = Duration::from_milliseconds(1), "ns-3 tcp-socket-base.cc, ClockGranularity";
        timestamp_clock = Duration::from_milliseconds(1), "ns-3 tcp-option-ts.cc, NowToTsValue";
        syn_retries = 5, "ns-3 tcp-socket.cc, ConnCount: six SYNs in all";
        data_retries = 6, "ns-3 tcp-socket.cc, DataRetries";
        delayed_ack_count = 2, "ns-3 tcp-socket.cc, DelAckCount";
        delayed_ack_timeout = Duration::from_milliseconds(200), "ns-3 tcp-socket.cc, DelAckTimeout";
        control_rtt = ControlRtt::Smoothed, "ns-3 tcp-socket-base.cc, ProcessAck: PktsAcked is given the estimate (3.30: m_lastRtt, which EstimateRtt sets to it; 3.48: m_srtt)";
        flight_size = FlightSize::Pipe, "ns-3 tcp-socket-base.cc, EnterRecovery and ReTxTimeout use BytesInFlight";
        random_overhead = false, "ns-3 tcp-socket-base.cc, SendDataPacket: a segment goes to the layer below at once";
        send_buffer = Bytes(16 << 20), "not ns-3's default of 128 KiB, with which nine flows cannot fill a 900-packet buffer";
        receive_buffer = Bytes(16 << 20), "not ns-3's default of 128 KiB, with which nine flows cannot fill a 900-packet buffer";
    }
}

/// ns-3 release 3.30 (August 2019).
pub(super) fn release_3_30() -> Vec<ProfileSetting> {
    let mut settings = common();
    settings.extend(settings! {
        initial_window_after_syn_loss = 1, "ns-3 tcp-socket-base.cc: a lost SYN does not change the initial window";
        initial_window = 1, "ns-3.30 tcp-socket.cc, InitialCwnd";
        recovery = RecoveryKind::Sack, "ns-3.30 tcp-l4-protocol.cc, RecoveryType TcpClassicRecovery, with SACK on; `ns3_classic` is all of it";
    });
    settings
}

/// ns-3 release 3.48.
pub(super) fn release_3_48() -> Vec<ProfileSetting> {
    let mut settings = common();
    settings.extend(settings! {
        initial_window_after_syn_loss = 10, "ns-3 tcp-socket-base.cc: a lost SYN does not change the initial window";
        initial_window = 10, "ns-3.48 tcp-socket.cc, InitialCwnd";
        recovery = RecoveryKind::Ns3Prr, "ns-3.48 tcp-l4-protocol.cc, RecoveryType TcpPrrRecovery, over tcp-socket-base.cc and tcp-tx-buffer.cc";
        zero_rtt = Duration::from_microseconds(1), "ns-3.48 tcp-socket-base.cc, CalculateRttSample: a sample of zero ticks is 1 us";
        growth_after_recovery = true, "ns-3.48 tcp-socket-base.cc, ProcessAck: IncreaseWindow with the segments that the last ACK of a recovery covers";
    });
    settings
}

/// What holds for one congestion control only in release 3.30, which has no CUBIC, no BBR and no DCTCP.
pub(super) fn defaults_of_3_30() -> Vec<AlgorithmDefault> {
    defaults! {
        Stack bic: counting = Counting::Recommended, "ns-3 tcp-bic.cc, IncreaseWindow: a segment an ACK in slow start, then all segments acknowledged count";
        Stack hstcp: counting = Counting::Recommended, "ns-3 tcp-highspeed.cc, CongestionAvoidance: all segments acknowledged count";
        Stack scalable: counting = Counting::Recommended, "ns-3 tcp-scalable.cc, CongestionAvoidance: all segments acknowledged count";
        Stack yeah: counting = Counting::Recommended, "ns-3 tcp-yeah.cc, IncreaseWindow: in its fast mode all segments acknowledged count";
        Stack illinois: counting = Counting::Recommended, "ns-3 tcp-illinois.cc, IncreaseWindow: all segments acknowledged count";
        Stack hybla: counting = Counting::Recommended, "ns-3 tcp-hybla.cc, SlowStart: once an ACK, CongestionAvoidance: all segments acknowledged count";
        Stack ledbat: counting = Counting::Recommended, "ns-3 tcp-ledbat.cc, CongestionAvoidance: all segments acknowledged count";
        Stack bic: flight_size = FlightSize::Window, "ns-3 tcp-bic.cc, GetSsThresh: the window times beta";
        Stack vegas: flight_size = FlightSize::Window, "ns-3 tcp-vegas.cc, GetSsThresh: at most the window less a segment";
        Control bic: beta = 0.8, "ns-3 tcp-bic.cc, Beta";
        Control bic: smooth_part = 5.0, "ns-3 tcp-bic.cc, SmoothPart";
        Control hybla: rtt0 = Duration::from_milliseconds(50), "ns-3 tcp-hybla.cc, RRTT";
        Control ledbat: begins_with_slow_start = true, "ns-3 tcp-ledbat.cc, SSParam";
        Control scalable: a = 0.02, "ns-3 tcp-scalable.cc, AIFactor: a segment for 50";
        Control hstcp: rules = "ns3", "ns-3 tcp-highspeed.cc, TableLookupA and TableLookupB";
        Control htcp: rules = "ns3", "ns-3 tcp-htcp.cc, CongestionAvoidance and UpdateBeta";
        Control lp: rules = "ns3", "ns-3 tcp-lp.cc, OwdCalculator and PktsAcked";
        Control veno: rules = "ns3", "ns-3 tcp-veno.cc, IncreaseWindow";
        Control yeah: phy = 1_000_000, "ns-3 tcp-yeah.cc, IncreaseWindow: 1 / m_phy is a quotient of integers and so zero; any queueing delay is too much";
    }
}

/// What holds for one congestion control only in release 3.48, in which all that does in release 3.30.
pub(super) fn defaults_of_3_48() -> Vec<AlgorithmDefault> {
    let mut defaults = defaults_of_3_30();
    defaults.extend(defaults! {
        Control cubic: rules = "ns3", "ns-3.48 tcp-cubic.cc, Update and GetSsThresh";
        Control cubic: rtt_settling = Duration::from_milliseconds(10), "ns-3.48 tcp-cubic.cc, CubicDelta";
        Stack cubic: counting = Counting::Segments, "ns-3.48 tcp-cubic.cc, IncreaseWindow: all segments acknowledged, in slow start too";
        Stack dctcp: counting = Counting::Segments, "ns-3.48 tcp-linux-reno.cc, IncreaseWindow: all segments acknowledged, in slow start too";
        Control dctcp: loss_as_marks = true, "ns-3.48 tcp-dctcp.cc, GetSsThresh: (1 - alpha / 2) of cwnd";
        Control bbr: high_gain = 2.89, "ns-3.48 tcp-bbr.cc, HighGain";
        Control bbr: rules = "ns3", "ns-3.48 tcp-bbr.cc, tcp-rate-ops.cc and tcp-socket-base.cc";
        SlowStart cubic: name = "hystart", "ns-3.48 tcp-cubic.cc, HyStart: on";
        SlowStart cubic: train_cushion = Duration::ZERO, "ns-3.48 tcp-cubic.cc, HystartUpdate";
        SlowStart cubic: train_divisor = 1, "ns-3.48 tcp-cubic.cc, HystartUpdate: the whole minimum RTT";
        SlowStart cubic: delay_divisor = 1, "ns-3.48 tcp-cubic.cc, HystartDelayThresh: the whole minimum RTT";
        SlowStart cubic: delay_maximum = Duration::from_seconds(1), "ns-3.48 tcp-cubic.cc, HyStartDelayMax";
    });
    defaults
}
