//! The TCP stack of ns-2: settings that differ from the standards, with their source.

use crate::tcp::flight::FlightSize;
use crate::tcp::recovery::RecoveryKind;
use crate::time::Duration;
use crate::units::Bytes;

use super::{AlgorithmDefault, Counting, ProfileSetting};

/// Payload of a packet, in bytes: `packetSize_`.
const PACKET: Bytes = Bytes(1000);

/// ns-2 release 2.35: Agent/TCP and the other one-way agents. They have no SYN-ACK, but their first packet is a SYN
/// without payload (`syn_`), so that data starts one round trip later, as here.
pub(super) fn release_2_35() -> Vec<ProfileSetting> {
    let default = "ns-2.35 tcl/lib/ns-default.tcl, Agent/TCP";
    settings! {
        segment_size = PACKET, "ns-2.35 tcl/lib/ns-default.tcl, packetSize_";
        header_size = Bytes(40), "ns-2.35 tcl/lib/ns-default.tcl, tcpip_base_hdr_size_ and useHeaders_";
        initial_window = 2, "ns-2.35 tcl/lib/ns-default.tcl, windowInit_";
        initial_window_after_syn_loss = 2, default;
        counting = Counting::Acknowledgements, "ns-2.35 tcp/tcp.cc, opencwnd";
        delayed_ack_count = 1, "ns-2.35 tcp/tcp-sink.cc: Agent/TCPSink acknowledges every packet";
        initial_rto = Duration::from_seconds(3), "ns-2.35 tcl/lib/ns-default.tcl, rtxcur_init_";
        rto_after_syn_loss = Duration::from_seconds(3), default;
        minimum_rto = Duration::from_milliseconds(200), "ns-2.35 tcl/lib/ns-default.tcl, minrto_";
        maximum_rto = Duration::from_seconds(60), "ns-2.35 tcl/lib/ns-default.tcl, maxrto_";
        clock_granularity = Duration::from_milliseconds(10), "ns-2.35 tcl/lib/ns-default.tcl, tcpTick_";
        syn_retries = 30, "ns-2.35 tcp/tcp.cc: an agent never gives up; 30 is the maximum here";
        data_retries = 30, "ns-2.35 tcp/tcp.cc: an agent never gives up; 30 is the maximum here";
        ecn_syn_retries = 30, "ns-2.35 tcp/tcp.cc: ECN is not negotiated";
        timestamps = false, "ns-2.35 tcl/lib/ns-default.tcl, timestamps_";
        sack = false, "ns-2.35: only Agent/TCP/Sack1 has it, with Agent/TCPSink/Sack1";
        recovery = RecoveryKind::NewReno, "ns-2.35 tcp/tcp-newreno.cc; other agents recover differently";
        repeated_fast_retransmit = false, "ns-2.35 tcl/lib/ns-default.tcl, bugFix_";
        limited_transmit = true, "ns-2.35 tcl/lib/ns-default.tcl, singledup_";
        flight_size = FlightSize::Window, "ns-2.35 tcp/tcp.cc, slowdown: half of windowd()";
        random_overhead = false, "ns-2.35 tcl/lib/ns-default.tcl, overhead_ 0";
        send_buffer = Bytes(20 * PACKET.0), "ns-2.35 tcl/lib/ns-default.tcl, window_: 20 packets";
        receive_buffer = Bytes(20 * PACKET.0), "ns-2.35 tcl/lib/ns-default.tcl, window_: 20 packets";
    }
}

/// What holds for one congestion control only.
pub(super) fn defaults_of_2_35() -> Vec<AlgorithmDefault> {
    defaults! {
        Control vegas: rules = "ns2", "ns-2.35 tcp/tcp-vegas.cc, recv";
        Control vegas: alpha = 1, "ns-2.35 tcl/lib/ns-default.tcl, v_alpha_";
        Control vegas: beta = 3, "ns-2.35 tcl/lib/ns-default.tcl, v_beta_";
        Control vegas: decrease = 0.25, "ns-2.35 tcp/tcp-vegas.cc, recv: win -= (win>>2)";
    }
}
