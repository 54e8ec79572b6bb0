//! The TCP stacks of ns-3: settings of each release that differ from the standards, with their source.

use crate::tcp::flight::FlightSize;
use crate::tcp::recovery::RecoveryKind;
use crate::time::Duration;
use crate::units::Bytes;

use super::{AlgorithmDefault, ControlRtt, Counting, ProfileSetting, default_of, setting};

/// The settings common to both releases of ns-3.
fn common() -> Vec<ProfileSetting> {
    vec![
        setting(
            "counting",
            Counting::Acknowledgements,
            "ns-3 tcp-congestion-ops.cc, TcpNewReno::SlowStart and CongestionAvoidance",
        ),
        setting("initial_rto", Duration::from_seconds(3), "ns-3 tcp-socket.cc, ConnTimeout"),
        setting(
            "rto_after_syn_loss",
            Duration::from_seconds(1),
            "ns-3 rtt-estimator.cc, InitialEstimation; a lost SYN changes nothing",
        ),
        setting("ecn_syn_retries", 30, "ns-3 tcp-socket-base.cc, DoRetransmit: each SYN has ECE and CWR"),
        setting("minimum_rto", Duration::from_seconds(1), "ns-3 tcp-socket-base.cc, MinRto"),
        setting("maximum_rto", Duration::from_seconds(60), "ns-3 tcp-socket-base.cc, ReTxTimeout"),
        setting("clock_granularity", Duration::from_milliseconds(1), "ns-3 tcp-socket-base.cc, ClockGranularity"),
        setting("timestamp_clock", Duration::from_milliseconds(1), "ns-3 tcp-option-ts.cc, NowToTsValue"),
        setting("syn_retries", 5, "ns-3 tcp-socket.cc, ConnCount: six SYNs in all"),
        setting("data_retries", 6, "ns-3 tcp-socket.cc, DataRetries"),
        setting("delayed_ack_count", 2, "ns-3 tcp-socket.cc, DelAckCount"),
        setting("delayed_ack_timeout", Duration::from_milliseconds(200), "ns-3 tcp-socket.cc, DelAckTimeout"),
        setting(
            "control_rtt",
            ControlRtt::Smoothed,
            "ns-3 tcp-socket-base.cc, ProcessAck: PktsAcked is given the estimate (3.30: m_lastRtt, which EstimateRtt sets to \
             it; 3.48: m_srtt)",
        ),
        setting(
            "flight_size",
            FlightSize::Pipe,
            "ns-3 tcp-socket-base.cc, EnterRecovery and ReTxTimeout use BytesInFlight",
        ),
        setting(
            "random_overhead",
            false,
            "ns-3 tcp-socket-base.cc, SendDataPacket: a segment goes to the layer below at once",
        ),
        setting(
            "send_buffer",
            Bytes(16 << 20),
            "not ns-3's default of 128 KiB, with which nine flows cannot fill a 900-packet buffer",
        ),
        setting(
            "receive_buffer",
            Bytes(16 << 20),
            "not ns-3's default of 128 KiB, with which nine flows cannot fill a 900-packet buffer",
        ),
    ]
}

/// ns-3 release 3.30 (August 2019).
pub(super) fn release_3_30() -> Vec<ProfileSetting> {
    let mut settings = common();
    settings.push(setting(
        "initial_window_after_syn_loss",
        1,
        "ns-3 tcp-socket-base.cc: a lost SYN does not change the initial window",
    ));
    settings.push(setting("initial_window", 1, "ns-3.30 tcp-socket.cc, InitialCwnd"));
    settings.push(setting(
        "recovery",
        RecoveryKind::Sack,
        "ns-3.30 tcp-l4-protocol.cc, RecoveryType TcpClassicRecovery, with SACK on; `ns3_classic` is all of it",
    ));
    settings
}

/// ns-3 release 3.48.
pub(super) fn release_3_48() -> Vec<ProfileSetting> {
    let mut settings = common();
    settings.push(setting(
        "initial_window_after_syn_loss",
        10,
        "ns-3 tcp-socket-base.cc: a lost SYN does not change the initial window",
    ));
    settings.push(setting("initial_window", 10, "ns-3.48 tcp-socket.cc, InitialCwnd"));
    settings.push(setting(
        "recovery",
        RecoveryKind::Ns3Prr,
        "ns-3.48 tcp-l4-protocol.cc, RecoveryType TcpPrrRecovery, over tcp-socket-base.cc and tcp-tx-buffer.cc",
    ));
    settings.push(setting(
        "zero_rtt",
        Duration::from_microseconds(1),
        "ns-3.48 tcp-socket-base.cc, CalculateRttSample: a sample of zero ticks is 1 us",
    ));
    settings.push(setting(
        "growth_after_recovery",
        true,
        "ns-3.48 tcp-socket-base.cc, ProcessAck: IncreaseWindow with the segments that the last ACK of a recovery covers",
    ));
    settings
}

/// What holds for one congestion control only, in both releases.
fn common_defaults() -> Vec<AlgorithmDefault> {
    let mut defaults = Vec::new();
    for (algorithm, source) in [
        (
            "bic",
            "ns-3 tcp-bic.cc, IncreaseWindow: a segment an ACK in slow start, then all segments acknowledged count",
        ),
        ("hstcp", "ns-3 tcp-highspeed.cc, CongestionAvoidance: all segments acknowledged count"),
        ("scalable", "ns-3 tcp-scalable.cc, CongestionAvoidance: all segments acknowledged count"),
        ("yeah", "ns-3 tcp-yeah.cc, IncreaseWindow: in its fast mode all segments acknowledged count"),
        ("illinois", "ns-3 tcp-illinois.cc, IncreaseWindow: all segments acknowledged count"),
        ("hybla", "ns-3 tcp-hybla.cc, SlowStart: once an ACK, CongestionAvoidance: all segments acknowledged count"),
        ("ledbat", "ns-3 tcp-ledbat.cc, CongestionAvoidance: all segments acknowledged count"),
    ] {
        defaults.push(default_of(algorithm, "counting", Counting::Recommended, source).of_stack());
    }
    for (algorithm, source) in [
        ("bic", "ns-3 tcp-bic.cc, GetSsThresh: the window times beta"),
        ("vegas", "ns-3 tcp-vegas.cc, GetSsThresh: at most the window less a segment"),
    ] {
        defaults.push(default_of(algorithm, "flight_size", FlightSize::Window, source).of_stack());
    }
    defaults.extend([
        default_of("bic", "beta", 0.8, "ns-3 tcp-bic.cc, Beta"),
        default_of("bic", "smooth_part", 5.0, "ns-3 tcp-bic.cc, SmoothPart"),
        default_of("hybla", "rtt0", Duration::from_milliseconds(50), "ns-3 tcp-hybla.cc, RRTT"),
        default_of("ledbat", "begins_with_slow_start", true, "ns-3 tcp-ledbat.cc, SSParam"),
        default_of("scalable", "a", 0.02, "ns-3 tcp-scalable.cc, AIFactor: a segment for 50"),
        default_of("hstcp", "rules", "ns3", "ns-3 tcp-highspeed.cc, TableLookupA and TableLookupB"),
        default_of("htcp", "rules", "ns3", "ns-3 tcp-htcp.cc, CongestionAvoidance and UpdateBeta"),
        default_of("lp", "rules", "ns3", "ns-3 tcp-lp.cc, OwdCalculator and PktsAcked"),
        default_of("veno", "rules", "ns3", "ns-3 tcp-veno.cc, IncreaseWindow"),
        default_of(
            "yeah",
            "phy",
            1_000_000,
            "ns-3 tcp-yeah.cc, IncreaseWindow: 1 / m_phy is a quotient of integers and so zero; any queueing delay is too much",
        ),
    ]);
    defaults
}

/// What holds for one congestion control only in release 3.30. It has no CUBIC, no BBR and no DCTCP.
pub(super) fn defaults_of_3_30() -> Vec<AlgorithmDefault> {
    common_defaults()
}

/// What holds for one congestion control only in release 3.48.
pub(super) fn defaults_of_3_48() -> Vec<AlgorithmDefault> {
    let mut defaults = common_defaults();
    defaults.extend([
        default_of("cubic", "rules", "ns3", "ns-3.48 tcp-cubic.cc, Update and GetSsThresh"),
        default_of("cubic", "rtt_settling", Duration::from_milliseconds(10), "ns-3.48 tcp-cubic.cc, CubicDelta"),
        default_of(
            "cubic",
            "counting",
            Counting::Segments,
            "ns-3.48 tcp-cubic.cc, IncreaseWindow: all segments acknowledged, in slow start too",
        )
        .of_stack(),
        default_of(
            "dctcp",
            "counting",
            Counting::Segments,
            "ns-3.48 tcp-linux-reno.cc, IncreaseWindow: all segments acknowledged, in slow start too",
        )
        .of_stack(),
        default_of("dctcp", "loss_as_marks", true, "ns-3.48 tcp-dctcp.cc, GetSsThresh: (1 - alpha / 2) of cwnd"),
        default_of("bbr", "high_gain", 2.89, "ns-3.48 tcp-bbr.cc, HighGain"),
        default_of("bbr", "rules", "ns3", "ns-3.48 tcp-bbr.cc, tcp-rate-ops.cc and tcp-socket-base.cc"),
        default_of("cubic", "name", "hystart", "ns-3.48 tcp-cubic.cc, HyStart: on").of_slow_start(),
        default_of("cubic", "train_cushion", Duration::ZERO, "ns-3.48 tcp-cubic.cc, HystartUpdate").of_slow_start(),
        default_of("cubic", "train_divisor", 1, "ns-3.48 tcp-cubic.cc, HystartUpdate: the whole minimum RTT")
            .of_slow_start(),
        default_of("cubic", "delay_divisor", 1, "ns-3.48 tcp-cubic.cc, HystartDelayThresh: the whole minimum RTT")
            .of_slow_start(),
        default_of("cubic", "delay_maximum", Duration::from_seconds(1), "ns-3.48 tcp-cubic.cc, HyStartDelayMax")
            .of_slow_start(),
    ]);
    defaults
}
