//! The TCP stacks of ns-3: settings of each release that differ from the standards, with their source.

use crate::tcp::flight::FlightSize;
use crate::tcp::recovery::RecoveryKind;
use crate::time::Duration;
use crate::units::Bytes;

use super::{Counting, Setting, setting};

/// The settings common to both releases of ns-3.
fn common() -> Vec<Setting> {
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
        setting("minimum_rto", Duration::from_seconds(1), "ns-3 tcp-socket-base.cc, MinRto"),
        setting("maximum_rto", Duration::from_seconds(60), "ns-3 tcp-socket-base.cc, ReTxTimeout"),
        setting("clock_granularity", Duration::from_milliseconds(1), "ns-3 tcp-socket-base.cc, ClockGranularity"),
        setting("timestamp_clock", Duration::from_milliseconds(1), "ns-3 tcp-option-ts.cc, NowToTsValue"),
        setting("syn_retries", 5, "ns-3 tcp-socket.cc, ConnCount: six SYNs in all"),
        setting("data_retries", 6, "ns-3 tcp-socket.cc, DataRetries"),
        setting("delayed_ack_count", 2, "ns-3 tcp-socket.cc, DelAckCount"),
        setting("delayed_ack_timeout", Duration::from_milliseconds(200), "ns-3 tcp-socket.cc, DelAckTimeout"),
        setting(
            "flight_size",
            FlightSize::Pipe,
            "ns-3 tcp-socket-base.cc, EnterRecovery and ReTxTimeout use BytesInFlight",
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
pub(super) fn release_3_30() -> Vec<Setting> {
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
        "ns-3.30 tcp-l4-protocol.cc, RecoveryType TcpClassicRecovery, with SACK on",
    ));
    settings
}

/// ns-3 release 3.48.
pub(super) fn release_3_48() -> Vec<Setting> {
    let mut settings = common();
    settings.push(setting(
        "initial_window_after_syn_loss",
        10,
        "ns-3 tcp-socket-base.cc: a lost SYN does not change the initial window",
    ));
    settings.push(setting("initial_window", 10, "ns-3.48 tcp-socket.cc, InitialCwnd"));
    settings.push(setting("recovery", RecoveryKind::Prr, "ns-3.48 tcp-l4-protocol.cc, RecoveryType TcpPrrRecovery"));
    settings
}
